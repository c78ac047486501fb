package extension

// The URIs of the extensions that are known. A breaking change gets a new one
// (section 4.6.3).
const (
	// Skill names the skill that shall answer a message.
	Skill = "urn:legation:skill:v1"

	// Retry says on a card that the same message, sent again by the same caller,
	// joins its task.
	Retry = "urn:legation:retry:v1"

	// Lineage tells through which instances a piece of work has come.
	Lineage = "urn:legation:lineage:v1"

	// TokenBudget is how many tokens a caller lets one turn use.
	TokenBudget = "https://fgentic.fmind.ai/a2a/extensions/token-budget/v1" //nolint:gosec // Not a credential: tokens of a model.

	// Quote says on a card what its skills cost.
	Quote = "https://fgentic.fmind.ai/a2a/extensions/skill-quote/v1"

	// Receipt is a signed account of a task's use.
	Receipt = "https://fgentic.fmind.ai/a2a/extensions/usage-receipt/v1"
)

// Stability says how far an extension may still change.
type Stability string

// The stages of an extension.
const (
	Stable       Stability = "stable"
	Experimental Stability = "experimental"
)

// Place is where an extension travels.
type Place string

// The places of extensions.
const (
	OnCard     Place = "the agent card"            // a2a.proto, AgentCapabilities.extensions
	InHeader   Place = "the A2A-Extensions header" // section 3.2.6
	InMessage  Place = "message.extensions"        // a2a.proto, Message.extensions
	InMetadata Place = "message.metadata"          // a2a.proto, Message.metadata, under the URI
	InTask     Place = "task.metadata"             // a2a.proto, Task.metadata, under the URI
)

// Extension is one extension of the protocol.
type Extension struct {
	URI         string
	Stability   Stability
	Description string // one sentence, as on a card

	// Places are where it travels.
	Places []Place

	// Acted is set if something is done because of it. Without, it is known by
	// name only, and treated as one that is unknown.
	Acted bool

	// NotRequested is what a server of ours does for a request without it, and
	// NotAnnounced what a client of ours does with an agent whose card does not
	// have it, as sentences. Both are about an extension that nobody requires;
	// what is required has the same rules for all, see [Rules].
	NotRequested, NotAnnounced string
}

const ignored = "It is ignored."

// Known lists the extensions that are known, ours first. The list is the
// caller's to keep.
func Known() []Extension {
	return []Extension{
		{
			URI: Skill, Stability: Stable, Acted: true,
			Description:  "Chooses the skill that answers a message.",
			Places:       []Place{OnCard, InHeader, InMessage, InMetadata},
			NotRequested: "The default skill answers, or the only one; a skill that is named counts whether or not the header asks for it.",
			NotAnnounced: "No skill is named.",
		},
		{
			URI: Retry, Stability: Stable, Acted: true,
			Description:  "The same message sent again joins the task it went to.",
			Places:       []Place{OnCard},
			NotRequested: "Messages are deduplicated all the same.",
			NotAnnounced: "A message whose fate is unknown is not sent again.",
		},
		{
			URI: Lineage, Stability: Stable,
			Description:  "Tells through which instances a piece of work has come.",
			Places:       []Place{InHeader, InMetadata},
			NotRequested: ignored, NotAnnounced: ignored,
		},
		{
			URI: TokenBudget, Stability: Stable, Acted: true,
			Description:  "Keeps what answers a message within the number of tokens that the message names.",
			Places:       []Place{OnCard, InHeader, InMessage, InMetadata},
			NotRequested: "There is no budget; one in the metadata counts whether or not the header asks for it.",
			NotAnnounced: "No budget is sent, and whoever set one is told.",
		},
		{
			URI: Quote, Stability: Experimental,
			Description:  "Says what the skills of an agent cost.",
			Places:       []Place{OnCard},
			NotRequested: ignored, NotAnnounced: ignored,
		},
		{
			URI: Receipt, Stability: Experimental,
			Description:  "Gives a signed account of what a task has used.",
			Places:       []Place{OnCard, InHeader, InMessage, InTask},
			NotRequested: ignored, NotAnnounced: ignored,
		},
	}
}

// Understood are the URIs of those that are acted on, which a client of ours
// asks for where a card announces them.
func Understood() []string {
	var all []string
	for _, one := range Known() {
		if one.Acted {
			all = append(all, one.URI)
		}
	}
	return all
}

// Lookup finds a known extension by its URI, compared byte by byte: another
// version is another extension (section 4.6.3).
func Lookup(uri string) (Extension, bool) {
	for _, e := range Known() {
		if e.URI == uri {
			return e, true
		}
	}
	return Extension{}, false
}

// Rule is what happens to every extension alike.
type Rule struct{ Case, Server, Client string }

// Rules lists what happens where an extension is required or unknown, in
// either role.
func Rules() []Rule {
	return []Rule{
		{
			Case:   "the card requires it, the other side does not have it",
			Server: "A request whose header does not name it is refused with -32008, whatever the method.",
			Client: "The agent is not used; nothing is sent.",
		},
		{
			Case:   "our side requires it of the agent, the card does not announce it",
			Server: "Callers announce nothing.",
			Client: "The agent is not used; nothing is sent.",
		},
		{
			Case:   "unknown and optional, or another version of a known one",
			Server: ignored,
			Client: ignored,
		},
		{
			Case:   "said to be active in an answer",
			Server: "The header names what was asked for and is on the card.",
			Client: "It is told to who asked, and nothing is concluded from it.",
		},
	}
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/server"
)

// agentError is a failure of something an agent was asked. It says nothing by
// itself and lets a hint name the agent.
type agentError struct {
	remote *remote
	err    error
}

// Error leaves out the name of the operation: a person typed a command.
func (e *agentError) Error() string {
	text := e.err.Error()
	for _, method := range a2a.Methods() {
		if rest, ok := strings.CutPrefix(text, method+": "); ok {
			return rest
		}
	}
	return text
}
func (e *agentError) Unwrap() error { return e.err }

// advisedError comes with a hint of its own.
type advisedError struct {
	err    error
	advice string
}

func (e *advisedError) Error() string { return e.err.Error() }
func (e *advisedError) Unwrap() error { return e.err }

// olderPathError says that the only card is where versions before 1.0 had it.
type olderPathError struct {
	found     string
	elsewhere bool // at the root of the host, where another agent may be
	err       error
}

func (e *olderPathError) Error() string {
	if e.elsewhere {
		return fmt.Sprintf("%v; the host's root has one at %s, the path of versions before %s", e.err, e.found, a2a.ProtocolVersion)
	}
	return fmt.Sprintf("%v; there is one at %s, the path of versions before %s", e.err, e.found, a2a.ProtocolVersion)
}
func (e *olderPathError) Unwrap() error { return e.err }

// hintFor says what to do about an error, where that is known.
func hintFor(err error) string {
	if advised, ok := errors.AsType[*advisedError](err); ok {
		return advised.advice
	}
	reached := &remote{url: "URL"}
	if at, ok := errors.AsType[*agentError](err); ok {
		reached = at.remote
	}
	for _, hint := range []func(error, *remote) string{
		keyHint, adminHint, cardHint, credentialsHint, guardHint, dialHint, answerHint, peerHint, timeHint,
	} {
		if text := hint(err, reached); text != "" {
			return text
		}
	}
	return ""
}

// cardHint is about a card that was not found or can not be used.
func cardHint(err error, at *remote) string {
	if older, ok := errors.AsType[*olderPathError](err); ok {
		other := *at
		other.url = older.found
		if older.elsewhere {
			return "check the path of the URL; what is at the root: " + other.command("card show", nil)
		}
		return "the agent probably speaks an older version only; see its card with: " + other.command("card show", nil)
	}
	failed, ok := errors.AsType[*client.CardError](err)
	switch {
	case ok && failed.Root != nil:
		other := *at
		other.url = at.root()
		return "check the path of the URL; if the agent at the root is the one that is meant, give its URL: " + other.command("card show", nil)
	case ok && isTooLarge(err):
		return "the reading of a card ends there to protect this machine; what is at that URL is no agent card, or its operator has to make it shorter"
	case ok && at.timeout > cardTimeout && errors.Is(err, context.DeadlineExceeded) && !isDial(err):
		return "something listens there and does not answer; check the URL, and try again later"
	case ok && failed.Missing():
		return "give the base URL of the agent, for an agent below a path with that path, or the URL of its card if that ends in .json"
	}
	if broken, ok := errors.AsType[*client.InvalidResponseError](err); ok && broken.Method == "agent card" {
		return "what is at that URL is no agent card, or a damaged one; check the URL, or ask the agent's operator to correct it"
	}
	if unusable, ok := errors.AsType[*client.InterfaceError](err); ok {
		switch {
		case unusable.Older:
			return "legation speaks version " + a2a.ProtocolVersion + "; ask the agent's operator for an interface of that version"
		case len(unusable.Rejected) == 0:
			return "the card does not say how the agent is called; its operator has to add an interface (supportedInterfaces), unless this is the URL of something else"
		}
		return "a card can not lead to another host than the one typed; if an interface named above is the right one, give its URL instead. All of them: " + at.command("card show", nil)
	}
	if _, ok := errors.AsType[*client.ExtensionError](err); ok {
		return "the agent only serves clients that know these extensions; ask its operator for one that does not require them"
	}
	return ""
}

// answerHint is about who answers there, an agent or something before it.
func answerHint(err error, at *remote) string {
	answer, ok := errors.AsType[*client.HTTPError](err)
	if !ok {
		return ""
	}
	if hint := statusHint(answer.Status, answer.Said, at); hint != "" {
		return hint
	}
	switch {
	case answer.IsHTML:
		return "this is a page for people, not an agent: check the URL, and whether a proxy, a VPN or a login page is in between"
	case answer.Status == http.StatusBadRequest && strings.HasPrefix(at.url, "http://"):
		return "this port may speak TLS; try https:// instead of http://"
	case answer.Status/100 == 2:
		return "something else than an agent answers here; check the URL"
	}
	return ""
}

// noSkill is what an agent like ours says to a caller that it knows and has
// nothing for.
const noSkill = "may use no skill"

// statusHint is about what HTTP itself says. Whoever forbids something and says
// why needs no guess of ours.
func statusHint(status int, said string, at *remote) string {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden:
		if status == http.StatusForbidden && strings.Contains(said, noSkill) {
			return "ask the agent's operator to allow you a skill"
		}
		if status == http.StatusForbidden && said != "" {
			return ""
		}
		if len(at.headers) == 0 {
			return "the agent wants credentials; give them with " + at.headerFlags()
		}
		return "the agent does not accept the credentials given with --header; check that they are whole, current and meant for it"
	case http.StatusRequestEntityTooLarge:
		return "the agent does not take that much in one message; send less, or place files where the agent can fetch them"
	case http.StatusUnsupportedMediaType:
		return "the agent does not take this kind of request; what it takes is on its card: " + at.command("card show", nil)
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return "the agent is busy or about to restart; try again later"
	case http.StatusBadGateway, http.StatusGatewayTimeout:
		return "a proxy answered in place of the agent; is the agent behind it running?"
	}
	return ""
}

// peerHint is about what an agent said.
func peerHint(err error, at *remote) string {
	peer, ok := errors.AsType[*client.PeerError](err)
	if !ok {
		return ""
	}
	if hint := statusHint(peer.Status, peer.Err.Message, at); hint != "" {
		return hint
	}
	switch peer.Err.Kind() {
	case a2a.CodeMethodNotFound:
		return "its operator has to correct the card or the agent; what the card offers: " + at.command("card show", nil)
	case a2a.CodeVersionNotSupported:
		return "legation speaks version " + a2a.ProtocolVersion + "; what the agent offers is on its card: " + at.command("card show", nil)
	case a2a.CodeContentTypeNotSupported:
		return "the agent does not take or give this kind of content; the media types of its skills are on its card: " + at.command("card show", nil)
	case a2a.CodeTaskNotFound:
		return "the tasks this agent shows you: " + at.command("task list", nil)
	case a2a.CodeExtensionSupportRequired:
		return "the agent only serves clients that know these extensions"
	case a2a.CodeInvalidParams:
		return skillHint(peer.Err, at.known)
	}
	return ""
}

// skillHint is about a message that names no skill, or none there is.
func skillHint(said *a2a.Error, card *client.Card) string {
	at := slices.IndexFunc(said.Violations, func(v a2a.FieldViolation) bool {
		return strings.Contains(v.Field, "metadata") && strings.Contains(v.Description, server.SkillExtension)
	})
	if at < 0 {
		return ""
	}
	all := offered(said.Violations[at].Description)
	if all == nil && card != nil {
		for _, skill := range card.AgentCard.Skills {
			all = append(all, skill.ID)
		}
	}
	const listed = 20
	var ids []string
	for _, id := range all[:min(len(all), listed)] {
		ids = append(ids, shellWord(line(id, 100)))
	}
	switch {
	case len(ids) == 0:
		return ""
	case len(ids) == 1:
		return "the agent has one skill for you, " + ids[0] + "; leave --skill out"
	}
	text := "choose one with --skill: " + strings.Join(ids, ", ")
	if more := len(all) - listed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// offered are the skills that an agent like ours lists where it wants another
// one: those that this caller may use, which a card need not have.
func offered(said string) (ids []string) {
	for _, before := range []string{"which is not one of: ", "there are: "} {
		if _, list, ok := strings.Cut(said, before); ok {
			for id := range strings.SplitSeq(list, ", ") {
				if id == "" || strings.ContainsAny(id, " \t\n") {
					return nil // that is no list of ids
				}
				ids = append(ids, id)
			}
			return ids
		}
	}
	return nil
}

// guardHint is about what the guard does not let through.
func guardHint(err error, at *remote) string {
	if _, ok := errors.AsType[*guard.RedirectError](err); ok {
		return "if the other place is the agent's, give its URL instead; headers are never carried over to another host"
	}
	if _, ok := errors.AsType[*guard.AddressError](err); ok {
		return "only the host that is typed may be on this machine or network; type the URL of that address itself if it is meant"
	}
	if isTooLarge(err) {
		return "the answer is cut off there to protect this machine; to ask for less of a task: " +
			at.command("task get", []string{"--history", "0"}, "ID")
	}
	if lost, ok := errors.AsType[*client.LostTaskError](err); ok {
		return fmt.Sprintf("the agent may have restarted without its store, or removed task %s; the tasks it shows you: %s", line(string(lost.TaskID), 80), at.command("task list", nil))
	}
	return ""
}

func timeHint(err error, _ *remote) string {
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, client.ErrStillRunning) {
		return "to wait longer, give a longer --timeout"
	}
	return ""
}

func isTooLarge(err error) bool {
	_, ok := errors.AsType[*guard.TooLargeError](err)
	return ok
}

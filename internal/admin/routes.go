package admin

import (
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/registry"
)

// route is one thing that can be asked for. The table of them is what is served,
// what is checked before, and what openapi.json is written from.
type route struct {
	method, path string

	// operation is what is done, in the words of the audit.
	operation string
	summary   string
	needs     people.Permission
	part      part
	query     []parameter

	// body is what comes with the request: its media types and its form. The
	// zero value is nothing.
	body body

	// answer is what comes back: an empty form, or raw. Nil is no content.
	answer any

	// timeout is how long it may take. Zero means 30 s. What takes longer is
	// done a few at a time.
	timeout time.Duration

	serve func(*Handler, *call) (any, error)
}

// body is what comes with a request.
type body struct {
	types    []string
	form     any // of what is JSON; nil for other texts
	max      int64
	optional bool
}

// raw is an answer that is written as it is.
type raw struct {
	media string
	text  []byte
}

// part is a part of the installation that may be missing.
type part string

const (
	noPart    part = ""
	resources part = "what is registered"
	secrets   part = "secrets"
	persons   part = "people"
	tasks     part = "tasks"
	canceling part = "canceling tasks"
	evidence  part = "the audit"
	agents    part = "remote agents"
	clients   part = "checks of remote clients"
)

// parameter is a parameter of the query.
type parameter struct {
	name    string
	kind    parameterKind
	words   string
	choices []string // of a text; nil for any
	most    int64    // of a number
}

type parameterKind string

const (
	textParameter   parameterKind = "string"
	numberParameter parameterKind = "integer"
	flagParameter   parameterKind = "boolean"
	timeParameter   parameterKind = "date-time"
)

const (
	defaultPage = 100
	maxPage     = 1000

	checkTimeout = 2 * time.Minute
)

var (
	kindQuery = parameter{name: "kind", kind: textParameter, words: "Only documents of this kind.", choices: kinds()}
	dryRun    = parameter{name: "dryRun", kind: flagParameter, words: "Only tell what would be done."}
	before    = parameter{name: "before", kind: numberParameter, words: "Only what has a lower number: the next of the page before.", most: 1<<53 - 1}
	limit     = parameter{name: "limit", kind: numberParameter, words: "How many at most; 100 if left out.", most: maxPage}
	callerOf  = parameter{name: "caller", kind: textParameter, words: "Only tasks of this caller."}
	agentOf   = parameter{name: "agent", kind: textParameter, words: "Only tasks of this agent."}
)

func form(of any) body { return body{types: []string{TypeJSON}, form: of, max: MaxForm} }

// routes returns the table.
func routes() []route {
	return []route{
		{
			method: "GET", path: "/admin/status", operation: "status", needs: people.Read,
			summary: "What this installation is, and who asks.", answer: Status{}, serve: (*Handler).status,
		},

		{
			method: "GET", path: "/admin/resources", operation: "resource list", needs: people.Read, part: resources,
			summary: "What is registered, and whether it has an effect.",
			query:   []parameter{kindQuery, {name: "documents", kind: flagParameter, words: "With the documents themselves."}},
			answer:  Resources{}, serve: (*Handler).listResources,
		},
		{
			method: "GET", path: "/admin/resources/{kind}/{name}", operation: "resource get", needs: people.Read, part: resources,
			summary: "One registered document.", answer: Resource{}, serve: (*Handler).getResource,
		},
		{
			method: "DELETE", path: "/admin/resources/{kind}/{name}", operation: "delete", needs: people.Administer, part: resources,
			summary: "Deletes a document.", query: []parameter{dryRun}, answer: Applied{}, serve: (*Handler).deleteResource,
		},
		{
			method: "POST", path: "/admin/apply", operation: "apply", needs: people.Administer, part: resources,
			summary: "Registers documents, or changes them to what is sent.",
			query:   []parameter{dryRun, {name: "prune", kind: flagParameter, words: "Delete the documents that are not sent."}},
			body:    body{types: []string{TypeYAML, TypeJSON, TypeFiles}, max: MaxDocuments}, answer: Applied{}, serve: (*Handler).apply,
		},
		{
			method: "GET", path: "/admin/export", operation: "export", needs: people.Read, part: resources,
			summary: "Documents as they can be applied again. Those that the command line published are left out unless one is named.",
			query:   []parameter{kindQuery, {name: "name", kind: textParameter, words: "Only the document of this kind and name."}},
			answer:  raw{media: TypeYAML}, serve: (*Handler).export,
		},
		{
			method: "GET", path: "/admin/schemas/{kind}", operation: "schema", needs: people.Read,
			summary: "The JSON Schema of the documents of a kind.", answer: raw{media: TypeSchema}, serve: (*Handler).schema,
		},

		{
			method: "GET", path: "/admin/secrets", operation: "secret list", needs: people.Read, part: secrets,
			summary: "The newest version of each secret, without its value.", answer: Secrets{}, serve: (*Handler).listSecrets,
		},
		{
			method: "PUT", path: "/admin/secrets/{name}", operation: "secret put", needs: people.Administer, part: secrets,
			summary: "Stores a new version of a secret. The body is the value.",
			query:   []parameter{{name: "force", kind: flagParameter, words: "Store it even if what uses the secret cannot use this value."}},
			body:    body{types: []string{TypeBytes}, max: MaxSecret}, answer: Secret{}, serve: (*Handler).putSecret,
		},
		{
			method: "DELETE", path: "/admin/secrets/{name}", operation: "secret delete", needs: people.Administer, part: secrets,
			summary: "Deletes a secret, or one version of it.",
			query:   []parameter{{name: "version", kind: numberParameter, words: "Only this version.", most: 1<<53 - 1}}, serve: (*Handler).deleteSecret,
		},
		{
			method: "GET", path: "/admin/secrets/{name}/versions", operation: "secret versions", needs: people.Read, part: secrets,
			summary: "The versions of a secret, the newest first.", answer: Secrets{}, serve: (*Handler).secretVersions,
		},
		{
			method: "GET", path: "/admin/secrets/{name}/uses", operation: "secret uses", needs: people.Read, part: secrets,
			summary: "What a secret was opened for, the newest first.", query: []parameter{before, limit}, answer: SecretUses{}, serve: (*Handler).secretUses,
		},
		{
			method: "POST", path: "/admin/secrets/rotate", operation: "secret rotate", needs: people.Administer, part: secrets,
			summary: "Brings everything that is sealed to the primary master key.", answer: Rotation{}, timeout: checkTimeout, serve: (*Handler).rotate,
		},

		{
			method: "GET", path: "/admin/clients/{name}/keys", operation: "key list", needs: people.Read, part: resources,
			summary: "The API keys of a remote client, without the keys themselves.", answer: ClientKeys{}, serve: (*Handler).listKeys,
		},
		{
			method: "POST", path: "/admin/clients/{name}/keys", operation: "key issue", needs: people.Administer, part: resources,
			summary: "Issues an API key, which is shown this once.",
			body:    body{types: []string{TypeJSON}, form: IssueKey{}, max: MaxForm, optional: true}, answer: IssuedKey{}, serve: (*Handler).issueKey,
		},
		{
			method: "DELETE", path: "/admin/clients/{name}/keys/{id}", operation: "key revoke", needs: people.Administer, part: resources,
			summary: "Revokes an API key.", answer: ClientKey{}, serve: (*Handler).revokeKey,
		},
		{
			method: "POST", path: "/admin/clients/{name}/check", operation: "client check", needs: people.Operate, part: clients,
			summary: "Says what is in the way of a remote client.", answer: Report{}, timeout: checkTimeout, serve: (*Handler).checkClient,
		},

		{
			method: "GET", path: "/admin/agents", operation: "agent list", needs: people.Read, part: agents,
			summary: "What is believed of the registered remote agents.", answer: Agents{}, serve: (*Handler).listAgents,
		},
		{
			method: "GET", path: "/admin/agents/{name}", operation: "agent get", needs: people.Read, part: agents,
			summary: "What is believed of one.", answer: Agent{}, serve: (*Handler).getAgent,
		},
		{
			method: "POST", path: "/admin/agents/{name}/check", operation: "agent check", needs: people.Operate, part: agents,
			summary: "Says what is in the way of calls to a remote agent, by trying.", answer: Report{}, timeout: checkTimeout, serve: (*Handler).checkAgent,
		},
		{
			method: "POST", path: "/admin/agents/{name}/accept", operation: "agent accept", needs: people.Administer, part: agents,
			summary: "Accepts a card whose structure has changed.", body: form(AcceptCard{}), answer: Agent{}, serve: (*Handler).acceptCard,
		},

		{
			method: "GET", path: "/admin/tasks", operation: "task list", needs: people.Read, part: tasks,
			summary: "Tasks of all owners, the newest first, without their content.",
			query: []parameter{
				agentOf, callerOf,
				{name: "state", kind: textParameter, words: "Only tasks in this state.", choices: taskStates()}, before, limit,
			},
			answer: Tasks{}, serve: (*Handler).listTasks,
		},
		{
			method: "GET", path: "/admin/tasks/{id}", operation: "task get", needs: people.Read, part: tasks,
			summary: "One task. Several owners may have one of the same id: then name the owner.",
			query: []parameter{
				agentOf, callerOf,
				{name: "content", kind: flagParameter, words: "With its content. Only an administrator may ask for it."},
			},
			answer: Task{}, serve: (*Handler).getTask,
		},
		{
			method: "POST", path: "/admin/tasks/{id}/cancel", operation: "task cancel", needs: people.Operate, part: canceling,
			summary: "Cancels a task, whoever it belongs to.", query: []parameter{agentOf, callerOf}, answer: Task{}, serve: (*Handler).cancelTask,
		},

		{
			method: "GET", path: "/admin/audit", operation: "audit list", needs: people.Read, part: evidence,
			summary: "What happened, the newest first.",
			query: []parameter{
				before, limit,
				{name: "since", kind: timeParameter, words: "Only what happened at this time or later."},
				{name: "who", kind: textParameter, words: "Only what this person or caller did."},
				{name: "party", kind: textParameter, words: "Only what concerns this party."},
				{name: "operation", kind: textParameter, words: "Only this operation."},
				{name: "outcome", kind: textParameter, words: "Only this outcome.", choices: outcomes()},
				{name: "task", kind: textParameter, words: "Only what concerns this task."},
			},
			answer: Audit{}, serve: (*Handler).listAudit,
		},
		{
			method: "GET", path: "/admin/audit/evidence", operation: "audit evidence", needs: people.Read, part: evidence,
			summary: "The seals with what they cover, for whoever wants to verify them, a line of JSON each.",
			query:   []parameter{{name: "after", kind: numberParameter, words: "Only seals with a higher number.", most: 1<<53 - 1}},
			answer:  raw{media: TypeLines}, serve: (*Handler).evidence,
		},

		{
			method: "GET", path: "/admin/people", operation: "person list", needs: people.Read, part: persons,
			summary: "Who may use this interface.", answer: People{}, serve: (*Handler).listPeople,
		},
		{
			method: "PUT", path: "/admin/people/{name}", operation: "person put", needs: people.Administer, part: persons,
			summary: "Adds a person, or gives one another role and token. The token is shown this once.",
			body:    form(PutPerson{}), answer: IssuedToken{}, serve: (*Handler).putPerson,
		},
		{
			method: "DELETE", path: "/admin/people/{name}", operation: "person remove", needs: people.Administer, part: persons,
			summary: "Removes a person, whose token is void at once.", serve: (*Handler).removePerson,
		},
	}
}

func kinds() (names []string) {
	for _, kind := range registry.Kinds() {
		names = append(names, string(kind))
	}
	return names
}

func outcomes() []string {
	return []string{string(audit.Done), string(audit.Refused), string(audit.Failed)}
}

package admin

import (
	"time"
)

// ClientKeys is the answer to GET /admin/clients/{name}/keys.
type ClientKeys struct {
	Keys []ClientKey `json:"keys"`
}

// ClientKey is what may be told of an API key, and the answer to DELETE
// /admin/clients/{name}/keys/{id}, which revokes it.
type ClientKey struct {
	ID string `json:"id"`

	// NotAfter is when it ends. Left out, it does not.
	NotAfter time.Time `json:"notAfter,omitzero"`

	// Revoked keys are refused.
	Revoked bool `json:"revoked"`

	// Usable says that the key is neither revoked nor ended.
	Usable bool `json:"usable"`
}

// IssueKey is the body of POST /admin/clients/{name}/keys. It may be empty.
type IssueKey struct {
	// NotAfter is when the key ends. Left out, it does not.
	NotAfter time.Time `json:"notAfter,omitzero"`
}

// IssuedKey is the answer to it, the only one that has the key.
type IssuedKey struct {
	ID       string    `json:"id"`
	Key      string    `json:"key"`
	NotAfter time.Time `json:"notAfter,omitzero"`
}

// Report is the answer to POST /admin/clients/{name}/check and
// /admin/agents/{name}/check.
type Report struct {
	Name string `json:"name"`

	// OK says that nothing is in the way.
	OK bool `json:"ok"`

	// Findings are in the order of the steps.
	Findings []Finding `json:"findings"`

	// First is the first thing to mend. It is left out if there is nothing.
	First string `json:"first,omitzero"`
}

// Finding is what one step of a check has found.
type Finding struct {
	Step    string  `json:"step"`
	Outcome Outcome `json:"outcome"`
	Words   string  `json:"words"`
	Next    string  `json:"next,omitzero"`
}

// Outcome is how a step of a check went.
type Outcome string

// The outcomes. Only a problem is in the way; what was skipped could not be
// looked at because of one.
const (
	OutcomeOK      Outcome = "ok"
	OutcomeProblem Outcome = "problem"
	OutcomeSkipped Outcome = "skipped"
	OutcomeWarning Outcome = "warning"
)

// Agents is the answer to GET /admin/agents, by name.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// Agent is what is believed of a registered remote agent, and the answer to GET
// /admin/agents/{name} and POST /admin/agents/{name}/accept.
type Agent struct {
	Name string `json:"name"`

	// State is one word: unknown, trusted, stale, quarantined, inert or
	// disabled.
	State string `json:"state"`

	// Reasons say why it is not usable, each with what to do.
	Reasons []string `json:"reasons"`

	CardURL string `json:"cardURL,omitzero"`

	// KeyID and Algorithm are those of the signature that verified.
	KeyID     string `json:"keyId,omitzero"`
	Algorithm string `json:"algorithm,omitzero"`

	// Version is the agent's own, as its card says.
	Version string `json:"version,omitzero"`

	// Digest is the SHA-256 of the card, in hexadecimal.
	Digest string `json:"digest,omitzero"`

	FetchedAt  time.Time `json:"fetchedAt,omitzero"`
	VerifiedAt time.Time `json:"verifiedAt,omitzero"`

	// ExpiresAt is when the card is too old to be believed.
	ExpiresAt time.Time `json:"expiresAt,omitzero"`

	// Drift is how the newest card differs from the one that was accepted.
	Drift *Drift `json:"drift,omitzero"`

	// LastError is why the card could not be read the last time.
	LastError string `json:"lastError,omitzero"`
}

// Drift is how a card differs from the one that was accepted.
type Drift struct {
	// Digest is that of the new card, by which it is accepted.
	Digest string `json:"digest,omitzero"`

	// Structure are differences that have to be accepted.
	Structure []string `json:"structure"`

	// Wording are those that are only told.
	Wording []string `json:"wording"`
}

// AcceptCard is the body of POST /admin/agents/{name}/accept.
type AcceptCard struct {
	// Digest is that of the card that is accepted, so that no other is.
	Digest string `json:"digest"`
}

// Tasks is the answer to GET /admin/tasks, the newest first. A page may have fewer
// tasks than were asked for, or none, and still be followed by another.
type Tasks struct {
	Tasks []Task `json:"tasks"`

	// Next is what to ask for as before to get the next page. It is left out on
	// the last one.
	Next int64 `json:"next,omitzero"`
}

// Task is a task without its content, and the answer to GET /admin/tasks/{id} and
// to POST /admin/tasks/{id}/cancel.
type Task struct {
	// Number orders tasks by when they were stored.
	Number int64 `json:"number,omitzero"`

	ID        string `json:"id"`
	ContextID string `json:"contextId"`

	// Agent and Caller are whom the task belongs to.
	Agent  string `json:"agent"`
	Caller string `json:"caller"`
	Skill  string `json:"skill,omitzero"`

	// State is that of the protocol, such as TASK_STATE_WORKING.
	State     string    `json:"state"`
	CreatedAt time.Time `json:"createdAt"`
	StatusAt  time.Time `json:"statusAt"`

	// Turns and Events are how many there have been.
	Turns  int   `json:"turns"`
	Events int64 `json:"events"`

	// Content is the task as the protocol has it. It is there only if an
	// administrator asks for it.
	Content JSON `json:"content,omitzero"`
}

// People is the answer to GET /admin/people, by name.
type People struct {
	People []Person `json:"people"`
}

// Person is somebody who may use this interface.
type Person struct {
	Name string `json:"name"`

	// Role is viewer, operator, approver or admin.
	Role string `json:"role"`

	// TokenID is the part of the token that may be told.
	TokenID   string    `json:"tokenId"`
	CreatedAt time.Time `json:"createdAt"`

	// Author is who added the person.
	Author string `json:"author"`

	// NotAfter is when the token ends. Left out, it does not.
	NotAfter time.Time `json:"notAfter,omitzero"`

	// Expired says that it has.
	Expired bool `json:"expired"`
}

// PutPerson is the body of PUT /admin/people/{name}.
type PutPerson struct {
	Role     string    `json:"role"`
	NotAfter time.Time `json:"notAfter,omitzero"`
}

// IssuedToken is the answer to it, the only one that has the token. A token that
// the person had before is void.
type IssuedToken struct {
	Person Person `json:"person"`
	Token  string `json:"token"`
}

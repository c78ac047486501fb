package admin

import (
	"time"
)

// Bounds of what is sent.
const (
	// MaxDocuments is the largest body of an apply, in bytes.
	MaxDocuments = 4 << 20

	// MaxSecret is the largest value of a secret, in bytes.
	MaxSecret = 64 << 10

	// MaxForm is the largest other body, in bytes.
	MaxForm = 64 << 10
)

// Names of header fields and media types beside the usual ones.
const (
	// HeaderFile names the file that the body of an apply was read from, so that
	// problems can tell their place. The file is not opened.
	HeaderFile = "X-Legation-File"

	TypeJSON   = "application/json"
	TypeYAML   = "application/yaml"
	TypeLines  = "application/x-ndjson"
	TypeBytes  = "application/octet-stream"
	TypeSchema = "application/schema+json"

	// TypeFiles is the media type of [Files].
	TypeFiles = "application/vnd.legation.files+json"
)

// JSON is a text of JSON as it is.
type JSON []byte

// MarshalJSON returns the text.
func (j JSON) MarshalJSON() ([]byte, error) {
	if len(j) == 0 {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of the text.
func (j *JSON) UnmarshalJSON(text []byte) error {
	*j = append((*j)[:0:0], text...)
	return nil
}

// Refusal is the answer to what was not done, with a status of 400 or more.
type Refusal struct {
	Error Failure `json:"error"`
}

// Failure says what went wrong, and what to do about it. As an error it says
// the same, so that a client can return what it was answered; a part that
// [Config] names may return one too, which is then the answer.
type Failure struct {
	// Status is the status of the answer. It is not written in it.
	Status int `json:"-"`

	// Code is a word for programs.
	Code Code `json:"code"`

	// Message is a sentence for people.
	Message string `json:"message"`

	// Next says what to do about it.
	Next string `json:"next,omitzero"`

	// Problems are what is wrong with documents, if that is what it was.
	Problems []Problem `json:"problems,omitzero"`
}

// Error returns the message.
func (f *Failure) Error() string { return f.Message }

// Code says for programs what went wrong.
type Code string

// The codes, and the status that each comes with.
const (
	CodeInvalid         Code = "invalid"          // 400: the request is not as it should be
	CodeUnauthenticated Code = "unauthenticated"  // 401: no token, or none that is known
	CodeForbidden       Code = "forbidden"        // 403: the role does not allow it
	CodeHost            Code = "host_not_allowed" // 403: the Host header names another host
	CodeNotFound        Code = "not_found"        // 404: there is no such thing, or no such path
	CodeUnavailable     Code = "unavailable"      // 404: this installation, as it runs, does not have that part
	CodeMethod          Code = "method"           // 405
	CodeConflict        Code = "conflict"         // 409: it does not fit what is there by now
	CodeTooLarge        Code = "too_large"        // 413
	CodeMediaType       Code = "media_type"       // 415
	CodeProblems        Code = "problems"         // 422: documents have problems
	CodeTooMany         Code = "too_many"         // 429: too many refused requests from this address
	CodeInternal        Code = "internal"         // 500: the log has the reason
	CodeBusy            Code = "busy"             // 503: try again soon
)

// Problem is one thing that is wrong with a document.
type Problem struct {
	// File, Line and Column are where it is; lines and columns count from 1, and
	// are left out of what was not read from a text.
	File   string `json:"file,omitzero"`
	Line   int    `json:"line,omitzero"`
	Column int    `json:"column,omitzero"`

	// Document is what it is about, as kind and name: Provider/local.
	Document string `json:"document,omitzero"`

	// Path is the field.
	Path string `json:"path,omitzero"`

	// Words say what is wrong.
	Words string `json:"words"`

	// Next says what to do about it.
	Next string `json:"next,omitzero"`
}

// Status is the answer to GET /admin/status.
type Status struct {
	// Version is the program's.
	Version string `json:"version,omitzero"`

	// Offline says that no server runs: the data directory was opened for this
	// request only, and nothing is served, followed or refreshed.
	Offline bool `json:"offline"`

	// StartedAt is when the server was started.
	StartedAt time.Time `json:"startedAt,omitzero"`

	// Revision counts the changes of what is registered.
	Revision int64 `json:"revision"`

	// Resources is how many documents are registered.
	Resources int `json:"resources"`

	// Unreadable are documents, as kind and name, that this version cannot read.
	// They have no effect, and can be replaced or deleted.
	Unreadable []string `json:"unreadable"`

	// Who is whoever asks, and Role what that person may do.
	Who  string `json:"who"`
	Role string `json:"role"`
}

// Resources is the answer to GET /admin/resources.
type Resources struct {
	// Revision counts the changes of what is registered.
	Revision int64 `json:"revision"`

	// Resources are in order of kind and name.
	Resources []Resource `json:"resources"`
}

// Resource is one registered document, and the answer to
// GET /admin/resources/{kind}/{name}.
type Resource struct {
	Kind string `json:"kind"`
	Name string `json:"name"`

	// Generation is the revision that last changed the document.
	Generation int64 `json:"generation"`

	// State says whether the document has an effect: ready, inert or disabled;
	// or unreadable, and then there is no document.
	State string `json:"state"`

	// Reasons say what is missing, each with what to do.
	Reasons []string `json:"reasons"`

	// Published says that the document was published on the command line, and
	// can only be changed there.
	Published bool `json:"published"`

	// Document is the whole of it: kind, name and spec.
	Document JSON `json:"document,omitzero"`
}

// Files are documents in several files that are applied together, sent as
// [TypeFiles] in place of one text. Names are told in problems and not opened.
type Files struct {
	Files []File `json:"files"`
}

// File is one text with documents in YAML or JSON.
type File struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Applied is the answer to POST /admin/apply and to DELETE of a resource: what was
// done, or what would be.
type Applied struct {
	// DryRun says that nothing was changed.
	DryRun bool `json:"dryRun"`

	// Base is the revision that was changed, and Revision the one it led to.
	// They are the same if nothing changes.
	Base     int64 `json:"base"`
	Revision int64 `json:"revision"`

	// Changed says that there is a change.
	Changed bool `json:"changed"`

	// Changes are what becomes of documents, in order of kind and name. Those
	// that nothing was asked of are left out.
	Changes []Change `json:"changes"`
}

// Change is what becomes of one document.
type Change struct {
	Kind string `json:"kind"`
	Name string `json:"name"`

	// Action is create, update, delete or unchanged.
	Action string `json:"action"`

	// Fields are the differences of an update.
	Fields []FieldChange `json:"fields"`
}

// FieldChange is one difference.
type FieldChange struct {
	Path string `json:"path"`

	// Old and New are how the values are written; empty where there is none.
	// What is never shown is replaced by a word.
	Old string `json:"old,omitzero"`
	New string `json:"new,omitzero"`
}

// Secrets is the answer to GET /admin/secrets, with the newest version of each, and
// to GET /admin/secrets/{name}/versions, with the newest first.
type Secrets struct {
	Secrets []Secret `json:"secrets"`
}

// Secret is what may be told of one version of a secret, and the answer to PUT
// /admin/secrets/{name}.
type Secret struct {
	Name      string    `json:"name"`
	Version   int64     `json:"version"`
	Author    string    `json:"author"`
	CreatedAt time.Time `json:"createdAt"`

	// UsedAt is when it was last opened.
	UsedAt time.Time `json:"usedAt,omitzero"`

	// MasterKey is the id of the master key that it is sealed with.
	MasterKey string `json:"masterKey"`
}

// SecretUses is the answer to GET /admin/secrets/{name}/uses, the newest first.
type SecretUses struct {
	Uses []SecretUse `json:"uses"`

	// Next is what to ask for as before to get the next page. It is left out on
	// the last one.
	Next int64 `json:"next,omitzero"`
}

// SecretUse says that a version of a secret was opened.
type SecretUse struct {
	Number  int64     `json:"number"`
	Version int64     `json:"version"`
	At      time.Time `json:"at"`

	// Who made it necessary, and Purpose is what for.
	Who     string `json:"who"`
	Purpose string `json:"purpose"`

	// Party and Host are whom it was sent to.
	Party string `json:"party,omitzero"`
	Host  string `json:"host,omitzero"`
}

// Rotation is the answer to POST /admin/secrets/rotate.
type Rotation struct {
	// Primary is the id of the master key that everything is to be sealed with.
	Primary string `json:"primary"`

	// Rewrapped is how many values now are, and were not before.
	Rewrapped int `json:"rewrapped"`

	// Failed is how many could not be brought there and stay as they are.
	Failed int `json:"failed"`

	// Left are other master keys that are still needed.
	Left []string `json:"left"`
}

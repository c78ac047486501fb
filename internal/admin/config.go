package admin

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

// Registry is what is registered. *registry.Registry is one.
type Registry interface {
	Set() registry.Set
	Plan(ctx context.Context, desired []registry.Document, opts registry.Options) (registry.Plan, error)
	Apply(ctx context.Context, author string, desired []registry.Document, opts registry.Options) (registry.Plan, error)
	Edit(ctx context.Context, author string, id registry.ID, change func(registry.Document) (registry.Document, error), told ...audit.Entry) (registry.Plan, error)
}

// Vault keeps secrets. *vault.Vault is one. There is no way to read a value.
type Vault interface {
	Put(ctx context.Context, name string, value vault.Value, author string, effects work.Effects) (vault.Metadata, error)
	List(ctx context.Context) ([]vault.Metadata, error)
	Versions(ctx context.Context, name string) ([]vault.Metadata, error)
	Uses(ctx context.Context, name string, before int64, limit int) ([]vault.UseRecord, error)
	Delete(ctx context.Context, ref vault.Reference, effects work.Effects) error
	Rotate(ctx context.Context) (vault.Rotation, error)
}

// Directory knows people. *people.Directory is one.
type Directory interface {
	Authenticate(token string) (people.Person, error)
	People() []people.Person
	Put(ctx context.Context, author, name string, role people.Role, notAfter time.Time) (people.Person, string, error)
	Remove(ctx context.Context, author, name string) error
}

// TaskStore reads the tasks of all owners. *sqlite.Store is one.
type TaskStore interface {
	Survey(ctx context.Context, query task.Survey) (task.SurveyPage, error)
	Owners(ctx context.Context, id a2a.TaskID) ([]task.Surveyed, error)
	Task(ctx context.Context, owner task.Owner, id a2a.TaskID) (task.Record, error)
}

// AuditStore keeps the audit. An audit.Store is one.
type AuditStore interface {
	Record(ctx context.Context, entries ...audit.Entry) error
	Audit(ctx context.Context, query audit.Query) (audit.Page, error)
	Evidence(ctx context.Context, after int64, visit func(seal audit.Seal, entries [][]byte) error) error
	Unsealed(ctx context.Context) ([]int64, error)
}

// RemoteAgents is what is believed of registered remote agents, and how they
// are looked at. The error for a name that is not registered is
// registry.ErrNotFound; a *[Failure] is answered as it is.
type RemoteAgents interface {
	// Agents returns all of them, by name.
	Agents(ctx context.Context) ([]Agent, error)

	Agent(ctx context.Context, name string) (Agent, error)

	// Check looks at everything that can be in the way of a call, for whoever
	// asks for it.
	Check(ctx context.Context, name, who string) (Report, error)

	// Accept takes the card of a digest in place of the one that was accepted
	// before, and writes down who did it.
	Accept(ctx context.Context, name, digest, author string) (Agent, error)
}

// RemoteClients looks at what is in the way of a registered remote client. The
// errors are as with [RemoteAgents].
type RemoteClients interface {
	CheckClient(ctx context.Context, name string) (Report, error)
}

// Config says what a [Handler] administers. A part that is nil, and not only a
// nil pointer in it, is not available: its routes answer 404 in words.
type Config struct {
	Registry Registry
	Vault    Vault
	People   Directory
	Tasks    TaskStore
	Audit    AuditStore
	Agents   RemoteAgents
	Clients  RemoteClients

	// Cancel cancels a task, together with effects. Without it tasks cannot be
	// canceled.
	Cancel func(ctx context.Context, owner task.Owner, id a2a.TaskID, effects work.Effects) (task.Record, error)

	// Troubles returns why a document has no effect beyond what can be seen of
	// it by itself. Nil knows of none.
	Troubles func(registry.ID) []string

	// Unfit returns why a value is of no use to what is registered and uses the
	// secret of that name, or nil. Nil takes every value.
	Unfit func(name string, value []byte) error

	// Unavailable tells an error of the store that it gets over, such as a full
	// disk, from others. Nil knows of none.
	Unavailable func(error) bool

	// Programs are the programs that providers may name. Nil means that they
	// are not known here.
	Programs func(registry.Name) bool

	// Author, if not nil, says who asks, in place of a token: the handler is
	// used in the process of somebody who may do everything anyway. It must not
	// listen then.
	Author func(r *http.Request) string

	// Hosts are names that the Host header may have, besides those of the
	// loopback, in a request that came over it.
	Hosts []string

	// Version, StartedAt and Offline are told by the status.
	Version   string
	StartedAt time.Time
	Offline   bool

	// Now supplies the times that keys and tokens are judged by. Nil means
	// time.Now.
	Now func() time.Time

	// Logger receives diagnostics: names and codes, no values. Nil discards
	// them.
	Logger *slog.Logger
}

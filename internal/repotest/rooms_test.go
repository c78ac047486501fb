package repotest

// ring is how far out a package lies. Imports point inward.
type ring int

const (
	vocabulary ring = iota // what everybody speaks of
	rules                  // what happens, without any technology
	edge                   // one technology each; edges do not import each other
	assembly               // puts a process together
)

// room is what one package may import.
type room struct {
	ring ring

	// imports are packages of this module, seen from its root. Leave that
	// nobody uses fails the tests, here and below.
	imports []string

	// modules are third-party modules. A new entry is a decision: it comes
	// with a paragraph in docs/architecture.md that says why.
	modules []string

	// tests are further packages of this module that test files may import.
	// Test files may also import whatever is in testModules.
	tests []string

	// forTests marks a package that only tests import; its own files may
	// import what test files may.
	forTests bool
}

const (
	modSSRF    = "code.dny.dev/ssrf"
	modBackoff = "github.com/cenkalti/backoff/v5"
	modCobra   = "github.com/spf13/cobra"
	modEnv     = "github.com/caarlos0/env/v11"
	modFlag    = "github.com/spf13/pflag"
	modGoose   = "github.com/pressly/goose/v3"
	modJSON    = "github.com/go-json-experiment/json"
	modJOSE    = "github.com/go-jose/go-jose/v4"
	modOIDC    = "github.com/coreos/go-oidc/v3"
	modOAuth2  = "golang.org/x/oauth2"
	modRate    = "golang.org/x/time"
	modOpenAI  = "github.com/sashabaranov/go-openai"
	modSQLite  = "modernc.org/sqlite"
	modSSE     = "github.com/tmaxmax/go-sse"
	modSys     = "golang.org/x/sys"
	modTink    = "github.com/tink-crypto/tink-go/v2"
	modUUID    = "github.com/google/uuid"
	modYAML    = "github.com/goccy/go-yaml"
)

// testModules may be imported by every test file.
var testModules = []string{
	"github.com/google/go-cmp",
	"github.com/google/jsonschema-go",
	"github.com/gowebpki/jcs",
	"github.com/rogpeppe/go-internal",
	"github.com/oauth2-proxy/mockoidc",
	"go.uber.org/goleak",
	"pgregory.net/rapid",
	modJSON,
}

// rooms lists every package of the module. A package that is missing here fails
// the tests: add it to the ring it belongs to, with the least it needs.
var rooms = map[string]room{
	"a2a":              {ring: vocabulary, modules: []string{modJSON, modUUID}},
	"guard":            {ring: vocabulary, modules: []string{modSSRF}},
	"internal/jsonrpc": {ring: vocabulary, modules: []string{modJSON}},
	"internal/sse":     {ring: vocabulary, modules: []string{modSSE}},

	"internal/extension": {ring: vocabulary, imports: []string{"a2a"}},

	"internal/lru":   {ring: vocabulary},
	"internal/quota": {ring: rules},
	"internal/audit": {ring: rules, modules: []string{modJSON}},
	"internal/access": {
		ring:    rules,
		imports: []string{"internal/lru", "internal/quota"},
		modules: []string{modRate},
	},
	"internal/access/issuer": {
		ring:    edge,
		imports: []string{"internal/access", "internal/lru"},
		modules: []string{modJOSE, modJSON, modOIDC},
		tests:   []string{"guard", "internal/quota"},
	},

	"internal/work": {ring: rules, imports: []string{"internal/audit", "internal/quota"}},
	"agent":         {ring: rules, imports: []string{"a2a", "internal/work"}},
	"task": {
		ring:    rules,
		imports: []string{"a2a", "agent", "internal/audit", "internal/extension", "internal/quota", "internal/work"},
		modules: []string{modJSON},
		tests:   []string{"store/sqlite"},
	},

	"card": {
		ring:    rules,
		imports: []string{"a2a"},
		modules: []string{modJOSE, modJSON},
	},
	"internal/registry": {
		ring:    rules,
		imports: []string{"card", "guard", "internal/audit", "internal/work"},
		modules: []string{modJSON, modYAML},
		tests:   []string{"store/sqlite"},
	},
	"internal/people": {
		ring:    rules,
		imports: []string{"internal/audit", "internal/work"},
		tests:   []string{"store/sqlite"},
	},
	"internal/admin": {
		ring: edge,
		imports: []string{
			"a2a", "task", "internal/access", "internal/audit", "internal/lru", "internal/people",
			"internal/registry", "internal/vault", "internal/work",
		},
		modules: []string{modJSON, modRate},
		tests:   []string{"store/sqlite"},
	},
	"internal/vault": {
		ring:    rules,
		imports: []string{"internal/work"},
		modules: []string{modTink},
		tests:   []string{"store/sqlite"},
	},

	"internal/trust": {
		ring:    rules,
		imports: []string{"a2a", "card", "internal/audit", "internal/registry", "internal/work"},
		modules: []string{modJSON},
		tests:   []string{"store/sqlite"},
	},

	"store/sqlite": {
		ring:    edge,
		imports: []string{"a2a", "task", "internal/audit", "internal/registry", "internal/vault", "internal/work", "internal/quota", "internal/trust", "internal/people"},
		modules: []string{modGoose, modJSON, modSQLite, modSys},
		tests:   []string{"store/storetest"},
	},
	"server": {
		ring:    edge,
		imports: []string{"a2a", "card", "task", "internal/audit", "internal/extension", "internal/jsonrpc", "internal/quota", "internal/sse"},
		modules: []string{modJSON},
		tests:   []string{"agent", "internal/work", "store/sqlite"},
	},
	"client": {
		ring:    edge,
		imports: []string{"a2a", "guard", "internal/extension", "internal/jsonrpc", "internal/sse"},
		modules: []string{modJSON},
		tests:   []string{"internal/testkit"},
	},
	"internal/credential": {
		ring:    edge,
		imports: []string{"a2a", "guard", "internal/lru", "internal/registry", "internal/vault"},
		modules: []string{modJSON, modOAuth2},
		tests:   []string{"client", "internal/testkit", "store/sqlite", "internal/work"},
	},
	"internal/provider/echo":  {ring: edge, imports: []string{"a2a", "agent"}},
	"internal/provider/piece": {ring: vocabulary},
	"internal/provider/command": {
		ring:    edge,
		imports: []string{"a2a", "agent", "internal/provider/piece"},
	},
	"internal/provider/openai": {
		ring:    edge,
		imports: []string{"a2a", "agent", "guard", "internal/provider/piece"},
		modules: []string{modBackoff, modOpenAI},
	},

	"internal/remotes": {
		ring:    assembly,
		imports: []string{"a2a", "card", "client", "guard", "internal/credential", "internal/registry", "internal/trust"},
		tests:   []string{"internal/vault", "store/sqlite"},
	},
	"internal/config": {ring: assembly, modules: []string{modEnv}},
	"internal/app": {
		ring: assembly,
		imports: []string{
			"a2a", "agent", "card", "guard", "internal/access", "internal/access/issuer", "internal/admin", "internal/audit",
			"internal/config", "internal/extension", "internal/people", "internal/provider/command", "internal/provider/echo",
			"internal/provider/openai", "internal/quota", "internal/registry", "internal/remotes", "internal/trust",
			"internal/vault", "internal/work", "server", "store/sqlite", "task",
		},
		modules: []string{modJSON},
		tests:   []string{"client"}, // the whole program, asked as others ask it
	},
	"internal/conformance": {
		ring:    assembly,
		imports: []string{"a2a", "guard", "server", "internal/app", "internal/config"},
		modules: []string{modJSON, modYAML},
	},
	"internal/cli": {
		ring: assembly,
		imports: []string{
			"a2a", "agent", "card", "client", "guard", "internal/access", "internal/admin", "internal/app", "internal/audit",
			"internal/config", "internal/conformance", "internal/people", "internal/registry", "internal/vault", "server",
			"store/sqlite",
		},
		modules: []string{modCobra, modFlag, modJSON},
		tests:   []string{"internal/testkit"},
	},
	"cmd/legation": {
		ring:    assembly,
		imports: []string{"internal/cli"},
		tests:   []string{"a2a", "client", "guard"}, // kills the program and asks it what it remembers
	},
	"conformance/tck": {ring: assembly, modules: []string{modJSON}},
	"conformance/testagent": {
		ring:    assembly,
		imports: []string{"a2a", "agent", "task", "server", "store/sqlite", "internal/jsonrpc"},
		tests:   []string{"internal/sse"},
	},

	"specification/generate": {ring: vocabulary, modules: []string{modJSON}},
	"internal/repotest": {
		ring:  vocabulary,
		tests: []string{"client", "guard", "internal/access/issuer", "internal/provider/openai"}, // all that asks others
	},
	"internal/testkit": {
		ring: vocabulary, forTests: true,
		imports: []string{"a2a", "guard"},
	},
	"store/storetest": {
		ring: rules, forTests: true,
		imports: []string{"a2a", "task", "internal/audit", "internal/registry", "internal/vault", "internal/work", "internal/quota", "internal/trust", "internal/people"},
	},
}

package repotest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// outbound are the ways of the standard library to reach another machine, or to
// make what can. Names of types are refused as values: a pointer to a client
// that somebody else made is fine.
var outbound = map[string][]string{
	"net": {
		"Dial", "DialTimeout", "DialTCP", "DialUDP", "DialIP", "DialUnix", "Dialer", "ListenPacket", "ListenUDP", "ListenIP",
		"DefaultResolver", "Resolver", "LookupAddr", "LookupCNAME", "LookupHost", "LookupIP", "LookupMX", "LookupNS", "LookupSRV",
		"LookupTXT", "ResolveTCPAddr", "ResolveUDPAddr", "ResolveIPAddr",
	},
	"net/http": {
		"Get", "Head", "Post", "PostForm", "DefaultClient", "DefaultTransport", "Client", "Transport", "ProxyFromEnvironment",
	},
	"crypto/tls": {"Dial", "DialWithDialer", "Dialer"},
	"syscall":    {"Connect", "Socket"},
}

// outboundPackages reach others whatever is used of them.
var outboundPackages = []string{
	"net/http/httputil", "net/rpc", "net/rpc/jsonrpc", "net/smtp", "log/syslog",
	"golang.org/x/net", "golang.org/x/sys/plan9",
}

// unixNames are refused of the raw system calls.
var unixNames = []string{"Connect", "Socket", "Sendto", "Sendmsg"}

// outboundModules are third-party modules that reach others, and how a file
// may use them: none of these names, and each of the first set only in a file that
// has one of the second as well, with which it hands over a client.
var outboundModules = map[string]struct {
	never     []string
	guarded   []string
	handsOver []string
}{
	modOIDC:               {guarded: []string{"NewProvider", "NewRemoteKeySet"}, handsOver: []string{"ClientContext"}},
	modOpenAI:             {never: []string{"NewClient", "NewOrgClient"}, guarded: []string{"NewClientWithConfig"}, handsOver: []string{"HTTPClient"}},
	"golang.org/x/oauth2": {never: []string{"NewClient"}, guarded: []string{"Config"}, handsOver: []string{"HTTPClient"}},
}

// quietModules reach nobody in the way they are used here.
var quietModules = []string{
	modSSRF, modBackoff, modCobra, modEnv, modFlag, modGoose, modJSON, modJOSE, modRate, modSQLite, modSSE, modSys, modTink, modUUID, modYAML,
}

// outboundLeave says which files may do what, and why. What is in none of them
// has to leave through the guard.
var outboundLeave = map[string]struct {
	names []string
	why   string
}{
	"guard/client.go": {
		[]string{"net.DefaultResolver", "net.Dialer", "net/http.Client", "net/http.Transport"},
		"is the guard: what it resolves is judged, and what it dials was",
	},
}

// notProduct are packages that are never part of what is shipped.
var notProduct = []string{"conformance/tck", "conformance/testagent", "specification/generate"}

// No package of the product makes a request but through the guard.
func TestEverythingLeavesThroughTheGuard(t *testing.T) {
	used := make(map[string]bool)
	seen := 0
	for _, src := range sources(t) {
		if src.test || rooms[src.dir].forTests || slices.Contains(notProduct, src.dir) {
			continue
		}
		seen++
		for _, found := range ways(src.file) {
			if slices.Contains(outboundLeave[src.path].names, found.name) {
				used[src.path+" "+found.name] = true
				continue
			}
			t.Errorf("%s uses %s, which reaches other machines: take a client of package guard", src.fset.Position(found.pos), found.name)
		}
	}
	if seen < 100 {
		t.Errorf("only %d files were looked at", seen)
	}
	for file, leave := range outboundLeave {
		for _, name := range leave.names {
			if !used[file+" "+name] {
				t.Errorf("%s has leave to use %s and does not: take it from the list", file, name)
			}
		}
	}
}

// Whoever brings a module says whether it reaches others.
func TestModulesAreKnownToBeQuiet(t *testing.T) {
	for name, room := range rooms {
		if room.forTests {
			continue
		}
		for _, module := range room.modules {
			if _, loud := outboundModules[module]; !loud && !slices.Contains(quietModules, module) {
				t.Errorf("%s uses %s: say in internal/repotest/outbound_test.go whether it reaches other machines, and how it is handed a guarded client", name, module)
			}
		}
	}
}

// way is one use of something that reaches others.
type way struct {
	name string // package and name
	pos  token.Pos
}

// ways finds what a file uses that reaches others.
func ways(file *ast.File) []way {
	var found []way
	names := make(map[string]string) // of packages, in this file
	for _, spec := range file.Imports {
		imported, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			continue
		}
		local := localName(imported)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if within(outboundPackages, imported) || local == "." && (outbound[imported] != nil || loud(imported) != "") {
			found = append(found, way{imported, spec.Pos()})
			continue
		}
		names[local] = imported
	}
	mentioned := mentions(file)
	pointed := make(map[ast.Node]bool)
	ast.Inspect(file, func(node ast.Node) bool {
		if star, ok := node.(*ast.StarExpr); ok {
			pointed[star.X] = true
		}
		sel, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		imported, name := names[pkg.Name], sel.Sel.Name
		isType := name == "Client" || name == "Transport" || name == "Dialer" || name == "Resolver"
		switch {
		case isType && pointed[sel]:
		case slices.Contains(outbound[imported], name),
			strings.HasPrefix(imported, modSys+"/") && slices.Contains(unixNames, name),
			refusedOfModule(imported, name, mentioned):
			found = append(found, way{imported + "." + name, sel.Pos()})
		}
		return true
	})
	return found
}

// refusedOfModule reports whether a name of a module that reaches others is
// used without handing it a client.
func refusedOfModule(imported, name string, mentioned map[string]bool) bool {
	rule := outboundModules[loud(imported)]
	if slices.Contains(rule.never, name) {
		return true
	}
	return slices.Contains(rule.guarded, name) && !slices.ContainsFunc(rule.handsOver, func(n string) bool { return mentioned[n] })
}

// loud is the module of a package if it reaches others.
func loud(imported string) string {
	for module := range outboundModules {
		if within([]string{module}, imported) {
			return module
		}
	}
	return ""
}

// mentions are the names that a file selects of anything.
func mentions(file *ast.File) map[string]bool {
	found := make(map[string]bool)
	ast.Inspect(file, func(node ast.Node) bool {
		if sel, ok := node.(*ast.SelectorExpr); ok {
			found[sel.Sel.Name] = true
		}
		return true
	})
	return found
}

// localName is the name that a package is most likely used under.
func localName(imported string) string {
	name := path.Base(imported)
	if len(name) > 1 && name[0] == 'v' && strings.Trim(name[1:], "0123456789") == "" {
		name = path.Base(path.Dir(imported))
	}
	return strings.TrimPrefix(name, "go-")
}

// What the test above has to see, and what it has to leave alone.
func TestWaysOutAreSeen(t *testing.T) {
	for _, tt := range []struct{ imports, code, want string }{
		{`"net"`, `net.Dial("tcp", x)`, "net.Dial"},
		{`"net"`, `(&net.Dialer{}).DialContext(ctx, "tcp", x)`, "net.Dialer"},
		{`"net"`, `new(net.Resolver).LookupHost(ctx, x)`, "net.Resolver"},
		{`"net"`, `net.LookupHost(x)`, "net.LookupHost"},
		{`"net"`, `net.Listen("tcp", x)`, ""},
		{`"net"`, `net.ParseIP(x)`, ""},
		{`"net/http"`, `http.Get(x)`, "net/http.Get"},
		{`"net/http"`, `http.DefaultClient.Do(x)`, "net/http.DefaultClient"},
		{`"net/http"`, `_ = &http.Client{}`, "net/http.Client"},
		{`"net/http"`, `var c http.Client; c.Do(x)`, "net/http.Client"},
		{`"net/http"`, `_ = struct{ http.Client }{}`, "net/http.Client"},
		{`"net/http"`, `new(http.Transport).RoundTrip(x)`, "net/http.Transport"},
		{`"net/http"`, `_ = http.DefaultTransport`, "net/http.DefaultTransport"},
		{`web "net/http"`, `web.Post(x, y, z)`, "net/http.Post"},
		{`. "net/http"`, `Get(x)`, "net/http"},
		{`"net/http"`, `func(c *http.Client) { c.Get(x) }(y)`, ""},
		{`"net/http"`, `http.NewRequestWithContext(ctx, http.MethodGet, x, nil)`, ""},
		{`"crypto/tls"`, `tls.Dial("tcp", x, nil)`, "crypto/tls.Dial"},
		{`"net/smtp"`, `smtp.SendMail(x)`, "net/smtp"},
		{`"net/http/httputil"`, `httputil.NewSingleHostReverseProxy(x)`, "net/http/httputil"},
		{`"golang.org/x/net/proxy"`, `proxy.Dial(ctx, x, y)`, "golang.org/x/net/proxy"},
		{`"golang.org/x/sys/unix"`, `unix.Connect(x, y)`, "golang.org/x/sys/unix.Connect"},
		{`"golang.org/x/sys/unix"`, `unix.Flock(x, y)`, ""},
		{`"github.com/coreos/go-oidc/v3/oidc"`, `oidc.NewProvider(ctx, x)`, modOIDC + "/oidc.NewProvider"},
		{`"github.com/coreos/go-oidc/v3/oidc"`, `oidc.NewProvider(oidc.ClientContext(ctx, c), x)`, ""},
		{`"github.com/coreos/go-oidc/v3/oidc"`, `oidc.NewVerifier(x, y, z)`, ""},
		{`oai "github.com/sashabaranov/go-openai"`, `oai.NewClient(x)`, modOpenAI + ".NewClient"},
		{`"github.com/sashabaranov/go-openai"`, `openai.NewClientWithConfig(x)`, modOpenAI + ".NewClientWithConfig"},
		{`"github.com/sashabaranov/go-openai"`, `x.HTTPClient = c; openai.NewClientWithConfig(x)`, ""},
		{`"golang.org/x/oauth2"`, `oauth2.NewClient(context.WithValue(ctx, oauth2.HTTPClient, c), x)`, "golang.org/x/oauth2.NewClient"},
		{`"golang.org/x/oauth2/clientcredentials"`, `(&clientcredentials.Config{}).Token(ctx)`, "golang.org/x/oauth2/clientcredentials.Config"},
	} {
		text := fmt.Sprintf("package p\nimport %s\nfunc f() { %s }\n", tt.imports, tt.code)
		file, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		got := ""
		if found := ways(file); len(found) > 0 {
			got = found[0].name
		}
		if got != tt.want {
			t.Errorf("%s: found %q, want %q", tt.code, got, tt.want)
		}
	}
}

package conformance_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/conformance"
)

const (
	toDecide   = "(change it back, or decide on a new revision and claim that in conformance/claim.yaml)"
	toGenerate = "(run make generate; the wire table is not edited by hand)"
	toPin      = "(pin the version that is claimed, run the interop matrix, or claim the one that ran)"
	toCorrect  = "(correct the document)"
	toWrite    = "(run make generate, and look at what changed)"
	toTest     = "(write the test, or give a reason in conformance/pending.yaml)"
	toServe    = "(mend the server, or claim what it does)"
	toRun      = "(run make tck on the claimed revision and look at what failed, or correct the claim)"
	toRestore  = "(change it back: the numbers are the specification's)"
	toShrink   = "(take it off the list, which only shrinks)"

	hash = "e195bf96ab630c69797851970203e1b2b6b19528f2e9803b7d904b91a5104016"
)

// otherSource is the difference of a program that was built from other source.
func otherSource(constant, written, compiled string) string {
	return "program: this program: claimed built from this tree, where " + constant + " is " + written + ", found " + compiled +
		" (run make conformance there, which builds the program from that source)"
}

// Lines further down than the ninth move with what is written above them.
var (
	lineNumber = regexp.MustCompile(`(\.\w+):\d{2,}(:| is stale)`)
	lineCounts = regexp.MustCompile(`has \d{3} lines, should have \d{3}`)
)

// Whatever is changed on one side is named, with its place, both values, and
// what to do.
func TestDifferencesAreNamed(t *testing.T) {
	tests := []struct {
		name, file, before, after string
		want                      []string
	}{
		{"version literal", "a2a/version.go", `ProtocolVersion = "1.0"`, `ProtocolVersion = "1.1"`, []string{
			"version literal: a2a/version.go ProtocolVersion: claimed 1.0, found 1.1 " + toDecide,
			otherSource("ProtocolVersion", "1.1", "1.0"),
		}},
		{"header", "a2a/version.go", `HeaderVersion = "A2A-Version"`, `HeaderVersion = "A2A-Protocol"`, []string{
			"version header: a2a/version.go HeaderVersion: claimed A2A-Version, found A2A-Protocol " + toDecide,
			otherSource("HeaderVersion", "A2A-Protocol", "A2A-Version"),
		}},
		{"operation name", "a2a/types_gen.go", `= "CancelTask"`, `= "AbortTask"`, []string{
			otherSource("MethodCancelTask", "AbortTask", "CancelTask"),
			"operation: a2a/types_gen.go MethodCancelTask: claimed CancelTask, found AbortTask " + toGenerate,
			"operation: server/operations.go: claimed nothing, found AbortTask (claim it in conformance/claim.yaml)",
		}},
		{"operation that is not served", "server/operations.go", "a2a.MethodGetTask:", "a2a.MethodsElse:", []string{
			"operation GetTask: server/operations.go: claimed an entry, found nothing (serve or refuse it by name, or claim otherwise)",
		}},
		{"operation that is not called", "client/tasks.go", "const method = a2a.MethodListTasks", `const method = "x"`, []string{
			"operation ListTasks: client/: claimed called, found absent (call it, or claim otherwise)",
		}},
		{"hash", "a2a/types_gen.go", hash, "f" + hash[1:], []string{
			"proto hash: a2a/types_gen.go ProtoSHA256: claimed " + hash + ", found f" + hash[1:] + " " + toGenerate,
			otherSource("ProtoSHA256", "f"+hash[1:], hash),
		}},
		{"card member", "a2a/encode_gen.go", `"supportedInterfaces":`, `"interfaces":`, []string{
			"card member: a2a/encode_gen.go AgentCard: claimed supportedInterfaces, found nothing " + toGenerate,
			"card member: a2a/encode_gen.go AgentCard: claimed nothing, found interfaces " + toGenerate,
		}},
		{"member that is read", "a2a/decode_gen.go", `case "pageToken", "page_token":`, `case "page":`, []string{
			"member: a2a/decode_gen.go ListTasksRequest: claimed pageToken, found nothing " + toGenerate,
			"member: a2a/decode_gen.go ListTasksRequest: claimed page_token, found nothing " + toGenerate,
		}},
		{"Python partner", "interop/python/requirements.txt", "a2a-sdk==1.3.0", "a2a-sdk==1.3.1", []string{
			"partner a2a-sdk: interop/python/requirements.txt: claimed 1.3.0, found 1.3.1 " + toPin,
		}},
		{"Go partner", "interop/go.mod", "a2a-go/v2 v2.4.0", "a2a-go/v2 v2.5.0-rc.1", []string{
			"partner a2a-go: interop/go.mod: claimed 2.4.0, found 2.5.0-rc.1 " + toPin,
		}},
		{"lowered level", "conformance/requirements.tsv", "REQ-PJ-01\tMUST", "REQ-PJ-01\tSHOULD", []string{
			"requirements that are MUST: conformance/requirements.tsv: claimed 301, found 300 (change it back: the levels are the specification's)",
			"requirements that are SHOULD: conformance/requirements.tsv: claimed 109, found 110 (change it back: the levels are the specification's)",
		}},
		{"Go partner replaced", "interop/go.mod", "require (", "replace github.com/a2aproject/a2a-go/v2 => github.com/a2aproject/a2a-go/v2 v2.0.0\n\nrequire (", []string{
			"partner a2a-go: interop/go.mod: claimed 2.4.0, found another one in its place (take the replace directive out)",
		}},
		{"JavaScript partner", "interop/javascript/package-lock.json", `"node_modules/@a2a-js/sdk"`, `"node_modules/other"`, []string{
			"partner @a2a-js/sdk: interop/javascript/package-lock.json: claimed 1.3.0, found nothing " + toPin,
		}},
		{"stale document", "docs/conformance.md", "# Conformance", "# Conformity", []string{
			"document: docs/conformance.md:1 is stale: has # Conformity, should have # Conformance " + toWrite,
		}},
		{"many lines of a document", "docs/conformance.md", "| Id | Level | Role | Subject | Held by |\n|---", "| Id | Level | Role | Subject | Held |\n|--", []string{
			"document: docs/conformance.md:N is stale: has | Id | Level | Role | Subject | Held |, should have | Id | Level | Role | Subject | Held by | " + toWrite,
			"document: docs/conformance.md:N is stale: has |--|---|---|---|---|, should have |---|---|---|---|---| " + toWrite,
		}},
		{"document without a line", "docs/conformance.md", "## Requirements\n\n", "## Requirements\n", []string{
			"document: docs/conformance.md:N is stale: has The ids are those of conformance/requirements.tsv: 398 requirements of the specification for both roles, and 62 places, should have nothing " + toWrite,
			"document: docs/conformance.md is stale: has N-1 lines, should have N " + toWrite,
		}},
		{"version in a document", "README.md", "(A2A 1.0, JSON-RPC)", "(A2A 0.3, JSON-RPC)", []string{
			"version literal: README.md:3: claimed 1.0, found 0.3 " + toCorrect,
		}},
		{"release in a document", "docs/divergences.md", "specification at v1.0.1", "specification at v1.0.0", []string{
			"specification revision: docs/divergences.md:6: claimed 1.0.1, found 1.0.0 " + toCorrect,
		}},
		{"header in a document", "docs/limits.md", "\n", "\n`A2A-Revision: 1.0` `A2A-Version: 1.1` `A2A-Extensions: x`\n", []string{
			"version header: docs/limits.md:2: claimed A2A-Version, found A2A-Revision " + toCorrect,
			"version literal: docs/limits.md:2: claimed 1.0, found 1.1 " + toCorrect,
		}},
		{"hash in a document", "specification/README.md", "\n", "\n0" + hash[1:] + "\n", []string{
			"proto hash: specification/README.md:2: claimed " + hash + ", found 0" + hash[1:] + " " + toCorrect,
		}},
		{"partner in a document", "docs/performance.md", "a2a-go v2.4.0", "a2a-go v2.3.0", []string{
			"partner a2a-go: docs/performance.md:N: claimed 2.4.0, found 2.3.0 " + toCorrect,
		}},
		{"older name in a comment", "agent/doc.go", "// Package agent", "// tasks" + "/get: Package agent", []string{
			"older name: agent/doc.go:1: claimed names of 1.0 only, found tasks" + "/get (use the name of 1.0)",
		}},
		{"older path in a message", "agent/doc.go", "// Package agent", "// https://a.example/.well-known" + "/agent.json Package agent", []string{
			"older name: agent/doc.go:1: claimed names of 1.0 only, found /.well-known" + "/agent.json (use the name of 1.0)",
		}},
		{"older name in another case", ".ci/run", "#!", "#! Tasks" + "/GET\n#", []string{
			"older name: .ci/run:1: claimed names of 1.0 only, found tasks" + "/get (use the name of 1.0)",
		}},
		{"older name in a dotfile", ".golangci.yml", "version:", "# message" + "/send\nversion:", []string{
			"older name: .golangci.yml:4: claimed names of 1.0 only, found message" + "/send (use the name of 1.0)",
		}},
		{"error code", "a2a/code.go", "Code = -32003", "Code = -32013", []string{
			"error code: a2a/code.go CodePushNotificationNotSupported: claimed -32003, found -32013 " + toRestore,
			otherSource("CodePushNotificationNotSupported", "-32013", "-32003"),
		}},
		{"error code that nobody knows", "a2a/code.go", "\tCodeParse ", "\tCodeMine Code = -32050 - 1\n\tCodeParse ", []string{
			"error code: a2a/code.go CodeMine: claimed nothing, found -32050 - 1 " + toRestore,
			otherSource("CodeMine", "-32050 - 1", "no such constant"),
		}},
		{"constant in another file", "a2a/errors.go", `"a2a-protocol.org"`, `"a2a.example"`, []string{
			otherSource("ErrorDomain", "a2a.example", "a2a-protocol.org"),
		}},
		{"interface literal", "a2a/version.go", `BindingJSONRPC = "JSONRPC"`, `BindingJSONRPC = "JSON-RPC"`, []string{
			"interface binding: a2a/version.go BindingJSONRPC: claimed JSONRPC, found JSON-RPC " + toDecide,
			otherSource("BindingJSONRPC", "JSON-RPC", "JSONRPC"),
		}},
		{"wire table", "specification/wire-v1.0.1.json", `"protoSha256": "e195`, `"protoSha256": "0195`, []string{
			"proto hash: specification/wire-v1.0.1.json: claimed " + hash + ", found 0195" + hash[4:] + " " + toGenerate,
			"wire table hash: specification/wire-v1.0.1.json: claimed 1abd504f2babffeb328cf863ca539cdcfee340e8ab755306cba35102c854843f, " +
				"found 2ca1844274cf9484859d89ed4a42b1f894689420d121b510ffbc727dc3ab4081 (the table is not edited; a new release of the protocol is a new table and a decision)",
		}},
		{"kit revision", "conformance/tck/kit.go", `kitBranch     = "1.0-dev"`, `kitBranch = "main"`, []string{
			"kit branch: conformance/tck/kit.go: claimed 1.0-dev, found main " + toRun,
		}},
		{"failure in the kit", "conformance/evidence/tck.json", `"requirement": "CORE-SEND-003"`, `"requirement": "CORE-SEND-004"`, []string{
			"kit fault, set on: conformance/evidence/tck.json: claimed a pass, found a failure of CORE-SEND-004 " + toRun,
		}},
		{"evidence of a changed tree", "conformance/evidence/tck.json", `"modified": false`, `"modified": true`, []string{
			"kit: conformance/evidence/tck.json: claimed a run of a committed tree, found one of a tree with changes (commit what changed, then run make tck)",
		}},
		{"evidence of no revision", "conformance/evidence/tck.json", `"revision": "`, `"revision": "x`, []string{
			"kit: conformance/evidence/tck.json: claimed a run of a committed tree, found one of no revision (commit what changed, then run make tck)",
		}},
		{"evidence of another kit", "conformance/evidence/tck.json", `"commit": "357c`, `"commit": "457c`, []string{
			"kit revision: conformance/evidence/tck.json: claimed 357c4a87afa2818731590647cccbea31c31733a2, found 457c4a87afa2818731590647cccbea31c31733a2 " + toRun,
		}},
		{"kit that is run", "conformance/tck/kit.go", `"357c`, `"457c`, []string{
			"kit revision: conformance/tck/kit.go: claimed 357c4a87afa2818731590647cccbea31c31733a2, found 457c4a87afa2818731590647cccbea31c31733a2 " + toRun,
		}},
		{"fault for another reason", "conformance/evidence/tck.json", `"reason": "the kit sends a part`, `"reason": "the kit sends parts`, []string{
			"reason of CORE-SEND-003, set on: conformance/evidence/tck.json: claimed the kit sends a part of an unsupported media type and takes success for the right answer, although the requirement it na…, " +
				"found the kit sends parts of an unsupported media type and takes success for the right answer, although the requirement it nam… (give one reason, in one wording, in both places)",
		}},
		{"known fault that passes", "conformance/claim.yaml", "  knownFaults:\n", "  knownFaults:\n    - {id: CORE-X-1, reason: none}\n", []string{
			"kit fault: conformance/evidence/tck.json: claimed a failure of CORE-X-1, found none " + toShrink,
		}},
		{"set of the kit that did not run", "conformance/claim.yaml", "  outcome:\n", "  outcome:\n    half: {executed: 2, passed: 1, failed: 1, skipped: 3}\n", []string{
			"kit outcome, set half: conformance/evidence/tck.json: claimed 2 executed, 1 passed, 1 failed, 3 skipped, found no such set " + toRun,
		}},
		{"capability that is not served", "conformance/claim.yaml", "{name: GetExtendedAgentCard, server: refused, code: -32004,", "{name: GetExtendedAgentCard, server: served,", []string{
			"capability extendedAgentCard: served card: claimed true, found false (a capability is set exactly where GetExtendedAgentCard is served)",
			"operation GetExtendedAgentCard: running server: claimed served, found refused with -32004 " + toServe,
		}},
		{"media type", "conformance/claim.yaml", "stream: text/event-stream", "stream: text/plain", []string{
			"media type: stream of SendStreamingMessage: claimed text/plain, found text/event-stream " + toServe,
		}},
		{"extension that is not announced", "conformance/claim.yaml", "extensions:\n", "extensions:\n  - {uri: \"urn:x\", stability: stable, required: false}\n", []string{
			"extension: served card: claimed urn:x, found nothing " + toServe,
		}},
		{"extension that is not claimed", "conformance/claim.yaml", "urn:legation:retry:v1", "urn:legation:retry:v2", []string{
			"extension urn:legation:retry:v1: this program: claimed nothing, found stable (claim it with its stability)",
			"extension: served card: claimed nothing, found urn:legation:retry:v1 (claim it with its stability)",
			"extension: served card: claimed urn:legation:retry:v2, found nothing " + toServe,
		}},
		{"operation that is not claimed", "conformance/claim.yaml", "  - {name: GetTask, server: served, client: called}\n", "", []string{
			"operation: specification/wire-v1.0.1.json: claimed nothing, found GetTask (claim the operation in conformance/claim.yaml)",
			"operation: server/operations.go: claimed nothing, found GetTask (claim it in conformance/claim.yaml)",
		}},
		{"partner without a lock", "conformance/claim.yaml", "locks: [interop/go.mod, bench/go.mod]", "locks: []", []string{
			"partner a2a-go: conformance/claim.yaml: claimed 2.4.0, found no lock file (name the file that pins it)",
		}},
		{"lock that is not there", "conformance/claim.yaml", "interop/python/requirements.txt", "interop/python/other.txt", []string{
			"partner a2a-sdk: interop/python/other.txt: claimed 1.3.0, found no lock file (add it, or correct its name in conformance/claim.yaml)",
		}},
		{"unknown id", "conformance/pending.yaml", "ids: [REQ-OPS-04", "ids: [REQ-OPS-99, REQ-OPS-04", []string{
			"pending: conformance/pending.yaml: claimed an id that binds us, found REQ-OPS-99 (correct the id)",
		}},
		{"reason for what has a test", "conformance/pending.yaml", "ids: [REQ-OPS-04", "ids: [REQ-PJ-01, REQ-OPS-04", []string{
			"pending REQ-PJ-01: conformance/pending.yaml: claimed no test, found tests for all of it " + toShrink,
		}},
		{"citation that no test reaches", "a2a/fuzz_test.go", ")\n\n", ")\n\n// REQ-PJ-01\n\nvar unused = `PVP-02`\n\n", []string{
			"citation of REQ-PJ-01: a2a/fuzz_test.go: claimed a test that holds it, found nothing that a test reaches (put it into a test, or next to what one uses)",
			"citation of PVP-02: a2a/fuzz_test.go: claimed a test that holds it, found nothing that a test reaches (put it into a test, or next to what one uses)",
		}},
		{"empty test", "a2a/fuzz_test.go", "func FuzzText(", "// REQ-PJ-01\nfunc TestNone(t *testing.T) { ; }\n\nfunc FuzzText(", []string{
			"citation of REQ-PJ-01: a2a.TestNone: claimed a test that runs, found a test that is empty " + toTest,
		}},
		{"test that is skipped", "a2a/fuzz_test.go", "func FuzzText(", "// REQ-PJ-01\nfunc TestNone(t *testing.T) {\n\tt.Skipf(`later`)\n\tpanic(0)\n}\n\nfunc FuzzText(", []string{
			"citation of REQ-PJ-01: a2a.TestNone: claimed a test that runs, found a test that begins with a skip " + toTest,
		}},
		{"citation of what is not there", "a2a/fuzz_test.go", "func FuzzText(f *testing.F) {", "func FuzzText(f *testing.F) {\n\t// REQ-PJ-77", []string{
			"citation: a2a.FuzzText: claimed an id of conformance/requirements.tsv, found REQ-PJ-77 (correct the id)",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			tree := checkout(t)
			edit(t, tree, test.file, test.before, test.after)
			var got []string
			for _, difference := range news(t, tree) {
				switch {
				case strings.HasPrefix(difference, "document: ") && test.file != conformance.PageFile:
					// It tells of the claim, and must be written anew.
				default:
					difference = lineNumber.ReplaceAllString(difference, "$1:N$2")
					got = append(got, lineCounts.ReplaceAllString(difference, "has N-1 lines, should have N"))
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("differences differ (-want +got):\n%s", diff)
			}
		})
	}
}

// An area leaves the list of reasons with its last requirement.
func TestReasonOfAnAreaEnds(t *testing.T) {
	tree := checkout(t)
	edit(t, tree, "conformance/requirements.tsv", "PVP-01\t", "REQ-ZZ-01\tMUST\tboth\tone\nREQ-ZZ-02\tMAY\tclient\ttwo\nREQ-ZZ-03\tNOTE\tnone\tthree\nPVP-01\t")
	edit(t, tree, "conformance/pending.yaml", "ids: [REQ-OPS-04", "ids: [REQ-ZZ-*, REQ-OPS-04")
	ends := "pending REQ-ZZ-*: conformance/pending.yaml: claimed no test, found tests for all of it " + toShrink
	edit(t, tree, "a2a/fuzz_test.go", "func FuzzText(f *testing.F) {", "func FuzzText(f *testing.F) {\n\t// REQ-ZZ-01")
	if got := news(t, tree); slices.Contains(got, ends) {
		t.Errorf("the area has left the list before its last requirement: %q", got)
	}
	edit(t, tree, "a2a/fuzz_test.go", "// REQ-ZZ-01", "// REQ-ZZ-01, REQ-ZZ-02")
	if got := news(t, tree); !slices.Contains(got, ends) {
		t.Errorf("no difference is %q among\n%s", ends, strings.Join(got, "\n"))
	}
}

// A test that is taken away leaves its requirement without one.
func TestRemovedTestIsNamed(t *testing.T) {
	tree := checkout(t)
	tests, _, err := conformance.Citations(tree)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(tree["conformance/requirements.tsv"].Data)) {
		cells := strings.Split(strings.TrimSpace(line), "\t")
		holders := tests[cells[0]]
		if len(cells) != 4 || cells[1] != "MUST" || len(holders) != 1 {
			continue
		}
		dir, name, inCode := strings.Cut(holders[0], ".")
		if !inCode || !remove(t, tree, dir, name) {
			continue
		}
		want := "requirement " + cells[0] + ": conformance/requirements.tsv: claimed MUST: " + cells[3] +
			", found no test (cite it in the test that holds it, or give a reason in conformance/pending.yaml)"
		if got := news(t, tree); !slices.Contains(got, want) {
			t.Errorf("without %s the differences are\n%s\nwant among them\n%s", holders[0], strings.Join(got, "\n"), want)
		}
		return
	}
	t.Fatal("no MUST is held by exactly one test function")
}

// remove takes a function and its comment out of the test files of a package.
func remove(t *testing.T, tree fstest.MapFS, dir, function string) bool {
	t.Helper()
	for name, file := range tree {
		if path.Dir(name) != dir || !strings.HasSuffix(name, "_test.go") {
			continue
		}
		fset := token.NewFileSet()
		parsed, err := parser.ParseFile(fset, name, file.Data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			fn, ok := decl.(*ast.FuncDecl)
			if !ok || fn.Recv != nil || fn.Name.Name != function {
				continue
			}
			from := fn.Pos()
			if fn.Doc != nil {
				from = fn.Doc.Pos()
			}
			text := string(file.Data[:fset.Position(from).Offset]) + string(file.Data[fset.Position(fn.End()).Offset:])
			tree[name] = &fstest.MapFile{Data: []byte(text)}
			return true
		}
	}
	return false
}

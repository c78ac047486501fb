package admin_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/admin"
)

// What is not as it should be is refused in words, and nothing is changed.
func TestRequestsAreStrict(t *testing.T) {
	o := newOffice(t, nil)
	o.do("POST", "/admin/apply", documents, nil, yaml)
	bytesOf := func(n int) string { return strings.Repeat("x", n) }
	for _, tt := range []struct {
		name, method, path, body string
		as                       ask
		status                   int
		code                     admin.Code
		words                    string // in the message or what to do next
	}{
		{"an unknown parameter", "GET", "/admin/resources?kinds=Agent", "", ask{}, 400, admin.CodeInvalid, `"kinds"`},
		{"what there is instead", "GET", "/admin/resources?kinds=Agent", "", ask{}, 400, admin.CodeInvalid, "kind, documents"},
		{"a parameter of another route", "GET", "/admin/status?limit=1", "", ask{}, 400, admin.CodeInvalid, "takes none"},
		{"a parameter twice", "GET", "/admin/tasks?limit=1&limit=2", "", ask{}, 400, admin.CodeInvalid, "more than once"},
		{"no query", "GET", "/admin/tasks?a=%zz", "", ask{}, 400, admin.CodeInvalid, "query"},
		{"no number", "GET", "/admin/tasks?limit=ten", "", ask{}, 400, admin.CodeInvalid, "limit is not a number from 0 to 1000"},
		{"too large a number", "GET", "/admin/tasks?limit=1001", "", ask{}, 400, admin.CodeInvalid, "1000"},
		{"a negative number", "GET", "/admin/tasks?before=-1", "", ask{}, 400, admin.CodeInvalid, "before"},
		{"no time", "GET", "/admin/audit?since=yesterday", "", ask{}, 400, admin.CodeInvalid, "2027-01-31"},
		{"no flag", "POST", "/admin/apply?dryRun=yes", "{}", ask{}, 400, admin.CodeInvalid, "true nor false"},
		{"none of the words", "GET", "/admin/tasks?state=working", "", ask{}, 400, admin.CodeInvalid, "TASK_STATE_WORKING"},
		{"no kind", "GET", "/admin/resources?kind=agents", "", ask{}, 400, admin.CodeInvalid, "RemoteClient"},

		{"a body that is not taken", "GET", "/admin/status", "{}", ask{}, 400, admin.CodeInvalid, "no body"},
		{"a body that is not taken by a change", "DELETE", "/admin/people/viewer", "{}", ask{}, 400, admin.CodeInvalid, "no body"},
		{"no body", "PUT", "/admin/people/ann", "", ask{}, 400, admin.CodeInvalid, "missing"},
		{"no JSON", "PUT", "/admin/people/ann", "{", ask{}, 400, admin.CodeInvalid, "not JSON"},
		{"an unknown member", "PUT", "/admin/people/ann", `{"role":"viewer","token":"` + secretMarker + `"}`, ask{}, 400, admin.CodeInvalid, `"/token"`},
		{"another type", "PUT", "/admin/people/ann", `{"role":7}`, ask{}, 400, admin.CodeInvalid, `"/role"`},
		{"a member twice", "PUT", "/admin/people/ann", `{"role":"viewer","role":"admin"}`, ask{}, 400, admin.CodeInvalid, "not JSON"},
		{"no time in a member", "POST", "/admin/clients/billing/keys", `{"notAfter":"` + secretMarker + `"}`, ask{}, 400, admin.CodeInvalid, "notAfter"},
		{"a text after the form", "PUT", "/admin/people/ann", `{"role":"viewer"} {}`, ask{}, 400, admin.CodeInvalid, "not JSON"},
		{"an end that has passed", "PUT", "/admin/people/ann", `{"role":"viewer","notAfter":"2020-01-01T00:00:00Z"}`, ask{}, 400, admin.CodeInvalid, "ended already"},

		{"a secret as a form", "PUT", "/admin/secrets/a", secretMarker, ask{media: "application/x-www-form-urlencoded"}, 415, admin.CodeMediaType, admin.TypeBytes},
		{"a secret as JSON", "PUT", "/admin/secrets/a", secretMarker, ask{}, 415, admin.CodeMediaType, admin.TypeBytes},
		{"documents as a text", "POST", "/admin/apply", documents, ask{media: "text/plain"}, 415, admin.CodeMediaType, admin.TypeYAML},
		{"too large a secret", "PUT", "/admin/secrets/a", bytesOf(admin.MaxSecret + 1), ask{media: admin.TypeBytes}, 413, admin.CodeTooLarge, "65536"},
		{"too large a form", "PUT", "/admin/people/ann", bytesOf(admin.MaxForm + 1), ask{}, 413, admin.CodeTooLarge, "65536"},
		{"too many documents", "POST", "/admin/apply", bytesOf(admin.MaxDocuments + 1), yaml, 413, admin.CodeTooLarge, "4194304"},
		{"no documents", "POST", "/admin/apply?prune=true", "# nothing\n", yaml, 400, admin.CodeInvalid, "no documents"},
		{"no documents at all", "POST", "/admin/apply?prune=true", "", ask{}, 400, admin.CodeInvalid, "no documents"},
		{"no files", "POST", "/admin/apply?prune=true", `{"files":[]}`, ask{media: admin.TypeFiles}, 400, admin.CodeInvalid, "no documents"},
		{"a file with a long name", "POST", "/admin/apply", `{"files":[{"name":"` + bytesOf(1025) + `","text":""}]}`, ask{media: admin.TypeFiles}, 400, admin.CodeInvalid, "too long"},
		{"too many files", "POST", "/admin/apply", `{"files":[` + strings.Repeat(`{"name":"","text":""},`, 1000) + `{"name":"","text":""}]}`, ask{media: admin.TypeFiles}, 400, admin.CodeInvalid, "too many"},
		{"files of another form", "POST", "/admin/apply", `{"file":""}`, ask{media: admin.TypeFiles}, 400, admin.CodeInvalid, `"/file"`},

		{"no such path", "GET", "/admin/nothing", "", ask{}, 404, admin.CodeNotFound, "openapi.json"},
		{"the root", "GET", "/", "", ask{}, 404, admin.CodeNotFound, "no such path"},
		{"a slash too many", "GET", "/admin/status/", "", ask{}, 404, admin.CodeNotFound, "no such path"},
		{"a path that is not clean", "GET", "/admin//status", "", ask{}, 404, admin.CodeNotFound, "no such path"},
		{"a path that goes back", "GET", "/admin/x/../status", "", ask{}, 404, admin.CodeNotFound, "no such path"},
		{"another method", "POST", "/admin/status", "", ask{}, 405, admin.CodeMethod, "GET"},
		{"another method of two", "PATCH", "/admin/people/ann", "", ask{}, 405, admin.CodeMethod, "PUT, DELETE"},
		{"another method of the description", "POST", "/openapi.json", "", ask{}, 405, admin.CodeMethod, "GET"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := o.send(tt.method, tt.path, tt.body, tt.as)
			refusal := got.refusal(t)
			if got.status != tt.status || refusal.Code != tt.code || !strings.Contains(refusal.Message+" "+refusal.Next, tt.words) {
				t.Errorf("%d %s, want %d %s and %q", got.status, got.body, tt.status, tt.code, tt.words)
			}
			if got.status == http.StatusMethodNotAllowed && got.header.Get("Allow") != strings.TrimPrefix(refusal.Next, "it takes ") {
				t.Errorf("Allow is %q", got.header.Get("Allow"))
			}
		})
	}
	if got := get[admin.Status](o, "/admin/status"); got.Revision != 1 || got.Resources != 6 {
		t.Errorf("afterwards there are %+v", got)
	}
	if got := get[admin.People](o, "/admin/people"); len(got.People) != 4 {
		t.Errorf("afterwards there are %d people", len(got.People))
	}
	if got := get[admin.Secrets](o, "/admin/secrets"); len(got.Secrets) != 0 {
		t.Errorf("afterwards there are secrets: %+v", got)
	}
}

func TestProblemsHaveTheirPlace(t *testing.T) {
	o := newOffice(t, nil)
	named := ask{media: admin.TypeYAML, header: http.Header{admin.HeaderFile: {"agents/support.yaml"}}}
	failure := o.refuses("POST", "/admin/apply", "kind: Provider\nname: local\nspec:\n  type: eco\n", named, 422, admin.CodeProblems)
	if len(failure.Problems) != 1 {
		t.Fatalf("problems = %+v", failure.Problems)
	}
	got := failure.Problems[0]
	if got.File != "agents/support.yaml" || got.Line != 4 || got.Column != 9 || got.Document != "Provider/local" || got.Path != "spec.type" || got.Words == "" {
		t.Errorf("problem = %+v", got)
	}
	two := `{"files":[{"name":"a.yaml","text":"kind: Provider\nname: a\nspec: {type: eco}\n"},{"name":"b.yaml","text":"kind: Secret\nname: B\n"}]}`
	var files []string
	for _, p := range o.refuses("POST", "/admin/apply", two, ask{media: admin.TypeFiles}, 422, admin.CodeProblems).Problems {
		files = append(files, p.File)
	}
	if diff := cmp.Diff([]string{"a.yaml", "b.yaml"}, files); diff != "" {
		t.Errorf("files of problems (-want +got):\n%s", diff)
	}
	var done admin.Applied
	two = `{"files":[{"name":"a.yaml","text":"kind: Provider\nname: a\nspec: {type: echo}\n"},{"name":"b.json","text":"{\"kind\":\"Configuration\",\"name\":\"b\",\"spec\":{\"provider\":\"a\"}}"}]}`
	o.do("POST", "/admin/apply", two, &done, ask{media: admin.TypeFiles})
	if len(done.Changes) != 2 {
		t.Errorf("changes = %+v", done.Changes)
	}
	// One that the command line published is told apart, and not exported.
	if _, err := o.registry.Publish(t.Context(), decode(t, "kind: Provider\nname: typed\nspec: {type: echo}\n"), noPrograms); err != nil {
		t.Fatal(err)
	}
	if got := get[admin.Resource](o, "/admin/resources/Provider/typed"); !got.Published {
		t.Errorf("resource = %+v", got)
	}
	if got := o.do("GET", "/admin/export", "", nil, ask{}); strings.Contains(string(got.body), "typed") {
		t.Errorf("what the command line published is exported: %s", got.body)
	}
	o.do("GET", "/admin/export?kind=Provider&name=typed", "", nil, ask{})
	o.refuses("DELETE", "/admin/resources/Provider/typed", "", ask{}, 422, admin.CodeProblems)
}

// A key that is issued while another administrator changes the client is not
// lost, nor is the change.
func TestKeysAreIssuedAtOnce(t *testing.T) {
	o := newOffice(t, nil)
	o.do("POST", "/admin/apply", documents, nil, yaml)
	results := make(chan answer, 8)
	for range cap(results) {
		go func() { results <- o.send("POST", "/admin/clients/billing/keys", "", ask{}) }()
	}
	for range cap(results) {
		if got := <-results; got.status != 200 && got.status != 409 {
			t.Errorf("%d %s", got.status, got.body)
		}
	}
	issued := len(get[admin.Audit](o, "/admin/audit?operation=key+issue").Entries)
	if keys := get[admin.ClientKeys](o, "/admin/clients/billing/keys").Keys; len(keys) != issued || issued == 0 {
		t.Errorf("%d keys, and %d were issued", len(keys), issued)
	}
}

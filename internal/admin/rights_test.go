package admin_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/admin"
	"github.com/legation/legation/internal/audit"
)

// everyRoute is every route, and which roles may use it. The body is one with
// which nothing is changed.
var everyRoute = []struct {
	method, path string // as it is described
	body         string
	roles        string
}{
	{"GET", "/admin/status", "", "admin approver operator viewer"},
	{"GET", "/admin/resources", "", "admin approver operator viewer"},
	{"GET", "/admin/resources/{kind}/{name}", "", "admin approver operator viewer"},
	{"DELETE", "/admin/resources/{kind}/{name}", "", "admin"},
	{"POST", "/admin/apply", "{}", "admin"},
	{"GET", "/admin/export", "", "admin approver operator viewer"},
	{"GET", "/admin/schemas/{kind}", "", "admin approver operator viewer"},
	{"GET", "/admin/secrets", "", "admin approver operator viewer"},
	{"PUT", "/admin/secrets/{name}", "{}", "admin"},
	{"DELETE", "/admin/secrets/{name}", "", "admin"},
	{"GET", "/admin/secrets/{name}/versions", "", "admin approver operator viewer"},
	{"GET", "/admin/secrets/{name}/uses", "", "admin approver operator viewer"},
	{"POST", "/admin/secrets/rotate", "", "admin"},
	{"GET", "/admin/clients/{name}/keys", "", "admin approver operator viewer"},
	{"POST", "/admin/clients/{name}/keys", "{}", "admin"},
	{"DELETE", "/admin/clients/{name}/keys/{id}", "", "admin"},
	{"POST", "/admin/clients/{name}/check", "", "admin operator"},
	{"GET", "/admin/agents", "", "admin approver operator viewer"},
	{"GET", "/admin/agents/{name}", "", "admin approver operator viewer"},
	{"POST", "/admin/agents/{name}/check", "", "admin operator"},
	{"POST", "/admin/agents/{name}/accept", "{}", "admin"},
	{"GET", "/admin/tasks", "", "admin approver operator viewer"},
	{"GET", "/admin/tasks/{id}", "", "admin approver operator viewer"},
	{"GET", "/admin/tasks/{id}?content=true", "", "admin"},
	{"POST", "/admin/tasks/{id}/cancel", "", "admin operator"},
	{"GET", "/admin/audit", "", "admin approver operator viewer"},
	{"GET", "/admin/audit/evidence", "", "admin approver operator viewer"},
	{"GET", "/admin/people", "", "admin approver operator viewer"},
	{"PUT", "/admin/people/{name}", "{}", "admin"},
	{"DELETE", "/admin/people/{name}", "", "admin"},
}

// Every route is for who has the permission, and for nobody else.
func TestRights(t *testing.T) {
	o := newOffice(t, nil)
	known := map[string]bool{}
	for _, one := range everyRoute {
		template, _, _ := strings.Cut(one.path, "?")
		known[one.method+" "+template] = true
		path := strings.NewReplacer("{kind}", "Agent", "{name}", "nobody", "{id}", "none").Replace(one.path)
		for _, who := range []string{"nobody", "admin", "approver", "operator", "viewer"} {
			o.clock.advance(time.Minute) // so that refusals do not add up
			got := o.send(one.method, path, one.body, ask{who: who})
			want := "served"
			switch {
			case who == "nobody":
				want = "unauthenticated"
			case !strings.Contains(" "+one.roles+" ", " "+who+" "):
				want = "forbidden"
			}
			result := "served"
			if got.status == http.StatusUnauthorized || got.status == http.StatusForbidden {
				result = string(got.refusal(t).Code)
			} else if got.status >= 500 {
				t.Errorf("%s %s as %s: %d %s", one.method, one.path, who, got.status, got.body)
			}
			if result != want {
				t.Errorf("%s %s as %s is %s, want %s", one.method, one.path, who, result, want)
			}
		}
	}
	described := map[string]bool{}
	for path, methods := range description.Paths {
		for method := range methods {
			described[strings.ToUpper(method)+" "+path] = true
		}
	}
	if diff := cmp.Diff(described, known); diff != "" {
		t.Errorf("routes (-described +tried):\n%s", diff)
	}
}

func TestWhoIsNotLetIn(t *testing.T) {
	o := newOffice(t, nil)
	_, ended, err := o.people.Put(t.Context(), "legation", "ended", "admin", o.clock.now().Add(time.Second))
	if err != nil {
		t.Fatal(err)
	}
	o.clock.advance(2 * time.Second)
	authorization := func(values ...string) ask { return ask{header: http.Header{"Authorization": values}} }
	const plain, wrong = `Bearer realm="legation admin"`, `Bearer realm="legation admin", error="invalid_token"`
	for name, tt := range map[string]struct {
		as        ask
		challenge string
		reason    string
	}{
		"no token":        {ask{who: "nobody"}, plain, "credential_missing"},
		"another scheme":  {authorization("Basic " + o.tokens["admin"]), plain, "credential_missing"},
		"no scheme":       {authorization(o.tokens["admin"]), plain, "credential_missing"},
		"two":             {authorization("Bearer "+o.tokens["admin"], "Bearer "+o.tokens["admin"]), wrong, "credential_ambiguous"},
		"a wrong token":   {ask{token: secretMarker}, wrong, "credential_unknown"},
		"an ended token":  {ask{token: ended}, wrong, "credential_expired"},
		"an empty token":  {authorization("Bearer "), wrong, "credential_unknown"},
		"of a client":     {ask{token: "lgn_" + o.tokens["admin"][4:]}, wrong, "credential_unknown"},
		"in a cookie":     {ask{who: "nobody", header: http.Header{"Cookie": {"token=" + o.tokens["admin"]}}}, plain, "credential_missing"},
		"as an API key":   {ask{who: "nobody", header: http.Header{"X-Api-Key": {o.tokens["admin"]}}}, plain, "credential_missing"},
		"from a web page": {ask{who: "nobody", header: http.Header{"Origin": {"https://evil.example"}}}, plain, "credential_missing"},
	} {
		o.clock.advance(time.Minute)
		o.refuses("GET", "/admin/status", "", tt.as, 401, admin.CodeUnauthenticated)
		got := o.send("GET", "/admin/status", "", tt.as)
		if challenge := got.header.Get("WWW-Authenticate"); challenge != tt.challenge {
			t.Errorf("%s: challenge %q, want %q", name, challenge, tt.challenge)
		}
		last := get[admin.Audit](o, "/admin/audit?limit=1").Entries[0]
		if last.Outcome != "refused" || last.Reason != tt.reason || last.Operation != "status" {
			t.Errorf("%s: the audit tells of %+v, want reason %s", name, last, tt.reason)
		}
	}
	if got := o.send("OPTIONS", "/admin/status", "", ask{who: "nobody", header: http.Header{"Origin": {"https://evil.example"}}}); got.status != 405 {
		t.Errorf("a preflight is answered with %d", got.status)
	}
	o.do("GET", "/admin/status", "", nil, ask{header: http.Header{"Authorization": {"bearer  " + o.tokens["viewer"]}}})
}

func TestRefusalsAreLimited(t *testing.T) {
	o := newOffice(t, nil)
	refused := func() int { return o.send("GET", "/admin/status", "", ask{token: "wrong"}).status }
	for i := range 20 {
		if got := refused(); got != 401 {
			t.Fatalf("refusal %d is answered with %d", i+1, got)
		}
	}
	got := o.send("GET", "/admin/status", "", ask{token: "wrong"})
	if got.status != 429 || got.refusal(t).Code != admin.CodeTooMany || got.header.Get("Retry-After") != "3" {
		t.Errorf("one more: %d, to be tried again after %q", got.status, got.header.Get("Retry-After"))
	}
	o.refuses("DELETE", "/admin/people/admin", "", ask{who: "viewer"}, 429, admin.CodeTooMany)
	o.do("GET", "/admin/status", "", nil, ask{}) // who has a good token is let in all the same
	if entries := get[admin.Audit](o, "/admin/audit?outcome=refused").Entries; len(entries) != 20 {
		t.Errorf("%d refusals are in the audit, want 20", len(entries))
	}
	o.clock.advance(time.Minute)
	if got := refused(); got != 401 {
		t.Errorf("a minute later: %d", got)
	}
}

// A web page whose name was made to resolve to the loopback is not served.
func TestHostIsTheLoopback(t *testing.T) {
	o := newOffice(t, func(cfg *admin.Config) { cfg.Hosts = []string{"admin.example"} })
	port := o.url[strings.LastIndex(o.url, ":"):]
	for host, served := range map[string]bool{
		"localhost" + port: true, "LOCALHOST": true, "127.0.0.1": true, "127.0.0.2" + port: true, "[::1]" + port: true, "[::1]": true,
		"admin.example" + port: true, "Admin.Example": true,
		"evil.example" + port: false, "localhost.evil.example": false, "127.0.0.1.evil.example": false, "192.0.2.1" + port: false,
		"admin.example.evil": false,
	} {
		for _, path := range []string{"/admin/status", "/openapi.json"} {
			got := o.send("GET", path, "", ask{host: host})
			if (got.status == 200) != served || !served && got.refusal(t).Code != admin.CodeHost {
				t.Errorf("%s of host %s: %d", path, host, got.status)
			}
		}
	}
}

func TestPeopleAreKnownInTheAudit(t *testing.T) {
	o := newOffice(t, nil)
	o.do("POST", "/admin/apply", documents, nil, yaml)
	for _, one := range get[admin.Audit](o, "/admin/audit?operation=apply").Entries {
		if one.Who != "admin" || one.Outcome != string(audit.Done) || one.Hash == "" {
			t.Errorf("entry = %+v", one)
		}
	}
	o.refuses("POST", "/admin/apply", documents, ask{who: "viewer", media: admin.TypeYAML}, 403, admin.CodeForbidden)
	last := get[admin.Audit](o, "/admin/audit?limit=1").Entries[0]
	if last.Who != "viewer" || last.Outcome != string(audit.Refused) || last.Reason != "role_not_allowed" || last.Operation != "apply" {
		t.Errorf("entry of a refusal = %+v", last)
	}
}

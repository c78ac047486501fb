package app_test

import (
	"database/sql"
	"encoding/hex"
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/app"
	"github.com/legation/legation/internal/registry"
)

// What the registry takes the directory takes whole; and what the registry does
// not take keeps nobody else out.
func TestWhatIsRegisteredIsTakenWhole(t *testing.T) {
	one, two := newAuthority(t, "one").pem(), newAuthority(t, "two").pem()
	headed := strings.Replace(one, "-----\n", "-----\nComment: x\n\n", 1)
	zeros, digest, other := strings.Repeat("0", 64), strings.Repeat("a", 64), strings.Repeat("b", 64)
	of := func(r *rapid.T, of string, values ...string) string { return rapid.SampledFrom(values).Draw(r, of) }
	// Many of one kind, so that what does not go together meets.
	count := func(r *rapid.T, kind, many string) int {
		if kind == many {
			return rapid.IntRange(1, 3).Draw(r, kind)
		}
		return 0
	}
	client := func(r *rapid.T, name registry.Name) registry.Document {
		many := of(r, "many", "keys", "tokens", "certificates", "certificates")
		spec := &registry.RemoteClient{Enabled: true}
		held := &spec.Credentials
		for range count(r, "keys", many) {
			held.APIKeys = append(held.APIKeys, registry.APIKey{
				ID: registry.KeyID(of(r, "id", "k1", "k2", "k3")), SHA256: registry.SHA256(of(r, "sha256", digest, other, zeros)),
			})
		}
		for range count(r, "tokens", many) {
			identity := registry.OIDC{
				Issuer:          registry.URL(of(r, "issuer", "https://id.example", "https://id.example/", "https://ID.example", "https://id.example?", "https://id.example/#x")),
				Audience:        of(r, "audience", "us", "them"),
				AuthorizedParty: of(r, "azp", "", "app"), Subject: of(r, "sub", "", "ada", "bob"),
			}
			if rapid.Bool().Draw(r, "algorithms") {
				identity.Algorithms = []registry.TokenAlgorithm{registry.TokenAlgorithm(of(r, "algorithm", "RS256", "EdDSA"))}
			}
			held.OIDC = append(held.OIDC, identity)
		}
		for range count(r, "certificates", many) {
			identity := registry.MTLS{SPKI: registry.SHA256(of(r, "spki", digest, other, zeros))}
			if rapid.Bool().Draw(r, "named") {
				identity = registry.MTLS{
					SAN:   registry.SAN(of(r, "san", "dns:a.example", "dns:A.example", "uri:urn:a", "email:a@a.example", "ip:::1", "ip:fe80::1%eth0")),
					Roots: of(r, "roots", one, two, one+"\n"+two, headed),
				}
			}
			held.MTLS = append(held.MTLS, identity)
		}
		return registry.Document{Kind: registry.KindRemoteClient, Name: name, Spec: spec}
	}
	text, key := access.Issue()
	taken := 0
	rapid.Check(t, func(r *rapid.T) {
		var docs []registry.Document
		for _, name := range []registry.Name{"ann", "ben"} {
			docs = append(docs, client(r, name))
		}
		directory, err := access.NewDirectory(access.Config{})
		if err != nil {
			r.Fatal(err)
		}
		// The registry's own documents, or, if it refuses them, what it was given.
		set := registry.Set{Documents: docs}
		read, err := registry.Decode("", registry.EncodeYAML(docs...))
		var plan registry.Plan
		if err == nil {
			plan, err = registry.NewPlan(registry.Set{}, read, registry.Options{})
		}
		if err == nil {
			set = plan.Set()
		}
		good := access.Client{Name: "good", Enabled: true, Keys: []access.APIKey{key}}
		_, omitted := directory.Set(append(app.Clients(set, 0), good))
		if err == nil {
			taken++
			if len(omitted) > 0 {
				r.Errorf("the registry takes what the directory leaves out: %v\n%s", omitted, registry.EncodeYAML(docs...))
			}
		}
		attempt := access.Attempt{Address: netip.MustParseAddr("192.0.2.1"), Header: map[string][]string{access.HeaderKey: {text}}}
		if caller, err := directory.Authenticate(t.Context(), attempt); err != nil || caller.Name != "good" {
			r.Errorf("Authenticate() = %q, %v, want good", caller.Name, err)
		}
	})
	if taken == 0 {
		t.Error("the registry takes nothing, so this shows nothing")
	}
}

// A document that got into the store with what another has lets nobody in by it,
// says so, and keeps nobody else out.
func TestAClientThatIsLeftOut(t *testing.T) {
	_, shared := access.Issue()
	secret, spare := access.Issue()
	document := func(name string, keys ...access.APIKey) string {
		var all []string
		for _, key := range keys {
			all = append(all, fmt.Sprintf("{id: %s, sha256: %q}", key.ID, hex.EncodeToString(key.SHA256[:])))
		}
		return remoteClient(name, "apiKeys: ["+strings.Join(all, ", ")+"]", "desk/open", "")
	}
	_, other := access.Issue()
	h := build(t, document("ann", shared), document("ben", other, spare))
	h.stop()
	db, err := sql.Open("sqlite", filepath.Join(h.cfg.Data, "legation.db"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.Exec("UPDATE documents SET body = CAST(replace(CAST(body AS TEXT), ?1, ?2) AS BLOB) WHERE name = 'ben'", other.ID, shared.ID); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	h = move(t, h.cfg, app.Options{})
	want := []string{fmt.Sprintf("this credential lets nobody in: client %q has a key of the same id %q", "ann", shared.ID)}
	got := h.resource("RemoteClient", "ben")
	if diff := cmp.Diff(want, got.Reasons); got.State != "inert" || diff != "" {
		t.Errorf("it is %s (-want +got):\n%s", got.State, diff)
	}
	if got := h.resource("RemoteClient", "ann"); got.State != "ready" {
		t.Errorf("the other is %s: %v", got.State, got.Reasons)
	}
	if got := h.call(bearer(secret), "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
		t.Errorf("by its other key: %d %s", got.status, got.body)
	}
}

// --max-body is for clients too, unless the registration says something else.
func TestLargestRequest(t *testing.T) {
	cfg := settings(t)
	cfg.MaxBody = 2 << 10
	h := move(t, cfg, app.Options{})
	h.apply(furniture, remoteClient("as-all", "", "desk/open", ""),
		remoteClient("more", "", "desk/open", "  limits: {body: 8KiB}\n"), remoteClient("less", "", "desk/open", "  limits: {body: 1KiB}\n"))
	for client, largest := range map[string]int{"as-all": 2 << 10, "more": 8 << 10, "less": 1 << 10} {
		p := bearer(h.key(client).Key)
		for size, want := range map[int]int{largest / 2: 200, largest: 413} {
			if got := h.call(p, "/", a2a.MethodSendMessage, said(strings.Repeat("x", size))); got.status != want {
				t.Errorf("%s: a text of %d bytes: %d, want %d", client, size, got.status, want)
			}
		}
	}
}

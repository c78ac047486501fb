package app_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/app"
)

// The columns of the matrix of credentials. What is rotated is presented while
// the old and the new are valid, then the old again after it was withdrawn.
var columns = []string{"right", "wrong", "expired", "revoked", "audience", "authority", "stranger", "rotated", "withdrawn", "none"}

// The cells of the matrix: let in, or the reason that the audit has, or that
// there is no such thing.
const (
	in     = "in"
	absent = "-"
)

// matrix says for every kind of credential what becomes of it.
const matrix = `
            right  wrong                 expired             revoked             audience              authority                stranger       rotated  withdrawn              none
key         in     credential_malformed  credential_expired  credential_revoked  -                     credential_unknown       -              in       credential_revoked     credential_missing
key-bearer  in     credential_malformed  credential_expired  credential_revoked  -                     credential_unknown       -              in       credential_revoked     credential_missing
oidc-azp    in     token_party_unknown   credential_expired  -                   token_audience_wrong  token_issuer_unknown     -              in       token_party_unknown    credential_missing
oidc-sub    in     token_party_unknown   credential_expired  -                   token_audience_wrong  token_signature_invalid  -              in       token_party_unknown    credential_missing
mtls-key    in     credential_unknown    credential_expired  -                   -                     in                       -              in       credential_unknown     credential_missing
mtls-name   in     credential_unknown    credential_expired  -                   -                     certificate_untrusted    -              in       certificate_untrusted  credential_missing
mtls-proxy  in     credential_unknown    credential_expired  -                   -                     certificate_untrusted    proxy_unknown  in       certificate_untrusted  credential_missing
`

// impossible says of what there is no such thing, and why.
var impossible = map[string]string{
	"key/audience": "a key is made by this server for itself",
	"key/stranger": "nobody stands between",

	"oidc/revoked":  "an issuer is not asked for each token; the identity is withdrawn in its place",
	"oidc/stranger": "nobody stands between",

	"mtls/revoked":  "there are no lists of revoked certificates; the identity is withdrawn in its place",
	"mtls/audience": "a certificate names nobody whom it is for",
	"mtls/stranger": "whoever presents a certificate has its key",
}

// holder is a client with one kind of credential in all its forms.
type holder struct {
	documents string           // with what was replaced
	replaced  string           // without it
	shown     map[string]proof // by column
	declares  []string         // names of security schemes on the card
}

// TestEveryCredential presents what there is of every kind. REQ-SEC-06,
// REQ-SEC-07, REQ-SEC-08: the answer to whoever is not let in is HTTP 401 with a
// challenge; REQ-GEN-05, REQ-GEN-06: what was withdrawn is refused at once, and
// what replaces it is not; REQ-XCARD-05: the card declares the scheme.
func TestEveryCredential(t *testing.T) {
	proxy := newAuthority(t, "proxy").issue(newKey(t), "urn:example:proxy", time.Hour)
	first, second := newIssuer(t), newIssuer(t)
	ours, renewed, theirs := newAuthority(t, "ours"), newAuthority(t, "renewed"), newAuthority(t, "theirs")
	holders := map[string]func(t *testing.T) holder{
		"key":        func(t *testing.T) holder { return keys(t, func(key string) proof { return headed("X-Api-Key", key) }) },
		"key-bearer": func(t *testing.T) holder { return keys(t, bearer) },
		"oidc-azp":   func(*testing.T) holder { return tokens(first, second, "authorizedParty") },
		"oidc-sub":   func(*testing.T) holder { return tokens(first, second, "subject") },
		"mtls-key":   func(t *testing.T) holder { return pinned(t, ours, theirs) },
		"mtls-name":  func(t *testing.T) holder { return named(t, ours, renewed, theirs, presented) },
		"mtls-proxy": func(t *testing.T) holder {
			h := named(t, ours, renewed, theirs, func(c *tls.Certificate) proof { return forwarded(proxy, c) })
			h.shown["stranger"] = forwarded(ours.issue(newKey(t), "urn:example:stranger", time.Hour), h.shown["direct"].certificate)
			h.shown["none"] = presented(proxy)
			return h
		},
	}
	for line := range strings.Lines(strings.TrimSpace(matrix)) {
		fields := strings.Fields(line)
		if fields[0] == "right" {
			if !slices.Equal(fields, columns) {
				t.Fatalf("the matrix has the columns %q", fields)
			}
			continue
		}
		t.Run(fields[0], func(t *testing.T) {
			t.Parallel()
			present(t, fields[0], holders[fields[0]](t), fields[1:], "edge,spki="+pinOf(proxy))
		})
	}
}

// present presents everything that a holder has to a server of its own.
func present(t *testing.T, kind string, by holder, cells []string, proxy string) {
	cfg := settings(t)
	cfg.ClientProxies = []string{proxy}
	certificate, key := issue(t, "server")
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	h := move(t, cfg, app.Options{TLS: &tls.Config{Certificates: []tls.Certificate{pair}}})
	h.roots = x509.NewCertPool()
	h.roots.AppendCertsFromPEM(certificate)
	h.apply(furniture, by.documents)

	var card struct {
		Schemes map[string]any `json:"securitySchemes"`
	}
	decode(t, h.card("").body, &card)
	if diff := cmp.Diff(by.declares, slices.Sorted(maps.Keys(card.Schemes))); diff != "" {
		t.Errorf("the card declares (-want +got):\n%s", diff)
	}

	reasons := map[string]int64{}
	accepted := 0
	for i, column := range columns {
		cell := cells[i]
		p, shown := by.shown[column]
		if cell == absent {
			family, _, _ := strings.Cut(kind, "-")
			if impossible[family+"/"+column] == "" || shown {
				t.Errorf("%s: nobody says why there is no such thing", column)
			}
			continue
		}
		if !shown && column != "none" {
			t.Errorf("%s: there is none", column)
			continue
		}
		if column == "withdrawn" {
			h.apply(by.replaced)
		}
		got := h.call(p, "/", a2a.MethodSendMessage, said("hello"))
		if cell == in {
			accepted++
			if task := got.task(); got.status != 200 || task.Status.State != a2a.TaskStateCompleted {
				t.Errorf("%s: %d %s", column, got.status, got.body)
			}
			continue
		}
		reasons[cell]++
		challenge := `Bearer realm="legation"`
		if cell != "credential_missing" {
			challenge += `, error="invalid_token", error_description="` + got.Error.Message + `"`
		}
		if got.status != 401 || got.header.Get("WWW-Authenticate") != challenge || got.Error.Code != a2a.CodeInvalidRequest ||
			string(got.ID) != "null" || got.Error.Message == "" || len(got.Result) > 0 {
			t.Errorf("%s: %d %q %s\nwant 401 %q", column, got.status, got.header.Get("WWW-Authenticate"), got.body, challenge)
		}
		if column == "withdrawn" {
			if got := h.call(by.shown["rotated"], "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
				t.Errorf("what replaced it: %d %s", got.status, got.body)
			}
			accepted++
		}
	}

	entries := h.evidence(a2a.MethodSendMessage, "done", accepted)
	if len(entries) != accepted {
		t.Errorf("%d messages in the audit, want %d", len(entries), accepted)
	}
	for _, entry := range entries {
		if entry.Who != "partner" || entry.KeyID == "" || entry.TaskID == "" || entry.Hash == "" {
			t.Errorf("the audit has %+v", entry)
		}
	}
	got := map[string]int64{}
	for of, n := range h.refusals("authenticate") {
		got[strings.TrimPrefix(of, "partner ")] += n
	}
	if diff := cmp.Diff(reasons, got); diff != "" {
		t.Errorf("refusals in the audit (-want +got):\n%s", diff)
	}
}

// partner is the client that has the credentials.
func partner(credentials ...string) string {
	return remoteClient("partner", strings.Join(credentials, ", "), "desk/open", "")
}

// keys are a client's API keys.
func keys(_ *testing.T, show func(key string) proof) holder {
	h := holder{shown: map[string]proof{}, declares: []string{"apiKey", "bearerKey"}}
	issued := map[string]access.APIKey{}
	for _, column := range []string{"right", "expired", "revoked", "withdrawn", "rotated", "authority"} {
		text, key := access.Issue()
		h.shown[column], issued[column] = show(text), key
		if column == "right" {
			h.shown["wrong"] = show(text[:len(text)-1])
		}
	}
	document := func(withdrawn bool) string {
		var all []string
		for _, column := range []string{"right", "expired", "revoked", "withdrawn", "rotated"} {
			key := issued[column]
			more := ""
			switch {
			case column == "expired":
				more = fmt.Sprintf(", notAfter: %q", time.Now().Add(-time.Second).UTC().Format(time.RFC3339))
			case column == "revoked", column == "withdrawn" && withdrawn:
				more = ", revoked: true"
			}
			all = append(all, fmt.Sprintf("{id: %q, sha256: %q%s}", key.ID, hex.EncodeToString(key.SHA256[:]), more))
		}
		return partner("apiKeys: [" + strings.Join(all, ", ") + "]")
	}
	h.documents, h.replaced = document(false), document(true)
	return h
}

// tokens are those of an issuer for a client that is known by a claim.
func tokens(ours, theirs *issuer, by string) holder {
	good, other := ours.claims("old", "somebody"), ours.claims("new", "somebody")
	wrong := ours.claims("another", "somebody")
	foreign := theirs.claims("old", "somebody")
	if by == "subject" {
		good, other = ours.claims("", "old"), ours.claims("", "new")
		wrong = ours.claims("old", "another")
		foreign = good // signed by somebody else in the issuer's name
	}
	return holder{
		documents: partner("oidc: [" + ours.identity(by, "old") + ", " + ours.identity(by, "new") + "]"),
		replaced:  partner("oidc: [" + ours.identity(by, "new") + "]"),
		declares:  []string{"oidc"},
		shown: map[string]proof{
			"right":     ours.token(good),
			"wrong":     ours.token(wrong),
			"expired":   ours.token(good.with("exp", time.Now().Add(-2*time.Second).Unix())),
			"rotated":   ours.token(other),
			"withdrawn": ours.token(good),
			"audience":  ours.token(good.with("aud", "another")),
			"authority": theirs.token(foreign),
		},
	}
}

// pinned are certificates of a client that is known by their keys. Who signed
// them does not matter.
func pinned(t *testing.T, ours, theirs *authority) holder {
	t.Helper()
	key := newKey(t)
	const name = "urn:example:partner"
	old, next := ours.issue(key, name, time.Hour), ours.issue(newKey(t), name, time.Hour)
	return holder{
		documents: partner(fmt.Sprintf("mtls: [{spki: %q}, {spki: %q}]", pinOf(old), pinOf(next))),
		replaced:  partner(fmt.Sprintf("mtls: [{spki: %q}]", pinOf(next))),
		declares:  []string{"mtls"},
		shown: map[string]proof{
			"right":     presented(old),
			"wrong":     presented(ours.issue(newKey(t), name, time.Hour)),
			"expired":   presented(ours.issue(key, name, -time.Second)),
			"rotated":   presented(next),
			"withdrawn": presented(old),
			"authority": presented(theirs.issue(key, name, time.Hour)),
		},
	}
}

// named are certificates of a client that is known by a name for which its
// authorities vouch.
func named(t *testing.T, ours, renewed, theirs *authority, show func(*tls.Certificate) proof) holder {
	t.Helper()
	const name = "urn:example:partner"
	roots := func(all ...*authority) string {
		var text strings.Builder
		for _, one := range all {
			text.WriteString(one.pem())
		}
		return partner(fmt.Sprintf("mtls: [{san: %q, roots: %q}]", "uri:"+name, text.String()))
	}
	old := ours.issue(newKey(t), name, time.Hour)
	return holder{
		documents: roots(ours, renewed),
		replaced:  roots(renewed),
		declares:  []string{"mtls"},
		shown: map[string]proof{
			"direct":    presented(old),
			"right":     show(old),
			"wrong":     show(ours.issue(newKey(t), "urn:example:another", time.Hour)),
			"expired":   show(ours.issue(newKey(t), name, -time.Second)),
			"rotated":   show(renewed.issue(newKey(t), name, time.Hour)),
			"withdrawn": show(old),
			"authority": show(theirs.issue(newKey(t), name, time.Hour)),
		},
	}
}

// TestNothingIsDoneForStrangers is REQ-SEC-06 and REQ-SEC-07 for all operations,
// and REQ-XCARD-03 for the extended card.
func TestNothingIsDoneForStrangers(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""))
	if len(a2a.Methods()) != 11 {
		t.Fatalf("there are %d operations", len(a2a.Methods()))
	}
	for _, method := range a2a.Methods() {
		got := h.call(proof{}, "/", method, said("hello"))
		if got.status != 401 || got.header.Get("WWW-Authenticate") != `Bearer realm="legation"` || got.Error.Code != a2a.CodeInvalidRequest {
			t.Errorf("%s: %d %q %s", method, got.status, got.header.Get("WWW-Authenticate"), got.body)
		}
	}
	if diff := cmp.Diff(map[string]int64{"credential_missing": 11}, h.refusals("authenticate")); diff != "" {
		t.Errorf("the audit has (-want +got):\n%s", diff)
	}
}

// TestTwoCredentialsAreNone refuses whoever leaves open which of two counts.
func TestTwoCredentialsAreNone(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""))
	key := h.key("partner").Key
	both := bearer(key)
	both.header.Set("X-Api-Key", key)
	got := h.call(both, "/", a2a.MethodSendMessage, said("hello"))
	if got.status != 401 || !strings.Contains(got.header.Get("WWW-Authenticate"), `error="invalid_request"`) {
		t.Errorf("%d %q %s", got.status, got.header.Get("WWW-Authenticate"), got.body)
	}
}

// TestGuessing is REQ-GEN-07: whoever tries credentials is slowed down, which is
// written down in few entries, and locks nobody out who has a good one.
func TestGuessing(t *testing.T) {
	h := build(t, remoteClient("partner", "", "desk/open", ""))
	good := bearer(h.key("partner").Key)
	refused, slowed := 0, 0
	for slowed < 5 {
		guess, _ := access.Issue()
		switch got := h.call(bearer(guess), "/", a2a.MethodListTasks, `{}`); got.status {
		case 401:
			if refused++; refused > 60 {
				t.Fatal("nobody is slowed down")
			}
		case 429:
			if slowed++; refused < 20 || got.header.Get("Retry-After") == "" || got.header.Get("WWW-Authenticate") != "" || got.Error.Code != a2a.CodeInternal {
				t.Errorf("after %d refusals: %v %s", refused, got.header, got.body)
			}
		default:
			t.Fatalf("%d %s", got.status, got.body)
		}
	}
	if got := h.call(good, "/", a2a.MethodSendMessage, said("hello")); got.status != 200 {
		t.Errorf("a good credential from there: %d %s", got.status, got.body)
	}
	want := map[string]int64{"credential_unknown": int64(refused), "failures_too_many": int64(slowed)}
	if diff := cmp.Diff(want, h.refusals("authenticate")); diff != "" {
		t.Errorf("the audit has (-want +got):\n%s", diff)
	}
}

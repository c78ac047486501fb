package client_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/testkit"
)

// schemes are one of each kind, and some that are no use.
var schemes = map[string]a2a.SecurityScheme{
	"bearer":  {Scheme: &a2a.HTTPAuthSecurityScheme{Scheme: "bearer"}},
	"basic":   {Scheme: &a2a.HTTPAuthSecurityScheme{Scheme: "Basic"}},
	"odd":     {Scheme: &a2a.HTTPAuthSecurityScheme{Scheme: "a b\n"}},
	"key":     {Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "X-Api-Key"}},
	"host":    {Scheme: &a2a.APIKeySecurityScheme{Location: "header", Name: "Host"}},
	"cookie":  {Scheme: &a2a.APIKeySecurityScheme{Location: "cookie", Name: "session"}},
	"query":   {Scheme: &a2a.APIKeySecurityScheme{Location: "query", Name: "key"}},
	"cert":    {Scheme: &a2a.MutualTlsSecurityScheme{}},
	"oauth":   {Scheme: &a2a.OAuth2SecurityScheme{Flows: a2a.OAuthFlows{Flow: &a2a.ClientCredentialsOAuthFlow{TokenURL: "https://id.example"}}}},
	"flow":    {Scheme: &a2a.OAuth2SecurityScheme{}},
	"oidc":    {Scheme: &a2a.OpenIdConnectSecurityScheme{OpenIDConnectURL: "https://id.example"}},
	"unknown": {},
}

func secured(alternatives ...[]string) func(*a2a.AgentCard) {
	return func(card *a2a.AgentCard) {
		card.SecuritySchemes = schemes
		for _, names := range alternatives {
			requirement := a2a.SecurityRequirement{Schemes: map[string]a2a.StringList{}}
			for _, name := range names {
				requirement.Schemes[name] = a2a.StringList{}
			}
			card.SecurityRequirements = append(card.SecurityRequirements, requirement)
		}
	}
}

// REQ-CARD-33, REQ-SEC-11, REQ-XCARD-04: an agent that asks for credentials is
// not called without any, by no operation.
func TestNoAnonymousCalls(t *testing.T) {
	for method, call := range operations {
		peer := testkit.NewPeer(t, testkit.Routes(results))
		err := call(t, connect(t, peer, client.Config{}, secured([]string{"key"})))
		if !isA[*client.NoCredentialsError](err) || client.Classify(err, true) != client.Refused {
			t.Errorf("%s: error = %v, want a *NoCredentialsError that refuses", method, err)
		}
		if sent := peer.Requests(); len(sent) > 0 {
			t.Errorf("%s: %d requests were sent, want none", method, len(sent))
		}
	}
}

// REQ-CARD-34: what counts as credentials, and when none are needed.
func TestWhoMayBeCalled(t *testing.T) {
	gives := func(headers http.Header) func(context.Context, bool) (http.Header, error) {
		return func(context.Context, bool) (http.Header, error) { return headers, nil }
	}
	certificate := &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{{}}}
	for _, tt := range []struct {
		name  string
		asks  [][]string
		cfg   client.Config
		tls   *tls.Config
		calls bool
	}{
		{name: "nothing is asked for", calls: true},
		{name: "anonymous calls are an alternative", asks: [][]string{{"key"}, {}}, calls: true},
		{name: "none", asks: [][]string{{"key"}}},
		{name: "none of a known kind", asks: [][]string{{"unknown"}}},
		{name: "not described", asks: [][]string{{"missing"}}},
		{name: "any header", asks: [][]string{{"unknown"}}, cfg: client.Config{Headers: http.Header{"X-Any": {"1"}}}, calls: true},
		{name: "an empty header", asks: [][]string{{"key"}}, cfg: client.Config{Headers: http.Header{"X-Api-Key": {""}}}},
		{name: "credentials", asks: [][]string{{"key"}}, cfg: client.Config{Credentials: gives(http.Header{"X-Api-Key": {"1"}})}, calls: true},
		{name: "credentials that give nothing", asks: [][]string{{"key"}}, cfg: client.Config{Credentials: gives(nil)}},
		{name: "a certificate", asks: [][]string{{"cert"}}, tls: certificate, calls: true},
		{name: "a certificate on demand", asks: [][]string{{"cert"}}, tls: &tls.Config{MinVersion: tls.VersionTLS12, GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return nil, nil }}, calls: true},
		{name: "authorities alone", asks: [][]string{{"cert"}}, tls: &tls.Config{MinVersion: tls.VersionTLS12}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			peer := testkit.NewPeer(t, testkit.Routes(results))
			described := testkit.Card(peer.URL)
			secured(tt.asks...)(&described)
			card, err := client.ParseCard([]byte(testkit.CardJSON(described)), peer.URL)
			if err != nil {
				t.Fatal(err)
			}
			tt.cfg.Policy = peer.Policy()
			tt.cfg.Policy.TLSConfig = tt.tls
			c, err := client.New(card, tt.cfg)
			if err != nil {
				t.Fatalf("New() error = %v", err)
			}
			err = operations[a2a.MethodGetTask](t, c)
			if (err == nil) != tt.calls || !tt.calls && !isA[*client.NoCredentialsError](err) || (len(peer.Requests()) > 0) != tt.calls {
				t.Errorf("error = %v, %d requests; want a call: %v", err, len(peer.Requests()), tt.calls)
			}
		})
	}
}

// What an agent asks for is said in words, with the header that would carry it.
func TestSchemesInWords(t *testing.T) {
	got := map[string][2]string{}
	for name, scheme := range schemes {
		s := client.Scheme{Name: name, Kind: scheme.Scheme}
		got[name] = [2]string{s.String(), s.Header()}
	}
	want := map[string][2]string{
		"bearer":  {"HTTP bearer authentication", "Authorization: Bearer …"},
		"basic":   {"HTTP Basic authentication", "Authorization: Basic …"},
		"odd":     {"HTTP a b authentication", ""},
		"key":     {"a key in the header X-Api-Key", "X-Api-Key: …"},
		"host":    {"a key in the header Host", ""},
		"cookie":  {"a key in the cookie session", "Cookie: session=…"},
		"query":   {"a key in the query key", ""},
		"cert":    {"a client certificate", ""},
		"oauth":   {"OAuth 2.0", "Authorization: Bearer …"},
		"flow":    {"OAuth 2.0 with a flow not known here", ""},
		"oidc":    {"OpenID Connect at https://id.example", "Authorization: Bearer …"},
		"unknown": {"of a kind not known here", ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNoCredentialsErrorTexts(t *testing.T) {
	var many [][]string
	for range 10 {
		many = append(many, []string{"cert"})
	}
	const none = "GetTask: the agent's card asks for credentials, and none were given: "
	for _, tt := range []struct {
		asks   [][]string
		usable bool
		want   string
	}{
		{[][]string{{"key", "bearer"}, {"cert"}}, true, none +
			`"bearer" (HTTP bearer authentication) and "key" (a key in the header X-Api-Key), or "cert" (a client certificate)`},
		{[][]string{{"unknown", "bearer"}, {"oauth"}}, true, none + `"bearer" (HTTP bearer authentication) and "unknown" (of a kind not known here), or "oauth" (OAuth 2.0)`},
		{[][]string{{"unknown", "bearer"}, {"query"}}, false,
			`GetTask: the agent's card asks for credentials, all of a kind that can not be given here: "bearer" (HTTP bearer authentication) and "unknown" (of a kind not known here), or "query" (a key in the query key)`},
		{many, true, none + `"cert" (a client certificate), or "cert" (a client certificate), or "cert" (a client certificate), or "cert" (a client certificate), or ` +
			`"cert" (a client certificate), or "cert" (a client certificate), or "cert" (a client certificate), or "cert" (a client certificate), or others`},
	} {
		err := operations[a2a.MethodGetTask](t, connect(t, testkit.NewPeer(t, testkit.Script()), client.Config{}, secured(tt.asks...)))
		if diff := cmp.Diff(tt.want, err.Error()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		if got := missing(t, err).Usable(); got != tt.usable {
			t.Errorf("%v: Usable() = %v", tt.asks, got)
		}
	}
}

func missing(t *testing.T, err error) *client.NoCredentialsError {
	t.Helper()
	e, ok := errors.AsType[*client.NoCredentialsError](err)
	if !ok {
		t.Fatalf("error = %v, want a *NoCredentialsError", err)
	}
	return e
}

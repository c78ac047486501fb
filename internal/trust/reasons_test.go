package trust_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// TestReasons meets every reason for which a card that was read is not trusted:
// REQ-SIGN-12, REQ-SIGN-13, REQ-SIGN-14 and REQ-CARD-32 as registrations of
// remote agents have them. Each case begins with an agent that is trusted.
func TestReasons(t *testing.T) {
	first, second, stranger := key(t, "first"), key(t, "second"), key(t, "stranger")
	pins := pinned(t, first, second)
	good := signed(t, agentCard(), first)
	// F38 and REQ-FWD-08: what is written in a way of its own, or by a later
	// version, is what was signed.
	peculiar := []byte(strings.NewReplacer(
		`"description":"Answers."`, `"description":"Zoë <&> \u2028"`, `"capabilities":{}`, `"capabilities":{"streaming":false,"bidiStreaming":true,"extensions":[`+
			`{"uri":"urn:y","required":false,"params":{"\ud83d\ude00":1e-6,"\uff01":1.0,"big":1e21}}]},"later":{"x":1}`,
	).Replace(string(signed(t, agentCard()))))
	peculiar, err := card.Sign(peculiar, card.Signer{Key: first})
	if err != nil || !bytes.Contains(peculiar, []byte("bidiStreaming")) {
		t.Fatalf("%s, %v", peculiar, err)
	}
	opened := openStore(t)
	plain := func(spec *registry.RemoteAgent) { spec.Pin = registry.Pin{AllowUnsigned: true} }
	named := func(name, organization string) func(*registry.RemoteAgent) {
		return func(spec *registry.RemoteAgent) { spec.Pin.Name, spec.Pin.Organization = name, organization }
	}
	for name, tt := range map[string]struct {
		spec func(*registry.RemoteAgent)
		raw  []byte
		err  error
		want trust.Code // none: trusted
	}{
		"as it was":             {raw: good},
		"signed by another pin": {raw: signed(t, agentCard(), second)},
		"written peculiarly":    {raw: peculiar},
		"signed by both":        {raw: signed(t, agentCard(), first, second)},
		"signed by both, one of them revoked": {
			raw: signed(t, agentCard(), first, second), spec: func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{"first"} },
		},
		"not JSON":                      {raw: []byte("<html>"), want: "malformed"},
		"no card at all":                {err: &trust.ReadError{Code: "malformed", Words: "it is no card", NoCard: true}, want: "malformed"},
		"unsigned":                      {raw: signed(t, agentCard()), want: "unsigned"},
		"signed by a stranger":          {raw: signed(t, agentCard(), stranger), want: "unknown-key"},
		"changed after it was signed":   {raw: bytes.Replace(good, []byte("Answers."), []byte("Answers!"), 1), want: "signature"},
		"signed by a key under its id":  {raw: signed(t, agentCard(), key(t, "first")), want: "signature"},
		"of another name":               {raw: good, spec: named("Somebody", ""), want: "name"},
		"of another organization":       {raw: good, spec: named("", "Somebody Inc"), want: "organization"},
		"of the name and organization":  {raw: good, spec: named("Partner", "Partner Inc")},
		"below the minimum version":     {raw: good, spec: func(s *registry.RemoteAgent) { s.MinVersion = "1.3.0" }, want: "version"},
		"of the minimum version":        {raw: good, spec: func(s *registry.RemoteAgent) { s.MinVersion = "1.2.0" }},
		"with another skill":            {raw: signed(t, agentCard(withSkill("more")), first), want: trust.CodeStructure},
		"with other words":              {raw: signed(t, agentCard(described("Answers more.")), first)},
		"without a required extension":  {raw: good, spec: func(s *registry.RemoteAgent) { s.Extensions.Required = []registry.URI{"urn:x"} }, want: trust.CodeExtensionMissing},
		"announcing an optional one":    {raw: signed(t, agentCard(announcing("urn:y", false)), first)},
		"requiring one that we know":    {raw: signed(t, agentCard(announcing("urn:known", true)), first), spec: fresh},
		"requiring one that is offered": {raw: signed(t, agentCard(announcing("urn:z", true)), first), spec: both(fresh, offering("urn:z"))},
		"requiring an unknown one":      {raw: signed(t, agentCard(announcing("urn:z", true)), first), spec: fresh, want: trust.CodeExtensionUnknown},
		"called elsewhere": {
			raw:  signed(t, agentCard(func(c *a2a.AgentCard) { c.SupportedInterfaces[0].URL = "https://elsewhere.example/" }), first),
			spec: fresh, want: trust.CodeInterface,
		},
		"unsigned, which is allowed":       {raw: signed(t, agentCard()), spec: plain},
		"unsigned, of another name":        {raw: signed(t, agentCard()), spec: both(plain, named("Somebody", "")), want: "name"},
		"unsigned, with another skill":     {raw: signed(t, agentCard(withSkill("more"))), spec: plain, want: trust.CodeStructure},
		"unsigned, below the minimum":      {raw: signed(t, agentCard()), spec: both(plain, func(s *registry.RemoteAgent) { s.MinVersion = "2.0.0" }), want: "version"},
		"unsigned, and no JSON":            {raw: []byte("{"), spec: plain, want: "malformed"},
		"unsigned, showing a revoked key":  {raw: good, spec: both(plain, func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{"first"} }), want: "revoked-key"},
		"signed, although it need not":     {raw: good, spec: plain},
		"signed by a revoked key":          {raw: good, spec: func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{"first"} }, want: "revoked-key"},
		"signed by one revoked by its sum": {raw: good, spec: func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{first.Public().Thumbprint()} }, want: "revoked-key"},
	} {
		t.Run(name, func(t *testing.T) {
			if err := opened.DeleteRemoteCard(t.Context(), agentName); err != nil {
				t.Fatal(err)
			}
			w := newWorldOn(t, opened, trust.Config{Understood: []string{"urn:known"}, Usable: atRoute})
			w.source.on(agentName, serves(good))
			w.register(agentName, ready(pins))
			w.refresh()
			before := w.trusted()

			w.source.on(agentName, serves(tt.raw))
			if tt.err != nil {
				w.source.on(agentName, fails(tt.err))
			}
			if tt.spec != nil {
				w.register(agentName, ready(pins, tt.spec))
			}
			known, err := w.book.RefreshNow(t.Context(), agentName)
			if !errors.Is(err, tt.err) {
				t.Errorf("RefreshNow() error = %v, want %v", err, tt.err)
			}
			if tt.want == "" {
				after := w.trusted()
				if _, err := card.Verify(tt.raw, card.Pin{Keys: []card.PublicKey{first.Public(), second.Public()}}); err != nil && after.KeyID != "" {
					t.Errorf("it is said to be signed by %s", after.KeyID)
				}
				return
			}
			w.untrusted(trust.Quarantined, tt.want)
			if w.book.Valid(before) {
				t.Error("what was asked before is still believed")
			}
			if known.State != trust.Quarantined || known.Reasons[0].Next == "" {
				t.Errorf("known = %s, %+v, want quarantined and what to do", known.State, known.Reasons)
			}
			if evidence := w.evidence(); evidence[len(evidence)-1] != "legation: card quarantine refused "+string(tt.want) {
				t.Errorf("evidence = %q", evidence)
			}
			if text := known.Reasons[0].String(); strings.ContainsAny(text, "\n\x1b") {
				t.Errorf("%q is not one line", text)
			}
		})
	}
}

// fresh makes a case begin without a card that was accepted: the route is another.
func fresh(spec *registry.RemoteAgent) { spec.URL = "https://partner.example/other" }

func offering(uri registry.URI) func(*registry.RemoteAgent) {
	return func(spec *registry.RemoteAgent) { spec.Extensions.Offered = []registry.URI{uri} }
}

func both(all ...func(*registry.RemoteAgent)) func(*registry.RemoteAgent) {
	return func(spec *registry.RemoteAgent) {
		for _, f := range all {
			f(spec)
		}
	}
}

// atRoute is what the client role says of interfaces, in short.
func atRoute(c trust.Candidate) []trust.Reason {
	for _, iface := range c.Card.SupportedInterfaces {
		if strings.HasPrefix(iface.URL, "https://partner.example/") {
			return nil
		}
	}
	return []trust.Reason{{Code: trust.CodeInterface, Words: "it is called elsewhere", Next: "correct it"}}
}

// Reasons that no card brings about.
func TestRegistrationsThatLackSomething(t *testing.T) {
	k := key(t, "k")
	for name, tt := range map[string]struct {
		spec  func(*registry.RemoteAgent)
		state trust.State
	}{
		"disabled":             {func(s *registry.RemoteAgent) { s.Enabled = false }, trust.Disabled},
		"not classified":       {func(s *registry.RemoteAgent) { s.Send = "" }, trust.Inert},
		"without a credential": {func(s *registry.RemoteAgent) { s.Credential = registry.Credential{} }, trust.Inert},
		"without a value of it": {func(s *registry.RemoteAgent) {
			s.Credential = registry.Credential{Bearer: &registry.Bearer{Secret: "token"}}
		}, trust.Inert},
		"without a pin": {func(s *registry.RemoteAgent) { s.Pin.Keys = nil }, trust.Inert},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, trust.Config{HasValue: func(registry.SecretName) bool { return false }})
			w.source.on(agentName, serves(signed(t, agentCard(), k)))
			w.register(agentName, ready(pinned(t, k)))
			w.refresh()
			before := w.trusted()
			w.register(agentName, ready(pinned(t, k), tt.spec))
			w.untrusted(tt.state, trust.CodeRegistration)
			if w.book.Valid(before) {
				t.Error("what was asked before is still believed")
			}
			// Mended, it is trusted again, and what was asked before stays void.
			w.register(agentName, ready(pinned(t, k)))
			after := w.trusted()
			if w.book.Valid(before) || after.Generation <= before.Generation {
				t.Errorf("generation = %d after %d", after.Generation, before.Generation)
			}
		})
	}
	w := newWorld(t, trust.Config{})
	if _, err := w.book.Trust("nobody"); !errors.Is(err, trust.ErrUnknown) {
		t.Errorf("Trust() error = %v, want ErrUnknown", err)
	}
	if _, err := w.book.RefreshNow(t.Context(), "nobody"); !errors.Is(err, trust.ErrUnknown) {
		t.Errorf("RefreshNow() error = %v, want ErrUnknown", err)
	}
	if _, ok := w.book.Known("nobody"); ok || w.book.Believed("nobody", 1) {
		t.Error("nobody is known")
	}
	w.register(agentName, ready(pinned(t, k)))
	w.untrusted(trust.Unknown, trust.CodeNeverRead)
}

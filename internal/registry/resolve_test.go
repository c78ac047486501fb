package registry_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/legation/legation/internal/registry"
)

var host = registry.Host{Programs: []registry.Name{"wordcount"}}

func TestProblemsOfDocumentsTogetherAreTold(t *testing.T) {
	golden(t, "testdata/together/*.txt", func(t *testing.T, archive *txtar.Archive) string {
		err := registry.Resolve(decode(t, string(archive.Files[0].Data)), host)
		var problems registry.Problems
		if !errors.As(err, &problems) {
			t.Fatalf("Resolve() = %v, want problems", err)
		}
		for _, p := range problems {
			if p.Source.Line == 0 || p.Document == "" || p.Path == "" || p.Next == "" {
				t.Errorf("%+v does not say where it is and what to do", p)
			}
		}
		return err.Error() + "\n"
	})
}

// A party that does not exist, or does not answer, is no problem of its
// document or of any other.
func TestWhatIsRegisteredNeedsNoNetwork(t *testing.T) {
	if err := registry.Resolve(whole(t), host); err != nil {
		t.Fatal(err)
	}
}

func whole(t *testing.T) []registry.Document {
	t.Helper()
	data, err := os.ReadFile("testdata/valid/whole.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, string(data))
}

// Documents that were made by hand are held to the same.
func TestDocumentsMadeByHandAreChecked(t *testing.T) {
	agent := func(edit func(*registry.Document, *registry.RemoteAgent)) registry.Document {
		spec := &registry.RemoteAgent{URL: "https://a.example"}
		doc := registry.Document{Kind: registry.KindRemoteAgent, Name: "a", Spec: spec}
		edit(&doc, spec)
		return doc
	}
	tests := map[string]struct {
		edit func(*registry.Document, *registry.RemoteAgent)
		want string
	}{
		"good":     {func(*registry.Document, *registry.RemoteAgent) {}, ""},
		"no spec":  {func(d *registry.Document, _ *registry.RemoteAgent) { d.Spec = nil }, "kind: kind and spec do not fit together"},
		"nil spec": {func(d *registry.Document, _ *registry.RemoteAgent) { d.Spec = (*registry.RemoteAgent)(nil) }, "kind and spec do not fit"},
		"kind":     {func(d *registry.Document, _ *registry.RemoteAgent) { d.Kind = registry.KindAgent }, "kind and spec do not fit"},
		"no name":  {func(d *registry.Document, _ *registry.RemoteAgent) { d.Name = "" }, "name: is required"},
		"bad name": {func(d *registry.Document, _ *registry.RemoteAgent) { d.Name = "A" }, "name: a name has"},
		"no URL":   {func(_ *registry.Document, s *registry.RemoteAgent) { s.URL = "" }, "spec.url: is required"},
		"class":    {func(_ *registry.Document, s *registry.RemoteAgent) { s.Send = "top" }, `spec.send: "top" is not one of the choices (choose one of: public, internal, confidential, restricted)`},
		"range":    {func(_ *registry.Document, s *registry.RemoteAgent) { s.Caps.Card = 1 }, "spec.caps.card: must be 1KiB to 16MiB"},
		"fraction": {func(_ *registry.Document, s *registry.RemoteAgent) {
			s.Deadlines.Request = registry.Duration(1500 * time.Millisecond)
		}, "is not a whole number of seconds"},
		"empty":     {func(_ *registry.Document, s *registry.RemoteAgent) { s.Pin.Revoked = []string{} }, "spec.pin.revoked: is an empty list"},
		"long list": {func(_ *registry.Document, s *registry.RemoteAgent) { s.Pin.Revoked = make([]string, 65) }, "spec.pin.revoked: has more than 64 items"},
		"item":      {func(_ *registry.Document, s *registry.RemoteAgent) { s.Pin.Revoked = []string{""} }, "spec.pin.revoked[0]: is empty"},
		"pointer":   {func(_ *registry.Document, s *registry.RemoteAgent) { s.Credential.Bearer = new(registry.Bearer) }, "spec.credential.bearer.secret: is required"},
		"text":      {func(_ *registry.Document, s *registry.RemoteAgent) { s.Description = "\xff" }, "spec.description: has a control character, or is not UTF-8"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := agent(test.edit).Check()
			if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
				t.Errorf("Check() = %v, want %q", err, test.want)
			}
		})
	}
	twice := agent(func(*registry.Document, *registry.RemoteAgent) {})
	if err := registry.Resolve([]registry.Document{twice, twice}, host); err == nil || err.Error() != "RemoteAgent/a: was given twice (keep one of them)" {
		t.Errorf("Resolve() = %v", err)
	}
}

func TestReadiness(t *testing.T) {
	const (
		pinned = `pin: {keys: [{kid: k, kty: OKP, crv: Ed25519, x: 11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo}]}`
		key    = `{id: k, sha256: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`
		agent  = "kind: RemoteAgent\nname: a\nspec:\n  url: https://a.example\n"
		client = "kind: RemoteClient\nname: c\nspec:\n"
	)
	tests := map[string]struct {
		doc   string
		state registry.State
		want  []string
	}{
		"remote agent as registered": {agent, registry.Disabled, []string{"spec.enabled", "spec.send", "spec.returns", "spec.credential", "spec.pin.keys"}},
		"enabled only":               {agent + "  enabled: true\n", registry.Inert, []string{"spec.send", "spec.returns", "spec.credential", "spec.pin.keys"}},
		"not classified":             {agent + "  enabled: true\n  send: public\n  credential: {none: true}\n  " + pinned, registry.Inert, []string{"spec.returns"}},
		"revoked pin":                {agent + "  enabled: true\n  send: public\n  returns: public\n  credential: {none: true}\n  " + strings.TrimSuffix(pinned, "}") + ", revoked: [k]}", registry.Inert, []string{"spec.pin.keys"}},
		"secret without value":       {agent + "  enabled: true\n  send: public\n  returns: public\n  credential: {bearer: {secret: empty}}\n  " + pinned, registry.Inert, []string{"secret empty has no value"}},
		"all there, not enabled":     {agent + "  send: public\n  returns: public\n  credential: {none: true}\n  " + pinned, registry.Disabled, []string{"spec.enabled"}},
		"ready":                      {agent + "  enabled: true\n  send: public\n  returns: public\n  credential: {bearer: {secret: full}}\n  " + pinned, registry.Ready, nil},
		"ready, unsigned":            {agent + "  enabled: true\n  send: public\n  returns: public\n  credential: {none: true}\n  pin: {allowUnsigned: true}", registry.Ready, nil},
		"client as registered":       {client + "  {}", registry.Disabled, []string{"spec.enabled", "there is no credential", "spec.skills"}},
		"client without skill":       {client + "  enabled: true\n  credentials: {apiKeys: [" + key + "}]}", registry.Inert, []string{"spec.skills"}},
		// A key that is revoked or has ended is no credential.
		"revoked key":            {client + "  enabled: true\n  skills: [a/s]\n  credentials: {apiKeys: [" + key + ", revoked: true}]}", registry.Inert, []string{"every API key has ended"}},
		"ended key":              {client + "  enabled: true\n  skills: [a/s]\n  credentials: {apiKeys: [" + key + ", notAfter: 2026-01-01T00:00:00Z}]}", registry.Inert, []string{"every API key has ended"}},
		"key that has not ended": {client + "  enabled: true\n  skills: [a/s]\n  credentials: {apiKeys: [" + key + ", notAfter: 2026-01-02T00:00:00Z}]}", registry.Ready, nil},
		"client by certificate":  {client + "  enabled: true\n  skills: [a/s]\n  credentials: {mtls: [{spki: 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08}]}", registry.Ready, nil},
		"provider":               {"kind: Provider\nname: p\nspec: {type: openai, baseURL: \"https://a.example\", secret: empty}", registry.Inert, []string{"secret empty has no value, which spec.secret needs"}},
	}
	refs := registry.Refs{
		HasValue: func(name registry.SecretName) bool { return name == "full" },
		Now:      time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC),
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			state, reasons := registry.Readiness(decode(t, test.doc)[0], refs)
			if state != test.state || len(reasons) != len(test.want) {
				t.Fatalf("Readiness() = %s %q, want %s %q", state, reasons, test.state, test.want)
			}
			for i, want := range test.want {
				if !strings.Contains(reasons[i], want) {
					t.Errorf("reason %d is %q, want %q", i, reasons[i], want)
				}
			}
		})
	}
}

func TestDefaultsApplyToWhatIsLeftOut(t *testing.T) {
	doc := decode(t, "kind: RemoteAgent\nname: a\nspec: {url: \"https://a.example\", approval: never, deadlines: {work: 1h}, credential: {apiKey: {secret: s}}}")[0]
	spec := doc.Spec.(*registry.RemoteAgent)
	got := registry.Effective(spec)
	want := &registry.RemoteAgent{
		URL: "https://a.example", MaxCardAge: registry.Duration(24 * time.Hour), Approval: registry.ApproveNever,
		Effect: registry.EffectWrite, Follow: registry.FollowPoll, Input: registry.InputAsk,
		Deadlines:  registry.Deadlines{Request: registry.Duration(time.Minute), Work: registry.Duration(time.Hour)},
		Caps:       registry.Caps{Card: 1 << 20, Answer: 8 << 20, Event: 8 << 20, Stream: 256 << 20},
		Credential: registry.Credential{APIKey: &registry.HeaderKey{Header: "X-API-Key", Secret: "s"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if spec.Credential.APIKey.Header != "" || spec.Follow != "" {
		t.Error("the document itself was changed")
	}
	agent := decode(t, "kind: Agent\nname: a\nspec: {card: {description: d}, skills: [{id: s, configuration: c, description: d}]}")[0].Spec.(*registry.Agent)
	if got := registry.Effective(agent); got.Skills[0].Progress != registry.ProgressCoarse || got.Card.Version != "1.0.0" || agent.Skills[0].Progress != "" {
		t.Errorf("Effective() = %+v of %+v", got, agent)
	}
}

func TestClassesAndApprovalsRise(t *testing.T) {
	classes := []registry.DataClass{"", registry.Public, registry.Internal, registry.Confidential, registry.Restricted, "other"}
	for i, zone := range classes {
		for j, class := range classes {
			want := j > 0 && j <= i && i < 5
			if got := zone.Allows(class); got != want {
				t.Errorf("zone %q allows %q = %v, want %v", zone, class, got, want)
			}
		}
	}
	if a := registry.ApproveNever.Stricter(registry.ApproveFourEyes); a != registry.ApproveFourEyes {
		t.Errorf("Stricter() = %s", a)
	}
	if a := registry.ApproveAlways.Stricter(""); a != registry.ApproveAlways {
		t.Errorf("Stricter() = %s", a)
	}
}

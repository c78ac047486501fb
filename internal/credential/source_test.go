package credential_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/testkit"
	"github.com/legation/legation/internal/vault"
)

// vaultFunc is a vault that is a function.
type vaultFunc func(ctx context.Context, ref vault.Reference, use vault.Use) (vault.Value, error)

func (f vaultFunc) Open(ctx context.Context, ref vault.Reference, use vault.Use) (vault.Value, error) {
	return f(ctx, ref, use)
}

func noClients(string, []registry.Exception, string) (*guard.Client, error) {
	return nil, errors.New("none can be made")
}

func TestDocumentsThatSayNothing(t *testing.T) {
	keeper := credential.New(nil, nil, credential.Config{})
	for _, tt := range []struct {
		name, url string
		spec      registry.Credential
		words     string
	}{
		{"nothing", "https://a.example", registry.Credential{}, "spec.credential does not say one way to prove ourselves"},
		{"two things", "https://a.example", registry.Credential{None: true, Bearer: &registry.Bearer{}}, "spec.credential does not say one way"},
		{"no host", "agent", registry.Credential{None: true}, "spec.url can not be used"},
		{"no URL", "https://a b", registry.Credential{None: true}, "spec.url can not be used"},
		{"a certificate without TLS", "http://a.example", inVault("x"), "only be shown over https"},
	} {
		_, err := keeper.For("partner", 1, tt.url, tt.spec, nil)
		failed, ok := asError(err)
		if !ok || failed.Reason != credential.Unusable || failed.Party != "partner" || !strings.Contains(err.Error(), tt.words) {
			t.Errorf("%s: error = %v, want it to say %q", tt.name, err, tt.words)
		}
	}
}

func TestKinds(t *testing.T) {
	keeper := credential.New(nil, nil, credential.Config{})
	for want, spec := range map[credential.Kind]registry.Credential{
		credential.None: {None: true}, credential.APIKey: {APIKey: &registry.HeaderKey{}}, credential.Bearer: {Bearer: &registry.Bearer{}},
		credential.OAuth2: {OAuth2: &registry.OAuth2{}}, credential.MTLS: inVault("x"),
	} {
		source, err := keeper.For("partner", 1, "https://a.example", spec, nil)
		if err != nil || source.Kind() != want || (source.Certificate() != nil) != (want == credential.MTLS) {
			t.Errorf("%s: source %+v, error %v", want, source, err)
		}
	}
}

// F22: what is sent is header lines as they were meant, or nothing.
func TestHeaderRules(t *testing.T) {
	for _, tt := range []struct {
		secret string
		key    string // the value sent as a key, empty if refused
		bearer string
	}{
		{"abc", "abc", "abc"},
		{"abc\n", "abc", "abc"},
		{"abc\r\n", "abc", "abc"},
		{"Custom a.b~c", "Custom a.b~c", ""},
		{"Bearer abc", "Bearer abc", ""},
		{"", "", ""},
		{"\n", "", ""},
		{"  ", "", ""},
		{" abc", "", ""},
		{"abc ", "", ""},
		{"abc\r\nX-Evil: 1", "", ""},
		{"abc\rX-Evil: 1", "", ""},
		{"abc\x00", "", ""},
		{"abc\tdef", "", ""},
		{"abc\x7f", "", ""},
		{"schl\u00fcssel", "", ""},
		{"\xff", "", ""},
		{strings.Repeat("a", 16<<10), strings.Repeat("a", 16<<10), strings.Repeat("a", 16<<10)},
		{strings.Repeat("a", 16<<10+1), "", ""},
	} {
		var opened []byte
		keeper := credential.New(vaultFunc(func(context.Context, vault.Reference, vault.Use) (vault.Value, error) {
			opened = []byte(tt.secret)
			return vault.NewValue(opened), nil
		}), noClients, credential.Config{})
		for _, kind := range []struct {
			spec   registry.Credential
			header string
			want   string
		}{
			{registry.Credential{APIKey: &registry.HeaderKey{}}, "X-Api-Key", tt.key},
			{registry.Credential{APIKey: &registry.HeaderKey{Header: "authorization"}}, "Authorization", tt.key},
			{registry.Credential{Bearer: &registry.Bearer{}}, "Authorization", strings.TrimSuffix("Bearer "+tt.bearer, "Bearer ")},
		} {
			source, err := keeper.For("partner", 1, "https://a.example", kind.spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := source.Headers(t.Context(), "alice", false)
			var want http.Header
			if kind.want != "" {
				want = http.Header{kind.header: {kind.want}}
			}
			if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (kind.want != "") {
				t.Errorf("%.40q as %s: error %v, headers (-want +got):\n%s", tt.secret, source.Kind(), err, diff)
			}
			if failed, ok := asError(err); err != nil && (!ok || failed.Reason != credential.Unusable) {
				t.Errorf("%.40q: error %v, want what is wrong with the secret", tt.secret, err)
			}
			if len(tt.secret) > 8 && err != nil && strings.Contains(err.Error(), tt.secret[:8]) {
				t.Errorf("error %v shows the secret", err)
			}
			if string(opened) != strings.Repeat("\x00", len(opened)) {
				t.Errorf("%.40q is still in memory", tt.secret)
			}
		}
	}
}

func TestVaultsThatDoNotOpen(t *testing.T) {
	for _, tt := range []struct {
		err    error
		reason credential.Reason
	}{
		{vault.ErrNotFound, credential.Missing},
		{vault.ErrDamaged, credential.Unusable},
		{vault.ErrInvalid, credential.Unusable},
		{&vault.UnknownKeyError{}, credential.Unusable},
		{errors.New("the disk is full"), credential.Closed},
	} {
		keeper := credential.New(vaultFunc(func(context.Context, vault.Reference, vault.Use) (vault.Value, error) {
			return vault.Value{}, tt.err
		}), noClients, credential.Config{})
		for _, spec := range []registry.Credential{{Bearer: &registry.Bearer{Secret: "x"}}, inVault("x")} {
			source, err := keeper.For("partner", 1, "https://a.example", spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			_, err = source.Check(t.Context(), "root")
			if failed, ok := asError(err); !ok || failed.Reason != tt.reason || failed.Lasting() != (tt.reason != credential.Closed) {
				t.Errorf("%v: error %v, want the reason %s", tt.err, err, tt.reason)
			}
			if _, err := source.Check(canceled(t), "root"); err != context.Canceled {
				t.Errorf("%v: error %v after the context ended, want the context's", tt.err, err)
			}
		}
	}
}

func TestTokensNeedWhatTheyNeed(t *testing.T) {
	spec := registry.Credential{OAuth2: &registry.OAuth2{TokenURL: "https://id.example", Secret: "x"}}
	empty := vaultFunc(func(context.Context, vault.Reference, vault.Use) (vault.Value, error) {
		return vault.NewValue([]byte("\n")), nil
	})
	for words, clients := range map[string]credential.Clients{
		"the token endpoint can not be asked under spec.exceptions: none can be made": noClients,
		"secret x (spec.credential.oauth2.secret) is empty":                           func(string, []registry.Exception, string) (*guard.Client, error) { return guard.New(guard.Policy{}) },
	} {
		source, err := credential.New(empty, clients, credential.Config{}).For("partner", 1, "https://a.example", spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := source.Headers(t.Context(), "alice", false); err == nil || err.Error() != words {
			t.Errorf("error %v, want %q", err, words)
		}
	}
}

// A token endpoint that hangs costs its own time, and not all of the caller's.
func TestFetchingHasADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peer := testkit.NewPeer(t, testkit.Hang())
		keeper := credential.New(vaultFunc(func(context.Context, vault.Reference, vault.Use) (vault.Value, error) {
			return vault.NewValue([]byte(secretText)), nil
		}), func(string, []registry.Exception, string) (*guard.Client, error) { return guard.New(peer.Policy()) }, credential.Config{})
		spec := registry.Credential{OAuth2: &registry.OAuth2{TokenURL: registry.URL(peer.URL + "/token"), ClientID: "me", Secret: "x"}}
		source, err := keeper.For("partner", 1, "https://a.example", spec, nil)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		began := time.Now()
		_, err = source.Headers(ctx, "alice", false)
		failed, ok := asError(err)
		if !ok || failed.Reason != credential.Unavailable || time.Since(began) != 15*time.Second {
			t.Errorf("error %v after %v, want that nobody answers after 15s", err, time.Since(began))
		}
		short, cancelShort := context.WithTimeout(t.Context(), time.Second)
		defer cancelShort()
		time.Sleep(failureKept)
		if _, err = source.Headers(short, "alice", false); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want that the caller's time is over", err)
		}
		if _, ours := asError(err); ours {
			t.Errorf("error %v says something of the endpoint", err)
		}
	})
}

const failureKept = 5 * time.Second

// F36: what an agent answers to a credential.
func TestAgentsThatRefuse(t *testing.T) {
	t.Run("the token ends at the second poll", func(t *testing.T) {
		w := newWorld(t)
		spec := oauth2(secretText)(w)
		polls, admits := 0, w.issuer.admits("agent")
		w.agent.check = func(r *http.Request) bool {
			if polls++; polls == 2 {
				w.clock.add(time.Minute)
				w.issuer.revoke()
			}
			return admits(r)
		}
		done, err := w.dial(w.source(spec)).Follow(t.Context(), "t-1", client.FollowOptions{Pauses: []time.Duration{time.Millisecond}, AtOnce: true})
		if err != nil || done.Status.State != a2a.TaskStateCompleted {
			t.Errorf("Follow() = %v, %v, want the end of the task", done, err)
		}
		if polls, fetched := len(w.agent.seen()), len(w.issuer.seen()); polls != 3 || fetched != 2 {
			t.Errorf("%d polls and %d tokens, want the second poll repeated once with another token", polls, fetched)
		}
	})
	t.Run("a send is not repeated", func(t *testing.T) {
		w := newWorld(t)
		remote := w.dial(w.source(oauth2(secretText)(w)))
		w.agent.check = func(*http.Request) bool { return false }
		_, err := remote.SendMessage(t.Context(), &a2a.SendMessageRequest{Message: a2a.Message{MessageID: "m-1", Role: a2a.RoleUser, Parts: []a2a.Part{a2a.TextPart("x")}}})
		if requests := len(w.agent.seen()); requests != 1 || client.Classify(err, true) != client.Refused {
			t.Errorf("%d requests, error %v, want one that is refused", requests, err)
		}
	})
	for status, words := range map[int]string{401: "401", 403: "403", 429: "429"} {
		w := newWorld(t)
		spec := bearer(tokenText, "another")(w)
		w.agent.status = status
		_, err := w.dial(w.source(spec)).GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		if err == nil || !strings.Contains(err.Error(), words) {
			t.Errorf("%d: error %v, want it named", status, err)
		}
		if want := 7 * time.Second; client.RetryAfter(err) != want {
			t.Errorf("%d: wait %v, want %v", status, client.RetryAfter(err), want)
		}
		if requests := len(w.agent.seen()); (requests == 2) != (status == 401) {
			t.Errorf("%d: %d requests, want a second one after 401 alone", status, requests)
		}
		w.silent(err.Error())
	}
	for name, words := range map[string]string{
		"127.0.0.1": "certificate signed by unknown authority", "other.example": "certificate",
	} {
		w := newWorld(t)
		remote := w.dial(w.source(bearer(tokenText, tokenText)(w)))
		authority := w.ca
		if name == "127.0.0.1" {
			authority = newAuthority(t)
		}
		w.agent.server.TLS.Certificates[0] = authority.pair(t, authority.issue(t, name, time.Hour))
		_, err := remote.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		if err == nil || !strings.Contains(err.Error(), "did not complete the TLS handshake") || !strings.Contains(err.Error(), words) {
			t.Errorf("certificate for %s: error %v, want which check failed", name, err)
		}
		if len(w.agent.seen()) != 0 || !guard.NothingSent(err) {
			t.Errorf("certificate for %s: something was sent", name)
		}
	}
}

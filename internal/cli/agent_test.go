package cli_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// agentsAPI is an admin API with remote agents, one of which has a new card.
func agentsAPI(t *testing.T) (flags []string, accepted func() string) {
	const drifted = `{"name":"translator","state":"quarantined","reasons":["its card has changed; accept it"],` +
		`"cardURL":"https://agent.example/card?key=hunter2","keyId":"k-1","algorithm":"ES256","version":"2.0.0","digest":"aa",` +
		`"verifiedAt":"2026-11-30T12:00:00Z","drift":{"digest":"bb","structure":["the skill translate\u001b[2J is gone"],"wording":["the description"]}}`
	const steady = `{"name":"echo","state":"trusted","reasons":[]}`
	var body string
	mux := http.NewServeMux()
	answer := func(pattern, text string) {
		mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
			if sent, err := io.ReadAll(r.Body); err == nil && len(sent) > 0 {
				body = string(sent)
			}
			fmt.Fprint(w, text)
		})
	}
	answer("GET /admin/agents", `{"agents":[`+steady+`,`+drifted+`]}`)
	answer("GET /admin/agents/translator", drifted)
	answer("GET /admin/agents/echo", steady)
	answer("POST /admin/agents/translator/accept", `{"name":"translator","state":"trusted","reasons":[]}`)
	answer("POST /admin/agents/translator/check", `{"name":"translator","ok":false,"first":"accept the card","findings":[`+
		`{"step":"card","outcome":"problem","words":"it has changed","next":"accept it"},{"step":"interface","outcome":"skipped","words":"not looked at"}]}`)
	answer("POST /admin/agents/echo/check", `{"name":"echo","ok":true,"findings":[{"step":"card","outcome":"ok","words":"verified"}]}`)
	api := httptest.NewServer(mux)
	t.Cleanup(api.Close)
	return []string{"--admin", api.URL, "--token-file", fileWith(t, "lgp_right")}, func() string { return body }
}

func TestAgents(t *testing.T) {
	api, _ := agentsAPI(t)
	tests := []struct {
		args   []string
		status int
		want   []string
	}{
		{[]string{"list"}, 0, []string{"NAME", "translator  quarantined  2.0.0    k-1  2026-11-30T12:00:00Z", "its card has changed; accept it"}},
		{[]string{"list", "-o", "json"}, 0, []string{`"name": "echo"`}},
		{[]string{"show", "translator"}, 0, []string{
			"State:        quarantined", "Card:         https://agent.example/card\n", "Signed with:  k-1 (ES256)", "Verified:     2026-11-30T12:00:00Z",
			"What is missing\n  its card has changed", "Changed, and to be accepted\n  the skill translate\\u001b[2J is gone", "Changed wording\n  the description", "digest bb",
		}},
		{[]string{"show", "echo", "-o", "json"}, 0, []string{`"state": "trusted"`}},
		{[]string{"check", "echo"}, 0, []string{"ok       card  verified"}},
		{[]string{"check", "translator"}, 1, []string{"problem  card       it has changed (accept it)", "skipped  interface  not looked at", "First of all: accept the card"}},
		{[]string{"check", "translator", "-o", "json"}, 1, []string{`"ok": false`}},
		{[]string{"show", "nobody"}, 1, []string{"is no admin API of this version (HTTP 404)"}},
		{[]string{"check"}, 2, []string{"give the name of a remote agent"}},
		{[]string{"check", "echo", "-o", "yaml"}, 2, nil},
		{[]string{"show", "echo", "-o", "yaml"}, 2, nil},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			status, stdout, stderr := run(t, "", append(append([]string{"agent"}, tt.args...), api...)...)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			wantIn(t, stdout+stderr, tt.want...)
			if strings.ContainsRune(stdout+stderr, 0x1b) || strings.Contains(stdout, "hunter2") && !strings.Contains(stdout, `"cardURL"`) {
				t.Errorf("what an agent says is shown as it is:\n%s", stdout)
			}
		})
	}
}

// A card is accepted by somebody who has seen what changed, and no other card.
func TestAcceptCard(t *testing.T) {
	tests := []struct {
		args     []string
		status   int
		accepted string
		want     []string
	}{
		{[]string{"translator"}, 2, "", []string{
			"Changed, and to be accepted", "there is nobody to ask", "hint: if these changes are right: legation agent accept translator --digest bb",
		}},
		{[]string{"translator", "--yes"}, 0, `{"digest":"bb"}`, []string{"The card is accepted; translator is trusted."}},
		{[]string{"translator", "--digest", "cc"}, 0, `{"digest":"cc"}`, nil},
		{[]string{"echo"}, 0, "", []string{"The card of echo has not changed; there is nothing to accept."}},
	}
	for _, tt := range tests {
		t.Run(strings.Join(tt.args, " "), func(t *testing.T) {
			api, accepted := agentsAPI(t)
			status, stdout, stderr := run(t, "", append(append([]string{"agent", "accept"}, tt.args...), api...)...)
			if status != tt.status {
				t.Errorf("status %d, want %d", status, tt.status)
			}
			wantIn(t, stdout+stderr, tt.want...)
			if got := accepted(); got != tt.accepted {
				t.Errorf("sent %q, want %q", got, tt.accepted)
			}
		})
	}
}

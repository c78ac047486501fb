package app_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
)

// TestWhatIsWithdrawnWhileItIsSent lets a caller in by the head of a request, and
// takes away what it was let in by before the body comes: nothing comes of it.
func TestWhatIsWithdrawnWhileItIsSent(t *testing.T) {
	h := build(t)
	from := newIssuer(t)
	for _, test := range []struct {
		name   string
		take   func(client, key string)
		status int
	}{
		{"revoked", func(client, key string) { h.revoke(client, key) }, 403},
		{"disabled", func(client, _ string) {
			h.apply(strings.Replace(remoteClient(client, "", "desk/open", ""), "enabled: true", "enabled: false", 1))
		}, 403},
		{"narrowed", func(client, _ string) { h.apply(remoteClient(client, "", "gate/gate", "")) }, 403},
		{"deleted", func(client, _ string) { h.manage("DELETE", "/admin/resources/RemoteClient/"+client, "", "") }, 403},
		{"expired", nil, 401},
	} {
		t.Run(test.name, func(t *testing.T) {
			h := *h
			h.T = t
			credentials := ""
			if test.take == nil {
				credentials = "oidc: [" + from.identity("authorizedParty", test.name) + "]"
			}
			h.apply(remoteClient(test.name, credentials, "desk/open", ""))
			key := h.key(test.name)
			p := bearer(key.Key)
			if test.take == nil {
				p = from.token(from.claims(test.name, "").with("exp", time.Now().Add(time.Second).Unix()))
			}
			finish := h.begin(p, a2a.MethodSendMessage, said("hello"))
			if test.take != nil {
				test.take(test.name, key.ID)
			} else {
				await(t, func() bool { return h.call(p, "/", a2a.MethodGetTask, `{"id":"none"}`).status == 401 })
			}
			status, body := finish()
			if status != test.status || !strings.Contains(body, `"error"`) {
				t.Errorf("%d %s, want %d", status, body, test.status)
			}
			// Under its name again, it has no task.
			h.apply(remoteClient(test.name, "", "desk/open", ""))
			again := bearer(h.key(test.name).Key)
			if got := h.call(again, "/", a2a.MethodListTasks, `{}`); got.status != 200 || !strings.Contains(string(got.Result), `"totalSize":0`) {
				t.Errorf("its tasks: %d %s", got.status, got.body)
			}
		})
	}
}

// begin sends the head of a request and returns, once the server asks for the
// body, what sends that and returns the answer.
func (h *house) begin(p proof, method, params string) (finish func() (int, string)) {
	h.Helper()
	conn, err := net.Dial("tcp", h.app.Addr())
	if err != nil {
		h.Fatal(err)
	}
	h.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(30 * time.Second)); err != nil {
		h.Fatal(err)
	}
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":%s}`, method, params)
	fmt.Fprintf(conn, "POST / HTTP/1.1\r\nHost: %s\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n", h.app.Addr(), len(body))
	if err := p.header.Write(conn); err != nil {
		h.Fatal(err)
	}
	if _, err := io.WriteString(conn, "\r\n"); err != nil {
		h.Fatal(err)
	}
	from := bufio.NewReader(conn)
	if line, err := from.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		h.Fatalf("the server says %q, %v", line, err)
	}
	return func() (int, string) {
		h.Helper()
		if line, err := from.ReadString('\n'); err != nil || line != "\r\n" {
			h.Fatalf("the server says %q, %v", line, err)
		}
		if _, err := io.WriteString(conn, body); err != nil {
			h.Fatal(err)
		}
		resp, err := http.ReadResponse(from, nil)
		if err != nil {
			h.Fatal(err)
		}
		defer resp.Body.Close()
		text, err := io.ReadAll(resp.Body)
		if err != nil {
			h.Fatal(err)
		}
		return resp.StatusCode, string(text)
	}
}

// TestWhatWasAdmittedIsDone enters a turn that waited for its place though its
// caller may not call any more by then.
func TestWhatWasAdmittedIsDone(t *testing.T) {
	for name, take := range map[string]func(h *house, key string){
		"revoked": func(h *house, key string) { h.revoke("partner", key) },
		"disabled": func(h *house, _ string) {
			h.apply(strings.Replace(limited("concurrentTasks: 1"), "enabled: true", "enabled: false", 1))
		},
		"deleted": func(h *house, _ string) { h.manage("DELETE", "/admin/resources/RemoteClient/partner", "", "") },
	} {
		t.Run(name, func(t *testing.T) {
			h := build(t, limited("concurrentTasks: 1"))
			key := h.key("partner")
			p := bearer(key.Key)
			first := h.call(p, "/agents/gate", a2a.MethodSendMessage, atOnce(said("first")))
			h.gate.wait(t)
			second := h.call(p, "/agents/gate", a2a.MethodSendMessage, atOnce(said("second")))
			if state := second.task().Status.State; state != a2a.TaskStateSubmitted {
				t.Fatalf("the second is %s", state)
			}
			take(h, key.ID)
			h.gate.release("first")
			if text := h.gate.wait(t); text != "second" {
				t.Errorf("%q has begun", text)
			}
			h.gate.release("second")
			h.apply(limited("concurrentTasks: 1"))
			again := bearer(h.key("partner").Key)
			for _, sent := range []*reply{first, second} {
				await(t, func() bool {
					got := h.call(again, "/agents/gate", a2a.MethodGetTask, fmt.Sprintf(`{"id":%q}`, sent.task().ID))
					return got.task().Status.State == a2a.TaskStateCompleted
				})
			}
		})
	}
}

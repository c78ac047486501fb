package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/testkit"
)

// agent is an ordinary server that keeps connections open. It answers GetTask
// and calls odd for everything else that is no card.
func agent(t *testing.T, odd http.HandlerFunc) (server *httptest.Server, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			io.WriteString(w, testkit.CardJSON(testkit.Card(server.URL)))
			return
		}
		var envelope struct {
			ID     string `json:"id"`
			Method string `json:"method"`
		}
		if err := json.UnmarshalRead(r.Body, &envelope); err != nil {
			t.Errorf("request: %v", err)
		}
		if envelope.Method != a2a.MethodGetTask {
			odd(w, r)
			return
		}
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%q,"result":%s}`, envelope.ID, working)
	}))
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			connections.Add(1)
		}
	}
	t.Cleanup(func() { server.Close() })
	return server, connections
}

func allow(server *httptest.Server) guard.Policy {
	return guard.Policy{AllowHosts: []string{strings.TrimPrefix(strings.TrimPrefix(server.URL, "https://"), "http://")}}
}

func TestOneConnectionForManyCalls(t *testing.T) {
	server, connections := agent(t, nil)
	server.Start()
	c, err := client.Dial(t.Context(), server.URL, client.Config{Policy: allow(server)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for range 5 {
		if err := operations[a2a.MethodGetTask](t, c); err != nil {
			t.Fatal(err)
		}
	}
	if got := connections.Load(); got != 1 {
		t.Errorf("the card and 5 calls took %d connections, want 1", got)
	}
}

// Reading a card alone leaves no connection behind.
func TestReadCardHangsUp(t *testing.T) {
	server, _ := agent(t, nil)
	closed := make(chan struct{}, 1)
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateClosed {
			closed <- struct{}{}
		}
	}
	server.Start()
	if _, err := client.ReadCard(t.Context(), server.URL, client.Config{Policy: allow(server)}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(30 * time.Second): // well before an idle connection ends by itself
		t.Error("the connection stays open")
	}
}

// A connection that was kept open and dies under a send does not make the HTTP
// library send again.
func TestASendIsNotRepeatedByTheLibrary(t *testing.T) {
	for _, method := range []string{a2a.MethodSendMessage, a2a.MethodSendStreamingMessage} {
		var sent atomic.Int32
		server, _ := agent(t, func(w http.ResponseWriter, r *http.Request) {
			sent.Add(1)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
		})
		server.Start()
		c, err := client.Dial(t.Context(), server.URL, client.Config{Policy: allow(server)})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := operations[a2a.MethodGetTask](t, c); err != nil {
			t.Fatal(err)
		}
		if err := operations[method](t, c); client.Classify(err, false) != client.Ambiguous {
			t.Errorf("%s: error = %v, want one of ambiguous meaning", method, err)
		}
		if got := sent.Load(); got != 1 {
			t.Errorf("%s: sent %d times, want once", method, got)
		}
	}
}

// REQ-SEC-05, F36: a certificate of another authority, and one for another name.
func TestCertificatesThatDoNotFit(t *testing.T) {
	server, _ := agent(t, nil)
	server.StartTLS()
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, url string
		roots     *x509.CertPool
		why       string
	}{
		{"the right one", server.URL, pool, ""},
		{"another authority", server.URL, x509.NewCertPool(), "authority"},
		{"another name", "https://other.test:" + port, pool, "other.test"},
	} {
		policy := guard.Policy{
			AllowHosts: []string{"127.0.0.1", "other.test"},
			TLSConfig:  &tls.Config{RootCAs: tt.roots},
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
			},
			Resolve: testkit.NewPeer(t, testkit.Script()).Policy().Resolve,
		}
		card, err := client.ParseCard([]byte(testkit.CardJSON(testkit.Card(tt.url))), tt.url)
		if err != nil {
			t.Fatal(err)
		}
		c, err := client.New(card, client.Config{Policy: policy})
		if err != nil {
			t.Fatal(err)
		}
		err = operations[a2a.MethodGetTask](t, c)
		c.Close()
		if tt.why == "" {
			if err != nil {
				t.Errorf("%s: error = %v", tt.name, err)
			}
			continue
		}
		if !isA[*guard.DialError](err) || !strings.Contains(err.Error(), tt.why) || client.Classify(err, false) != client.Retryable {
			t.Errorf("%s: error = %v, want it to say which check failed", tt.name, err)
		}
	}
}

func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":"1","result":` + completed + `}`,
		`{"jsonrpc":"2.0","id":"1","error":{"code":-32001,"message":"x","data":[{"@type":"x"}]}}`,
		`{"jsonrpc":"2.0","id":"1","result":{"id":"t-1","status":{"state":"X","message":{"parts":[{"x":1}]}},"artifacts":[{"parts":[null]}]}}`,
		`{"jsonrpc":"2.0","id":null,"error":{}}`, `[]`, ``,
	} {
		f.Add([]byte(seed), 200, "application/json")
	}
	f.Add([]byte("data: {}\n\n"), 200, "text/event-stream")
	f.Fuzz(func(t *testing.T, body []byte, status int, contentType string) {
		if status < 200 || status > 599 || strings.ContainsAny(contentType, "\r\n") || strings.Contains(string(body), "$") {
			t.Skip()
		}
		peer := testkit.NewPeer(t, testkit.HTTP(status, contentType, string(body)))
		c := connect(t, peer, client.Config{})
		task, err := c.GetTask(t.Context(), &a2a.GetTaskRequest{ID: "t-1"})
		if (task == nil) != (err != nil) || task != nil && task.ID != "t-1" {
			t.Errorf("GetTask() = %v, %v", task, err)
		}
		if err != nil && err.Error() == "" {
			t.Error("the error has no text")
		}
	})
}

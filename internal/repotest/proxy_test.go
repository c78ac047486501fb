package repotest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/legation/legation/client"
	"github.com/legation/legation/guard"
	"github.com/legation/legation/internal/access/issuer"
	"github.com/legation/legation/internal/provider/openai"
)

// Variables that name a proxy move nobody: a trap stands where they point, and
// what would obey them is seen to fall into it first.
func TestTheEnvironmentMovesNoRequest(t *testing.T) {
	var caught atomic.Int64
	trap := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { caught.Add(1) }))
	defer trap.Close()
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"} {
		t.Setenv(name, trap.URL)
		t.Setenv(strings.ToLower(name), trap.URL)
	}
	t.Setenv("NO_PROXY", "")
	t.Setenv("no_proxy", "")
	t.Setenv("REQUEST_METHOD", "") // of CGI, where HTTP_PROXY is not believed

	obedient := &http.Client{Transport: &http.Transport{Proxy: http.ProxyFromEnvironment}}
	defer obedient.CloseIdleConnections()
	resp, err := obedient.Get("http://example.com/")
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if caught.Load() != 1 {
		t.Fatal("the trap catches nothing, so this test shows nothing")
	}

	for _, scheme := range []string{"http", "https"} {
		var reached atomic.Int64
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			reached.Add(1)
			http.NotFound(w, r)
		})
		var target *httptest.Server
		roots := x509.NewCertPool()
		if scheme == "https" {
			target = httptest.NewTLSServer(handler)
			roots.AddCert(target.Certificate())
		} else {
			target = httptest.NewServer(handler)
		}
		policy := guard.Policy{
			AllowHosts: []string{"example.com"}, TLSConfig: &tls.Config{RootCAs: roots},
			Resolve: func(context.Context, string) ([]netip.Addr, error) {
				return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
			},
			Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, network, target.Listener.Addr().String())
			},
		}
		for name, request := range everyClient {
			out, err := guard.New(policy)
			if err != nil {
				t.Fatal(err)
			}
			before := reached.Load()
			if err := request(t, scheme+"://example.com", out); err == nil {
				t.Errorf("%s: a page that is not found is no error", name)
			}
			if reached.Load() == before {
				t.Errorf("%s over %s did not reach its target", name, scheme)
			}
			out.Close()
		}
		target.Close()
	}
	if got := caught.Load(); got != 1 {
		t.Errorf("%d requests went where the environment points", got-1)
	}
}

// everyClient makes one request with each of what asks others.
var everyClient = map[string]func(t *testing.T, base string, out *guard.Client) error{
	"client": func(t *testing.T, base string, out *guard.Client) error {
		_, err := client.ReadCard(t.Context(), base, client.Config{Guard: out})
		return err
	},
	"openai": func(t *testing.T, base string, out *guard.Client) error {
		model, err := openai.NewModel(openai.Config{BaseURL: base, Model: "m", HTTPClient: out.HTTP()})
		if err != nil {
			t.Fatal(err)
		}
		_, err = model.Complete(t.Context(), []openai.Message{{Role: openai.RoleUser, Text: "x"}}, 0, func(string) error { return nil })
		return err
	},
	"issuer": func(t *testing.T, base string, out *guard.Client) error {
		set := issuer.New(func(string) (*http.Client, error) { return out.HTTP(), nil }, issuer.Config{})
		defer set.Close()
		encode := base64.RawURLEncoding.EncodeToString
		token := encode([]byte(`{"alg":"RS256","kid":"k"}`)) + "." + encode([]byte(`{"iss":"`+base+`"}`)) + "." + encode(make([]byte, 256))
		_, err := set.Verify(t.Context(), token, func(string) bool { return true })
		return err
	},
}

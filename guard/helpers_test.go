package guard_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/legation/legation/guard"
)

// network is a world of names and addresses in which every connection ends at
// one loopback listener, if anywhere.
type network struct {
	names  map[string][]string
	target string // where connections really go; empty refuses them
	silent map[string]bool

	mu       sync.Mutex
	resolved []string
	dialled  []string
}

func (n *network) resolve(_ context.Context, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.resolved = append(n.resolved, host)
	texts, ok := n.names[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var addrs []netip.Addr
	for _, text := range texts {
		addrs = append(addrs, netip.MustParseAddr(text))
	}
	return addrs, nil
}

func (n *network) dial(ctx context.Context, _, address string) (net.Conn, error) {
	n.mu.Lock()
	n.dialled = append(n.dialled, address)
	silent := n.silent[address]
	n.mu.Unlock()
	if silent {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	if n.target == "" {
		return nil, fmt.Errorf("connect %s: connection refused", address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", n.target)
}

func (n *network) dials() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.dialled)
}

// client makes a client that lives in the network.
func (n *network) client(t *testing.T, p guard.Policy) *guard.Client {
	t.Helper()
	p.Resolve, p.Dial = n.resolve, n.dial
	c, err := guard.New(p)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const public = "93.184.215.14"

// serve starts a TLS server that is reached as example.com at a public address.
func serve(t *testing.T, http2 bool, h http.HandlerFunc) (*network, *tls.Config) {
	t.Helper()
	server := httptest.NewUnstartedServer(h)
	server.EnableHTTP2 = http2
	server.Config.ErrorLog = discard
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	return &network{
		names:  map[string][]string{"example.com": {public}},
		target: server.Listener.Addr().String(),
	}, &tls.Config{RootCAs: roots}
}

func get(t *testing.T, url string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	return req
}

package guard_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/guard"
)

func hello(w http.ResponseWriter, r *http.Request) { fmt.Fprintf(w, "hello %s", r.Proto) }

func TestARequestReachesAVerifiedServer(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://proxy.example:3128")
	for want, http2 := range map[string]bool{"hello HTTP/2.0": true, "hello HTTP/1.1": false} {
		n, cfg := serve(t, http2, hello)
		client := n.client(t, guard.Policy{TLSConfig: cfg})
		for range 3 {
			resp, err := client.Do(get(t, "https://example.com:8443/"))
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			if err := resp.Body.Close(); err != nil {
				t.Error(err)
			}
			if string(got) != want || err != nil {
				t.Errorf("answer %q, %v, want %q", got, err, want)
			}
		}
		// One resolution, one connection, to the judged address, no proxy.
		if diff := cmp.Diff([]string{public + ":8443"}, n.dials()); diff != "" {
			t.Errorf("dialled (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{"example.com"}, n.resolved); diff != "" {
			t.Errorf("resolved (-want +got):\n%s", diff)
		}
	}
}

// REQ-SEC-05
func TestCertificatesAreVerified(t *testing.T) {
	n, cfg := serve(t, false, hello)
	n.names["other.test"] = []string{public}
	for url, policy := range map[string]guard.Policy{
		"https://example.com/": {},               // an unknown authority
		"https://other.test/":  {TLSConfig: cfg}, // a certificate for another name
	} {
		_, err := n.client(t, policy).Do(get(t, url))
		failure, ok := errors.AsType[*guard.DialError](err)
		if !ok || failure.Phase != guard.PhaseTLS || !guard.NothingSent(err) {
			t.Errorf("%s: error %v", url, err)
		}
	}
	if _, err := guard.New(guard.Policy{TLSConfig: &tls.Config{InsecureSkipVerify: true}}); err == nil {
		t.Error("a configuration that skips verification is accepted")
	}
}

// REQ-SEC-02, REQ-SEC-03, PVX-10: TLS 1.3 where the other side has it, 1.2 at
// least, whatever a configuration says.
func TestVersionsOfTLS(t *testing.T) {
	var spoken atomic.Uint32
	n, cfg := serve(t, false, func(_ http.ResponseWriter, r *http.Request) { spoken.Store(uint32(r.TLS.Version)) })
	best := n.target
	for _, tt := range []struct {
		most uint16 // of the server; zero: as it comes
		want uint16 // zero: none
	}{
		{0, tls.VersionTLS13}, {tls.VersionTLS12, tls.VersionTLS12}, {tls.VersionTLS11, 0}, {tls.VersionTLS10, 0},
	} {
		n.target = best
		if tt.most != 0 {
			older := httptest.NewUnstartedServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { spoken.Store(uint32(r.TLS.Version)) }))
			older.TLS = &tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tt.most}
			older.Config.ErrorLog = discard
			older.StartTLS()
			t.Cleanup(older.Close)
			n.target = older.Listener.Addr().String()
		}
		for _, least := range []uint16{0, tls.VersionTLS10} {
			spoken.Store(0)
			resp, err := n.client(t, guard.Policy{TLSConfig: &tls.Config{RootCAs: cfg.RootCAs, MinVersion: least}}).Do(get(t, "https://example.com/"))
			if err == nil {
				resp.Body.Close()
			} else if failure, ok := errors.AsType[*guard.DialError](err); !ok || failure.Phase != guard.PhaseTLS {
				t.Errorf("a server of at most %#x: error %v", tt.most, err)
			}
			if got := uint16(spoken.Load()); got != tt.want {
				t.Errorf("a server of at most %#x is spoken to in %#x, want %#x", tt.most, got, tt.want)
			}
		}
	}
}

func TestOnlyAllowedAddressesOfAMixAreDialled(t *testing.T) {
	n := &network{names: map[string][]string{
		"mixed.example": {"10.0.0.1", "1.1.1.1", "127.0.0.1", "2606:4700::1111", "169.254.169.254"},
	}}
	_, err := n.client(t, guard.Policy{}).Do(get(t, "https://mixed.example/"))
	if _, ok := errors.AsType[*guard.DialError](err); !ok {
		t.Errorf("error %v", err)
	}
	if diff := cmp.Diff([]string{"1.1.1.1:443", "[2606:4700::1111]:443"}, n.dials()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

func TestTheNumberOfAttemptsIsBounded(t *testing.T) {
	n := &network{names: map[string][]string{"many.example": {}, "none.example": {}}}
	for i := range 100 {
		n.names["many.example"] = append(n.names["many.example"], fmt.Sprintf("1.1.1.%d", i))
	}
	client := n.client(t, guard.Policy{})
	_, err := client.Do(get(t, "https://many.example/"))
	if got := len(n.dials()); err == nil || got != 8 {
		t.Errorf("%d attempts, error %v", got, err)
	}
	_, err = client.Do(get(t, "https://none.example/"))
	if failure, ok := errors.AsType[*guard.DialError](err); !ok || failure.Phase != guard.PhaseResolve {
		t.Errorf("no address: error %v", err)
	}
}

// A name that answers a public address to the one who judges it and a private
// one to the one who dials it gets nowhere: both are the same look-up.
func TestRebinding(t *testing.T) {
	n, cfg := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Connection", "close")
	})
	var lookups atomic.Int32
	client, err := guard.New(guard.Policy{
		TLSConfig: cfg,
		Dial:      n.dial,
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			if lookups.Add(1) == 1 {
				return []netip.Addr{netip.MustParseAddr(public)}, nil
			}
			return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	resp, err := client.Do(get(t, "https://example.com/"))
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if got := lookups.Load(); got != 1 {
		t.Errorf("%d look-ups for one connection", got)
	}
	_, err = client.Do(get(t, "https://example.com/"))
	if _, ok := errors.AsType[*guard.AddressError](err); !ok {
		t.Errorf("second answer: error %v", err)
	}
	if diff := cmp.Diff([]string{public + ":443"}, n.dials()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

func TestAnExceptionIsForItsNameAlone(t *testing.T) {
	n := &network{names: map[string][]string{"mine.example": {"127.0.0.1"}, "theirs.example": {"127.0.0.1"}}}
	client := n.client(t, guard.Policy{AllowHosts: []string{"mine.example"}})
	if _, err := client.Do(get(t, "https://mine.example/")); errors.As(err, new(*guard.AddressError)) {
		t.Errorf("excepted host: %v", err)
	}
	if _, err := client.Do(get(t, "https://theirs.example/")); !errors.As(err, new(*guard.AddressError)) {
		t.Errorf("other host: %v", err)
	}
	if diff := cmp.Diff([]string{"127.0.0.1:443"}, n.dials()); diff != "" {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
}

func TestAHostHeaderForSomebodyElseIsRefused(t *testing.T) {
	n := &network{}
	req := get(t, "https://example.com/")
	req.Host = "other.example"
	_, err := n.client(t, guard.Policy{}).Do(req)
	if _, ok := errors.AsType[*guard.URLError](err); !ok || n.dials() != nil {
		t.Errorf("error %v, dialled %v", err, n.dials())
	}
	if _, err := n.client(t, guard.Policy{}).RoundTrip(&http.Request{}); !guard.NothingSent(err) {
		t.Errorf("a request without a URL: %v", err)
	}
}

func TestRedirects(t *testing.T) {
	var asked atomic.Int32
	n, cfg := serve(t, true, func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		var status int
		fmt.Sscanf(r.URL.Path, "/%d", &status)
		if target := r.URL.Query().Get("to"); target != "" {
			w.Header().Set("Location", target)
		}
		w.WriteHeader(status)
	})
	client := n.client(t, guard.Policy{TLSConfig: cfg})
	tests := []struct {
		path string
		want *guard.RedirectError
	}{
		{"/301?to=https://evil.example/x", &guard.RedirectError{Status: 301, Host: "evil.example", From: "example.com"}},
		{"/302?to=http://169.254.169.254/latest", &guard.RedirectError{Status: 302, Host: "169.254.169.254", From: "example.com"}},
		{"/303?to=/200", &guard.RedirectError{Status: 303, Host: "example.com", From: "example.com"}},
		{"/307", &guard.RedirectError{Status: 307, From: "example.com"}},
		{"/308?to=:", &guard.RedirectError{Status: 308, From: "example.com"}},
		{"/300", &guard.RedirectError{Status: 300, From: "example.com"}},
		{"/304", nil},
		{"/200", nil},
		{"/500", nil},
	}
	for i, tt := range tests {
		resp, err := client.Do(get(t, "https://example.com"+tt.path))
		if err == nil {
			resp.Body.Close()
		}
		got, _ := errors.AsType[*guard.RedirectError](err)
		if diff := cmp.Diff(tt.want, got); diff != "" || guard.NothingSent(err) || (err == nil) != (tt.want == nil) {
			t.Errorf("%s: error %v (-want +got):\n%s", tt.path, err, diff)
		}
		if int(asked.Load()) != i+1 {
			t.Errorf("%s: the server was asked %d times", tt.path, asked.Load())
		}
	}
	_, err := client.HTTP().Get("https://example.com/301?to=https://evil.example/x")
	if _, ok := errors.AsType[*guard.RedirectError](err); !ok {
		t.Errorf("through http.Client: %v", err)
	}
}

func TestAnswersAreCapped(t *testing.T) {
	n, cfg := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/endless":
			for {
				if _, err := w.Write(make([]byte, 1<<10)); err != nil {
					return
				}
			}
		case "/header":
			w.Header().Set("X", strings.Repeat("x", 70<<10))
		case "/gzip":
			w.Header().Set("Content-Encoding", r.Header.Get("Accept-Encoding"))
			io.WriteString(w, "as it is")
		default:
			var size int
			fmt.Sscanf(r.URL.Path, "/%d", &size)
			w.Header().Set("Content-Length", fmt.Sprint(size))
			w.Write(make([]byte, size))
		}
	})
	client := n.client(t, guard.Policy{TLSConfig: cfg, MaxAnswerBytes: 10_000})
	tests := []struct {
		path     string
		cap      int64 // the request's own
		want     int
		tooLarge bool
	}{
		{"/0", 0, 0, false},
		{"/10000", 0, 10_000, false},
		{"/10001", 0, -1, true},
		{"/endless", 0, 10_000, true},
		{"/endless", 5, 5, true},
		{"/20000", 20_000, 20_000, false},
		{"/20000", -1, -1, true},
		{"/gzip", 0, 8, false},
	}
	for _, tt := range tests {
		req := get(t, "https://example.com"+tt.path)
		if tt.cap != 0 {
			req = req.WithContext(guard.WithMaxAnswer(t.Context(), tt.cap))
		}
		resp, err := client.Do(req)
		if err != nil {
			t.Errorf("%s: %v", tt.path, err)
			continue
		}
		got, err := io.ReadAll(resp.Body)
		if _, again := resp.Body.Read(make([]byte, 1)); err != nil && again != err {
			t.Errorf("%s: read again: %v", tt.path, again)
		}
		resp.Body.Close()
		failure, tooLarge := errors.AsType[*guard.TooLargeError](err)
		if tooLarge != tt.tooLarge || guard.NothingSent(err) {
			t.Errorf("%s: error %v, want too large: %t", tt.path, err, tt.tooLarge)
		}
		if tooLarge && (failure.Limit != max(tt.cap, 5) && failure.Limit != 10_000 || !strings.Contains(failure.Error(), fmt.Sprint(failure.Limit))) {
			t.Errorf("%s: %v", tt.path, failure)
		}
		// A length announced over the cap is not read at all.
		if want := max(tt.want, 0); len(got) != want {
			t.Errorf("%s: %d bytes, want %d", tt.path, len(got), want)
		}
	}
	if _, err := client.Do(get(t, "https://example.com/header")); err == nil || guard.NothingSent(err) {
		t.Errorf("a header over its cap: error %v", err)
	}
	head := get(t, "https://example.com/20000")
	head.Method = http.MethodHead
	resp, err := client.Do(head)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(resp.Body); err != nil {
		t.Errorf("HEAD: %v", err)
	}
	resp.Body.Close()
}

func TestConnectionsAreBounded(t *testing.T) {
	var open, most atomic.Int32
	n, cfg := serve(t, false, func(w http.ResponseWriter, r *http.Request) {
		if now := open.Add(1); now > most.Load() {
			most.Store(now)
		}
		defer open.Add(-1)
		io.WriteString(w, "x")
	})
	client := n.client(t, guard.Policy{TLSConfig: cfg, MaxConns: 2})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			resp, err := client.Do(get(t, "https://example.com/"))
			if err != nil {
				t.Error(err)
				return
			}
			io.Copy(io.Discard, resp.Body)
			resp.Body.Close()
		})
	}
	all.Wait()
	if most.Load() > 2 {
		t.Errorf("%d requests at a time, want at most 2", most.Load())
	}
}

func TestPresentsCertificate(t *testing.T) {
	for name, tt := range map[string]struct {
		cfg  *tls.Config
		want bool
	}{
		"nothing":     {nil, false},
		"roots":       {&tls.Config{RootCAs: x509.NewCertPool()}, false},
		"certificate": {&tls.Config{Certificates: []tls.Certificate{{}}}, true},
		"on demand":   {&tls.Config{GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return nil, nil }}, true},
	} {
		c, err := guard.New(guard.Policy{TLSConfig: tt.cfg})
		if err != nil {
			t.Fatal(err)
		}
		if got := c.PresentsCertificate(); got != tt.want {
			t.Errorf("%s: PresentsCertificate() = %v, want %v", name, got, tt.want)
		}
	}
}

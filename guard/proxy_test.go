package guard_test

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/legation/legation/guard"
)

const proxyPassword = "pa55/word"

// egress is a proxy at proxy.internal, a private address. Whatever it is asked
// for, it leads to one listener.
type egress struct {
	upstream string
	refuse   int    // a status; zero: none
	raw      string // what CONNECT is answered with instead

	mu    sync.Mutex
	asked []string // "CONNECT host:port", "GET http://…"
	lines []string // values of Proxy-Authorization
}

func (e *egress) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	e.mu.Lock()
	e.asked = append(e.asked, r.Method+" "+r.RequestURI)
	e.lines = append(e.lines, r.Header.Get("Proxy-Authorization"))
	e.mu.Unlock()
	if e.refuse != 0 {
		w.Header().Set("X-Said", r.Header.Get("Proxy-Authorization"))
		http.Error(w, "no: "+r.Header.Get("Proxy-Authorization"), e.refuse)
		return
	}
	if r.Method != http.MethodConnect {
		fmt.Fprintf(w, "plain through the proxy to %s", r.Host)
		return
	}
	client, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		panic(err)
	}
	defer client.Close()
	if e.raw != "" {
		io.WriteString(client, e.raw)
		return
	}
	server, err := net.Dial("tcp", e.upstream)
	if err != nil {
		return
	}
	defer server.Close()
	io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	var both sync.WaitGroup
	both.Go(func() {
		io.Copy(server, io.MultiReader(io.LimitReader(buffered, int64(buffered.Reader.Buffered())), client))
		server.(*net.TCPConn).CloseWrite()
	})
	io.Copy(client, server)
	client.Close()
	both.Wait()
}

func (e *egress) requests() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.asked)
}

// behind starts a proxy in front of a TLS server that is example.com. The
// client knows the proxy's name and no other.
func behind(t *testing.T, secure bool, e *egress, p guard.Policy, h http.HandlerFunc) (*network, *guard.Client) {
	t.Helper()
	target, cfg := serve(t, true, h)
	e.upstream = target.target
	front := httptest.NewUnstartedServer(e)
	front.Config.ErrorLog = discard
	scheme := "http"
	if secure {
		scheme = "https"
		front.StartTLS()
		roots := x509.NewCertPool()
		roots.AddCert(front.Certificate())
		p.ProxyTLSConfig = cmp.Or(p.ProxyTLSConfig, &tls.Config{RootCAs: roots, ServerName: "overwritten"})
	} else {
		front.Start()
	}
	t.Cleanup(front.Close)
	n := &network{names: map[string][]string{"example.com": {"10.0.0.7"}}, target: front.Listener.Addr().String()}
	if p.Proxy == nil { // the test certificate is for example.com
		p.Proxy = &url.URL{Scheme: scheme, Host: "example.com:3128", User: url.UserPassword("egress", proxyPassword)}
	}
	p.TLSConfig = cmp.Or(p.TLSConfig, cfg)
	return n, n.client(t, p)
}

// Everything goes to the proxy; TLS is with the target, whose certificate is
// verified; the proxy learns a host and a port.
func TestThroughAProxy(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:9")
	t.Setenv("NO_PROXY", "example.com")
	for _, secure := range []bool{false, true} {
		var e egress
		n, client := behind(t, secure, &e, guard.Policy{}, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, "%s %s %q", r.Proto, r.URL.Path, r.Header["Proxy-Authorization"])
		})
		for range 2 {
			resp, err := client.Do(get(t, "https://example.com:8443/secret/path"))
			if err != nil {
				t.Fatal(err)
			}
			body, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if want := "HTTP/2.0 /secret/path []"; string(body) != want || err != nil {
				t.Errorf("secure %v: answer %q, %v, want %q", secure, body, err, want)
			}
		}
		if diff := gocmp.Diff([]string{"CONNECT example.com:8443"}, e.requests()); diff != "" {
			t.Errorf("asked of the proxy (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff([]string{"Basic ZWdyZXNzOnBhNTUvd29yZA=="}, e.lines); diff != "" {
			t.Errorf("authorization (-want +got):\n%s", diff)
		}
		if diff := gocmp.Diff([]string{"10.0.0.7:3128"}, n.dials()); diff != "" {
			t.Errorf("dialled (-want +got):\n%s", diff)
		}
	}
}

// The names of targets are the proxy's to resolve.
func TestTheProxyResolvesTargets(t *testing.T) {
	var e egress
	n, client := behind(t, false, &e, guard.Policy{}, hello)
	// The certificate does not fit: the connection came about, the session did not.
	_, err := client.Do(get(t, "https://agent.test/"))
	failure, ok := errors.AsType[*guard.DialError](err)
	if !ok || failure.Phase != guard.PhaseTLS || failure.Host != "agent.test" || !guard.NothingSent(err) {
		t.Errorf("error %v, nothing sent %v", err, guard.NothingSent(err))
	}
	if diff := gocmp.Diff([]string{"CONNECT agent.test:443"}, e.requests()); diff != "" {
		t.Errorf("asked of the proxy (-want +got):\n%s", diff)
	}
	if diff := gocmp.Diff([]string{"example.com"}, n.resolved); diff != "" {
		t.Errorf("resolved (-want +got):\n%s", diff)
	}
}

// What is written in a URL is judged before the proxy hears of it.
func TestWhatIsWrittenIsJudgedWithAProxyToo(t *testing.T) {
	var e egress
	policy := guard.Policy{AllowHosts: []string{"127.0.0.2"}, AllowCIDRs: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	n, client := behind(t, false, &e, policy, hello)
	for target, asked := range map[string]string{
		"https://127.0.0.1/":              "",
		"https://169.254.169.254/latest/": "",
		"https://[::1]/":                  "",
		"https://[::ffff:1.1.1.1]/":       "",
		"https://localhost/":              "",
		"https://a.LocalHost./":           "",
		"https://0x7f000001/":             "",
		"http://agent.test/":              "",
		"http://example.com:3128/":        "", // the proxy is no target
		"https://user@agent.test/":        "",
		"https://127.0.0.2/":              "CONNECT 127.0.0.2:443",
		"https://10.1.2.3:8443/":          "CONNECT 10.1.2.3:8443",
		"https://1.1.1.1/":                "CONNECT 1.1.1.1:443",
		"https://[2606:4700::1111]/":      "CONNECT [2606:4700::1111]:443",
		"https://notlocalhost/":           "CONNECT notlocalhost:443",
	} {
		before, dialled := len(e.requests()), len(n.dials())
		_, err := client.Do(get(t, target))
		_, url := errors.AsType[*guard.URLError](err)
		_, address := errors.AsType[*guard.AddressError](err)
		got := strings.Join(e.requests()[before:], ", ")
		if got != asked || (url || address) != (asked == "") || !guard.NothingSent(err) {
			t.Errorf("%s: asked %q, error %v, want %q", target, got, err, asked)
		}
		if asked == "" && len(n.dials()) != dialled {
			t.Errorf("%s: the proxy was dialled", target)
		}
		if err := guard.CheckURL(target, guard.Policy{Proxy: somewhere(), AllowHosts: policy.AllowHosts, AllowCIDRs: policy.AllowCIDRs}); (err == nil) != (asked != "") {
			t.Errorf("CheckURL(%s): %v", target, err)
		}
	}
	if err := guard.CheckURL("https://localhost/", guard.Policy{}); err != nil {
		t.Errorf("without a proxy the name is judged when it is dialled: %v", err)
	}
}

func somewhere() *url.URL { return &url.URL{Scheme: "http", Host: "proxy.example:3128"} }

func TestPlainHTTPThroughAProxy(t *testing.T) {
	for _, secure := range []bool{false, true} {
		var e egress
		n, client := behind(t, secure, &e, guard.Policy{AllowHosts: []string{"plain.test"}}, hello)
		resp, err := client.Do(get(t, "http://plain.test:8080/x?y=1"))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if want := "plain through the proxy to plain.test:8080"; string(body) != want || err != nil {
			t.Errorf("answer %q, %v, want %q", body, err, want)
		}
		if diff := gocmp.Diff([]string{"GET http://plain.test:8080/x?y=1"}, e.requests()); diff != "" {
			t.Errorf("asked of the proxy (-want +got):\n%s", diff)
		}
		if len(e.lines) != 1 || e.lines[0] == "" {
			t.Errorf("authorization %q", e.lines)
		}
		if diff := gocmp.Diff([]string{"10.0.0.7:3128"}, n.dials()); diff != "" {
			t.Errorf("dialled (-want +got):\n%s", diff)
		}

		// The request itself went to the proxy, so a refusal may not say that
		// nothing was sent.
		e.refuse = http.StatusProxyAuthRequired
		_, err = client.Do(get(t, "http://plain.test:8080/"))
		refusal, ok := errors.AsType[*guard.ProxyError](err)
		if !ok || refusal.Status != 407 || guard.NothingSent(err) {
			t.Errorf("error %v, nothing sent %v", err, guard.NothingSent(err))
		}
		withoutCredentials(t, err)
		client.Close()
		n.target = ""
		_, err = client.Do(get(t, "http://plain.test:8080/"))
		failure, ok := errors.AsType[*guard.DialError](err)
		if !ok || failure.Phase != guard.PhaseProxy || failure.Host != "plain.test" || !guard.NothingSent(err) {
			t.Errorf("without a proxy: error %v", err)
		}
	}
}

// What a proxy answers to a plain request may be anything, and may repeat what it
// was sent.
func TestPlainAnswersOfAProxyThatAreNone(t *testing.T) {
	const said = "egress pa55/word ZWdyZXNzOnBhNTUvd29yZA=="
	for name, answer := range map[string]string{
		"no HTTP":     said + "\r\n\r\n",
		"a status":    "HTTP/1.1 " + said + "\r\n\r\n",
		"a header":    "HTTP/1.1 200 OK\r\n" + said + "\r\n\r\n",
		"a length":    "HTTP/1.1 200 OK\r\nContent-Length: " + said + "\r\n\r\n",
		"an encoding": "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + said + "\r\n\r\n",
		"a trailer":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n0\r\n" + said + "\r\n\r\n",
		"a redirect":  "HTTP/1.1 302 Found\r\nLocation: http://pa55.test/\r\nContent-Length: 0\r\n\r\n",
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		var answered sync.WaitGroup
		answered.Go(func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				io.WriteString(conn, answer)
			}
		})
		n := &network{names: map[string][]string{"proxy.test": {public}}, target: listener.Addr().String()}
		client := n.client(t, guard.Policy{
			AllowHosts: []string{"plain.test"},
			Proxy:      &url.URL{Scheme: "http", Host: "proxy.test:3128", User: url.UserPassword("egress", proxyPassword)},
		})
		resp, err := client.Do(get(t, "http://plain.test/"))
		if err == nil {
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
		}
		if err == nil || guard.NothingSent(err) {
			t.Errorf("%s: error %v, nothing sent %v", name, err, guard.NothingSent(err))
		} else {
			withoutCredentials(t, err)
		}
		if away, ok := errors.AsType[*guard.RedirectError](err); ok && away.Host != "" {
			t.Errorf("%s: a redirect to %s is named", name, away.Host)
		}
		client.Close()
		listener.Close()
		answered.Wait()
	}
}

func withoutCredentials(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{"pa55", "pa55%2Fword", "ZWdyZXNz", "egress"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("an error repeats credentials of the proxy: %v", err)
		}
	}
}

func TestRefusalsOfAProxy(t *testing.T) {
	for status, words := range map[int]string{
		407: "user name and password", 403: "does not allow", 405: "makes no connections", 429: "no capacity",
		502: "can not reach this host itself", 504: "can not reach this host itself", 302: "made no connection", 500: "made no connection",
	} {
		e := egress{refuse: status}
		_, client := behind(t, false, &e, guard.Policy{}, hello)
		_, err := client.Do(get(t, "https://agent.test/"))
		failure, ok := errors.AsType[*guard.DialError](err)
		if !ok || failure.Phase != guard.PhaseProxy || failure.Host != "agent.test" || !guard.NothingSent(err) {
			t.Fatalf("status %d: error %v, nothing sent %v", status, err, guard.NothingSent(err))
		}
		if refusal, ok := errors.AsType[*guard.ProxyError](err); !ok || refusal.Status != status || refusal.Proxy != "example.com" {
			t.Errorf("status %d: error %v", status, err)
		}
		if !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("status %d: error %v, want %q", status, err, words)
		}
		withoutCredentials(t, err)
	}
}

func TestAnswersOfAProxyThatAreNone(t *testing.T) {
	for raw, ok := range map[string]bool{
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n":  false,
		"HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 200 OK\r\n\r\nfrom the proxy": false,
		"HTTP/1.1 200 OK\r\n":                                                 false,
		"SSH-2.0-OpenSSH_9.6\r\n\r\n" + proxyPassword:                         false,
		"HTTP/1.1 101 Switching Protocols\r\n\r\n":                            false,
		"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("y", 1<<20) + "\r\n\r\n":    false,
		strings.Repeat("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", 1<<14):  false,
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + proxyPassword + "\r\n\r\n": false,
		"HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\n":                       true, // then closed: no TLS
		"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 299 Some\r\nA: b\r\n\r\n":   true,
	} {
		e := egress{raw: raw}
		_, client := behind(t, false, &e, guard.Policy{}, hello)
		_, err := client.Do(get(t, "https://agent.test/"))
		failure, is := errors.AsType[*guard.DialError](err)
		want := guard.PhaseProxy
		if ok {
			want = guard.PhaseTLS
		}
		if !is || failure.Phase != want || !guard.NothingSent(err) {
			t.Errorf("%.60q: error %v, want phase %s", raw, err, want)
			continue
		}
		withoutCredentials(t, err)
	}
}

// A proxy that takes the question and says nothing is waited for as long as a
// connection may take, and no longer than the caller waits.
func TestASilentProxy(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	asked := make(chan string, 2)
	var serving sync.WaitGroup
	defer serving.Wait()
	ctx, done := context.WithCancel(t.Context())
	defer done()
	for range 2 {
		serving.Go(func() {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			defer conn.Close()
			line, _ := bufio.NewReader(conn).ReadString('\n')
			asked <- line
			<-ctx.Done()
		})
	}
	n := &network{target: listener.Addr().String()}
	client := n.client(t, guard.Policy{
		Proxy:          &url.URL{Scheme: "http", Host: "10.0.0.7:3128"},
		ConnectTimeout: 50 * time.Millisecond,
	})
	_, err = client.Do(get(t, "https://agent.test/"))
	if failure, ok := errors.AsType[*guard.DialError](err); !ok || failure.Phase != guard.PhaseProxy || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
	if line := <-asked; line != "CONNECT agent.test:443 HTTP/1.1\r\n" {
		t.Errorf("asked %q", line)
	}

	patient := n.client(t, guard.Policy{Proxy: &url.URL{Scheme: "http", Host: "10.0.0.7:3128"}})
	waiting, leave := context.WithCancel(t.Context())
	go func() { <-asked; leave() }()
	_, err = patient.Do(get(t, "https://agent.test/").WithContext(waiting))
	if !errors.Is(err, context.Canceled) || !guard.NothingSent(err) {
		t.Errorf("a caller that left: error %v, nothing sent %v", err, guard.NothingSent(err))
	}
	done()
}

func TestAProxyThatIsAway(t *testing.T) {
	for name, n := range map[string]*network{
		"resolve": {}, "no address": {names: map[string][]string{"example.com": {}}},
		"connect": {names: map[string][]string{"example.com": {"10.0.0.7"}}},
	} {
		client := n.client(t, guard.Policy{Proxy: &url.URL{Scheme: "http", Host: "example.com:3128"}})
		_, err := client.Do(get(t, "https://agent.test/"))
		failure, ok := errors.AsType[*guard.DialError](err)
		if !ok || failure.Phase != guard.PhaseProxy || failure.Host != "agent.test" || !guard.NothingSent(err) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	var e egress
	// An https proxy whose authority nobody knows: that of the target does not count.
	_, client := behind(t, true, &e, guard.Policy{ProxyTLSConfig: &tls.Config{}}, hello)
	_, err := client.Do(get(t, "https://agent.test/"))
	if _, ok := errors.AsType[*tls.CertificateVerificationError](err); !ok || len(e.requests()) != 0 || !guard.NothingSent(err) {
		t.Errorf("error %v, asked %q", err, e.requests())
	}
}

func TestRedirectsBehindAProxyAreRefused(t *testing.T) {
	var e egress
	_, client := behind(t, false, &e, guard.Policy{}, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://other.test/", http.StatusTemporaryRedirect)
	})
	_, err := client.Do(get(t, "https://example.com/"))
	if redirect, ok := errors.AsType[*guard.RedirectError](err); !ok || redirect.Host != "other.test" {
		t.Errorf("error %v", err)
	}
	if got := e.requests(); len(got) != 1 {
		t.Errorf("asked %q", got)
	}
}

// What left through a tunnel has left.
func TestAConnectionLostBehindAProxy(t *testing.T) {
	var e egress
	_, client := behind(t, false, &e, guard.Policy{}, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	_, err := client.Do(get(t, "https://example.com/"))
	if err == nil || guard.NothingSent(err) {
		t.Errorf("error %v, nothing sent %v", err, guard.NothingSent(err))
	}
}

func TestProxiesThatAreRefused(t *testing.T) {
	for _, raw := range []string{
		"socks5://proxy.example:1080", "http:///", "http://proxy.example:3128/path", "http://proxy.example?x=1", "http://proxy.example#x",
		"http://proxy.example:0", "http://proxy.example:70000", "http://0x7f000001:3128", "http://pröxy.example", "http://proxy.example:",
		"proxy.example:3128", "http://a%3Ab:" + proxyPassword[:4] + "@proxy.example",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		_, err = guard.New(guard.Policy{Proxy: u})
		if err == nil {
			t.Errorf("%s is accepted", raw)
			continue
		}
		withoutCredentials(t, err)
		if err := guard.CheckURL("https://agent.test/", guard.Policy{Proxy: u}); err == nil {
			t.Errorf("CheckURL accepts the proxy %s", raw)
		}
	}
	if _, err := guard.New(guard.Policy{Proxy: somewhere(), ProxyTLSConfig: &tls.Config{InsecureSkipVerify: true}}); err == nil {
		t.Error("a configuration for the proxy that skips verification is accepted")
	}
}

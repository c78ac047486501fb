package guard_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/legation/legation/guard"
)

// piped makes a client whose connections are pipes to peer, in plain http.
func piped(t *testing.T, p guard.Policy, peer func(net.Conn)) *guard.Client {
	t.Helper()
	p.AllowHosts = []string{"peer.example"}
	p.Resolve = func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}
	p.Dial = func(context.Context, string, string) (net.Conn, error) {
		near, far := net.Pipe()
		go func() {
			defer far.Close()
			peer(far)
		}()
		return near, nil
	}
	client, err := guard.New(p)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func post(ctx context.Context, url string) *http.Request {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader("body"))
	if err != nil {
		panic(err)
	}
	return req
}

func readRequest(c net.Conn) {
	if req, err := http.ReadRequest(bufio.NewReader(c)); err == nil {
		io.Copy(io.Discard, req.Body)
	}
}

func TestBytesMayHaveLeft(t *testing.T) {
	tests := []struct {
		name string
		peer func(net.Conn)
	}{
		{"closed after the request", readRequest},
		{"closed after one byte", func(c net.Conn) { c.Read(make([]byte, 1)) }},
		{"answered with something else", func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, "SSH-2.0-"+strings.Repeat("x", 5000)+"\r\n\r\n")
		}},
		{"answered half a header", func(c net.Conn) { readRequest(c); io.WriteString(c, "HTTP/1.1 200 OK\r\nX: ") }},
		{"never answered", func(c net.Conn) { readRequest(c); c.Read(make([]byte, 1)) }},
		{"never read to the end", func(c net.Conn) { c.Read(make([]byte, 1)); time.Sleep(2 * time.Minute) }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
				defer cancel()
				client := piped(t, guard.Policy{}, tt.peer)
				_, err := client.Do(post(ctx, "http://peer.example/s3cret"))
				if err == nil || guard.NothingSent(err) {
					t.Errorf("error %v, nothing sent: %t", err, guard.NothingSent(err))
				}
				if text := err.Error(); len(text) > 500 || strings.Contains(text, "s3cret") || !strings.Contains(text, `POST to host "peer.example"`) {
					t.Errorf("error text %q", text)
				}
				time.Sleep(2 * time.Minute) // until the peer has ended
			})
		})
	}
}

func TestNothingWasSent(t *testing.T) {
	t.Run("the peer closed before the request", func(t *testing.T) {
		// A connection that is closed at once may or may not take the first
		// write; a pipe does not.
		_, err := piped(t, guard.Policy{}, func(c net.Conn) {}).Do(post(t.Context(), "http://peer.example/"))
		if !guard.NothingSent(err) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("the deadline ended the resolving", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ended := make(chan struct{})
			client, err := guard.New(guard.Policy{Resolve: func(ctx context.Context, _ string) ([]netip.Addr, error) {
				defer close(ended)
				<-ctx.Done()
				return nil, ctx.Err()
			}})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err = client.Do(post(ctx, "https://agent.example/"))
			if !guard.NothingSent(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			start := time.Now()
			if <-ended; time.Since(start) > 0 {
				t.Error("resolving went on after the request had ended")
			}
		})
	})
	t.Run("connecting took too long", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			n := &network{
				names:  map[string][]string{"agent.example": {"1.1.1.1", "1.1.1.2"}},
				silent: map[string]bool{"1.1.1.1:443": true, "1.1.1.2:443": true},
			}
			client := n.client(t, guard.Policy{})
			start := time.Now()
			_, err := client.Do(post(t.Context(), "https://agent.example/"))
			failure, ok := errors.AsType[*guard.DialError](err)
			if !ok || failure.Phase != guard.PhaseConnect || !guard.NothingSent(err) || !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			if took := time.Since(start); took != 10*time.Second || len(n.dials()) != 2 {
				t.Errorf("gave up after %v and %v", took, n.dials())
			}
		})
	})
	t.Run("no connection was free", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := piped(t, guard.Policy{MaxConns: 1}, func(c net.Conn) { readRequest(c); c.Read(make([]byte, 1)) })
			busy, cancel := context.WithCancel(t.Context())
			done := make(chan error)
			go func() {
				_, err := client.Do(post(busy, "http://peer.example/"))
				done <- err
			}()
			synctest.Wait()
			ctx, end := context.WithTimeout(t.Context(), time.Second)
			defer end()
			if _, err := client.Do(post(ctx, "http://peer.example/")); !guard.NothingSent(err) {
				t.Errorf("waiting request: error %v", err)
			}
			cancel()
			if err := <-done; err == nil || guard.NothingSent(err) {
				t.Errorf("sent request: error %v", err)
			}
		})
	})
	t.Run("the context had ended before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := piped(t, guard.Policy{}, readRequest).Do(post(ctx, "http://peer.example/"))
		if !guard.NothingSent(err) || !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
	})
	t.Run("a hook panicked", func(t *testing.T) {
		for _, url := range []string{"https://agent.example/", "http://peer.example/"} {
			client, err := guard.New(guard.Policy{
				AllowHosts: []string{"peer.example"},
				Resolve:    func(context.Context, string) ([]netip.Addr, error) { panic("oops") },
			})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := client.Do(post(t.Context(), url)); !guard.NothingSent(err) {
				t.Errorf("error %v", err)
			}
		}
	})
	for _, err := range []error{nil, errors.New("x"), &guard.TooLargeError{}, &guard.RedirectError{}} {
		if guard.NothingSent(err) {
			t.Errorf("NothingSent(%v)", err)
		}
	}
}

// A kept connection that the peer has closed meanwhile is replaced without the
// request having been on it; if there is no other, nothing was sent.
func TestADeadConnectionIsReplaced(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := piped(t, guard.Policy{}, func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		})
		for range 3 {
			resp, err := client.Do(post(t.Context(), "http://peer.example/"))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(resp.Body); string(got) != "ok" || err != nil {
				t.Errorf("answer %q, %v", got, err)
			}
			resp.Body.Close()
			synctest.Wait()
		}
	})
}

func TestHTTP2MayHaveSent(t *testing.T) {
	n, cfg := serve(t, true, func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	_, err := n.client(t, guard.Policy{TLSConfig: cfg}).Do(post(t.Context(), "https://example.com/"))
	if err == nil || guard.NothingSent(err) {
		t.Errorf("error %v", err)
	}
}

func TestTheAnswersHeaderIsNotAwaitedForEver(t *testing.T) {
	silent := func(c net.Conn) { readRequest(c); c.Read(make([]byte, 1)) }
	slow := func(c net.Conn) {
		readRequest(c)
		time.Sleep(59 * time.Second)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
		time.Sleep(time.Hour)
		io.WriteString(c, "ok")
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		_, err := piped(t, guard.Policy{}, silent).Do(post(t.Context(), "http://peer.example/"))
		if !errors.Is(err, context.DeadlineExceeded) || guard.NothingSent(err) {
			t.Errorf("error %v", err)
		}
		if took := time.Since(start); took != time.Minute {
			t.Errorf("gave up after %v, want 1m", took)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		// With a deadline of the caller's own there is no other.
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		start := time.Now()
		_, err := piped(t, guard.Policy{}, silent).Do(post(ctx, "http://peer.example/"))
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Hour {
			t.Errorf("error %v after %v", err, time.Since(start))
		}
	})
	synctest.Test(t, func(t *testing.T) {
		// A header in time stops the clock; a body may take longer.
		resp, err := piped(t, guard.Policy{}, slow).Do(post(t.Context(), "http://peer.example/"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(resp.Body)
		if string(got) != "ok" || err != nil {
			t.Errorf("answer %q, %v", got, err)
		}
		resp.Body.Close()
	})
}

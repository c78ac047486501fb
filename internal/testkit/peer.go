package testkit

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"sync"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/guard"
)

// Peer is an HTTP/1.1 server that answers what a test says, right or wrong. It
// takes one request from a connection and then closes it.
type Peer struct {
	// URL is the peer's origin, without a slash at the end.
	URL string

	t      testing.TB
	answer Answer
	dial   func(ctx context.Context, network, address string) (net.Conn, error)

	mu       sync.Mutex
	requests []*Request
	conns    map[net.Conn]bool
	closed   bool
	running  sync.WaitGroup
}

// Answer writes the answer to a request, or does not. It may be called by
// several goroutines at a time.
type Answer func(w *Wire, r *Request)

// Request is a request a peer was sent.
type Request struct {
	// Method, Target, Host, Header and Body are those of the HTTP request.
	Method, Target, Host string
	Header               http.Header
	Body                 []byte

	// ID, Operation and Params are the JSON-RPC envelope's; empty where the
	// body is none. ID and Params are JSON text.
	ID, Operation, Params string
}

// NewPeer starts a peer that is reached through memory: one write of it is one
// read of the client's, and it may live in a synctest bubble. It ends with the
// test.
func NewPeer(t testing.TB, answer Answer) *Peer {
	p := newPeer(t, answer)
	p.URL = "http://peer.example"
	p.dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
		client, server := net.Pipe()
		if !p.start(server) {
			return nil, errors.New("testkit: the peer has ended")
		}
		return client, nil
	}
	return p
}

// ListenPeer starts a peer on a loopback port. It ends with the test.
func ListenPeer(t testing.TB, answer Answer) *Peer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatalf("listen: %v", err)
	}
	p := newPeer(t, answer)
	p.URL = "http://" + listener.Addr().String()
	p.running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil || !p.start(conn) {
				return
			}
		}
	})
	t.Cleanup(func() { listener.Close() }) // before the cleanup that waits
	return p
}

func newPeer(t testing.TB, answer Answer) *Peer {
	p := &Peer{t: t, answer: answer, conns: map[net.Conn]bool{}}
	t.Cleanup(p.close)
	return p
}

// Policy is a guard's policy under which the peer can be reached.
func (p *Peer) Policy() guard.Policy {
	policy := guard.Policy{AllowHosts: []string{"peer.example", "127.0.0.1", "localhost"}, Dial: p.dial}
	if p.dial != nil {
		policy.Resolve = func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
		}
	}
	return policy
}

// Requests returns what the peer was sent so far.
func (p *Peer) Requests() []*Request {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

// Operations returns the operations the peer was asked for so far, and
// "GET /path" for what was no JSON-RPC.
func (p *Peer) Operations() []string {
	var names []string
	for _, r := range p.Requests() {
		names = append(names, r.name())
	}
	return names
}

func (r *Request) name() string {
	if r.Operation != "" {
		return r.Operation
	}
	return r.Method + " " + r.Target
}

// start serves a connection unless the peer has ended.
func (p *Peer) start(conn net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		conn.Close()
		return false
	}
	p.conns[conn] = true
	p.running.Go(func() { p.serve(conn) })
	return true
}

func (p *Peer) close() {
	p.mu.Lock()
	p.closed = true
	for conn := range p.conns {
		conn.Close()
	}
	p.mu.Unlock()
	p.running.Wait()
}

func (p *Peer) serve(conn net.Conn) {
	defer func() {
		if r := recover(); r != nil {
			p.t.Errorf("testkit: the answer panicked: %v", r)
		}
		conn.Close()
		p.mu.Lock()
		delete(p.conns, conn)
		p.mu.Unlock()
	}()
	request, err := read(conn)
	if err != nil {
		return // the client went away, or never wrote
	}
	p.mu.Lock()
	p.requests = append(p.requests, request)
	p.mu.Unlock()
	p.answer(&Wire{peer: p, conn: conn, request: request}, request)
}

const maxBody = 64 << 20

func read(conn net.Conn) (*Request, error) {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(io.LimitReader(req.Body, maxBody))
	if err != nil {
		return nil, err
	}
	r := &Request{Method: req.Method, Target: req.RequestURI, Host: req.Host, Header: req.Header, Body: body}
	var envelope struct {
		ID     jsontext.Value `json:"id"`
		Method string         `json:"method"`
		Params jsontext.Value `json:"params"`
	}
	if len(bytes.TrimSpace(body)) > 0 && json.Unmarshal(body, &envelope) == nil {
		r.ID, r.Operation, r.Params = string(envelope.ID), envelope.Method, string(envelope.Params)
	}
	return r, nil
}

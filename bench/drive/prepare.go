package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"time"
)

// fill gives a server as many tasks as are to be listed, and looks that it has
// them.
func (b *bench) fill(ctx context.Context, s *server) error {
	var left atomic.Int64
	left.Store(int64(b.tasks))
	clients := make([]operation, 32)
	for i := range clients {
		c, err := dial(s.address)
		if err != nil {
			return err
		}
		defer c.Close()
		defer context.AfterFunc(ctx, func() { c.Close() })()
		send, err := sendMessage(s, c)
		if err != nil {
			return err
		}
		clients[i] = func() error {
			for left.Add(-1) >= 0 {
				if err := send(); err != nil {
					return err
				}
			}
			return nil
		}
	}
	if _, err := repeat(ctx, clients, 0); err != nil {
		return err
	}
	c, err := dial(s.address)
	if err != nil {
		return err
	}
	defer c.Close()
	return expect(c, request("POST", s, "/", rpc("ListTasks", `{"pageSize":1}`)), fmt.Appendf(nil, `"totalSize":%d`, b.tasks))
}

// teach tells the floor what our server answers to a load, or an event of it,
// so that it writes as many bytes.
func teach(l *load, servers map[string]*server) error {
	if !slices.Contains(l.servers, floor) {
		return nil
	}
	c, err := dial(servers[ours].address)
	if err != nil {
		return err
	}
	defer c.Close()
	op, err := l.client(servers[ours], c)
	if err != nil {
		return err
	}
	path := "/"
	var content []byte
	if l.per == 1 {
		if err := op(); err != nil {
			return err
		}
		content = bytes.Clone(c.body.Bytes())
	} else {
		kind := "stream"
		if l.per == 1000 {
			kind = "chunks"
		}
		req := newFresh(servers[ours], "/", "SendStreamingMessage", fmt.Sprintf("%s:%d:0", kind, l.per), "")
		events, size, err := c.stream(req.next())
		if err != nil {
			return err
		}
		path, content = "/stream", bytes.Repeat([]byte("x"), max(size/events-len("data: \n"), len(completed)))
		copy(content, completed)
	}
	f, err := dial(servers[floor].address)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = f.call(request("PUT", servers[floor], path, content))
	return err
}

// memory is what servers hold while they do nothing, in bytes.
type memory struct {
	idle          map[string]int64
	subscriptions int
	plain, secure int64 // for each subscription of ours, over HTTP and HTTPS
}

// settle is how long a server is left alone before its memory is read.
const settle = 2 * time.Second

// memory measures servers that were asked nothing, and ours with subscriptions
// to tasks that wait for input, 20 to each.
func (b *bench) memory(ctx context.Context) (memory, error) {
	m := memory{idle: make(map[string]int64), subscriptions: b.subscriptions}
	servers, stop, err := b.startAll(ctx, all)
	if err != nil {
		return m, err
	}
	defer stop()
	if err := pause(ctx, settle); err != nil {
		return m, err
	}
	for name, s := range servers {
		m.idle[name] = s.resident()
	}
	if m.plain, err = b.subscribed(ctx, servers[ours], dial); err != nil {
		return m, err
	}
	certificate := filepath.Join(b.dir, "certificate.pem")
	secure, err := b.start(ctx, ours, "--certificate", certificate)
	if err != nil {
		return m, err
	}
	defer secure.stop()
	text, err := os.ReadFile(certificate)
	if err != nil {
		return m, err
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	m.secure, err = b.subscribed(ctx, secure, func(address string) (*conn, error) { return dialTLS(address, trusted) })
	return m, err
}

// subscribed measures what a server holds for each idle subscription.
func (b *bench) subscribed(ctx context.Context, s *server, dial func(address string) (*conn, error)) (int64, error) {
	conns := make([]*conn, 0, b.subscriptions+1)
	defer func() {
		for _, c := range conns {
			c.Close()
		}
	}()
	first, err := dial(s.address)
	if err != nil {
		return 0, err
	}
	conns = append(conns, first)
	ask := newFresh(s, "/", "SendMessage", "ask", "")
	var ids []string
	for range max(b.subscriptions/20, 1) {
		body, err := first.call(ask.next())
		if err != nil {
			return 0, err
		}
		id, err := taskID(body)
		if err != nil {
			return 0, err
		}
		ids = append(ids, id)
	}
	if err := pause(ctx, settle); err != nil {
		return 0, err
	}
	before := s.resident()
	for i := range b.subscriptions {
		c, err := dial(s.address)
		if err != nil {
			return 0, err
		}
		conns = append(conns, c)
		if err := c.firstEvent(request("POST", s, "/", rpc("SubscribeToTask", `{"id":"`+ids[i%len(ids)]+`"}`))); err != nil {
			return 0, err
		}
	}
	if err := pause(ctx, settle); err != nil {
		return 0, err
	}
	return (s.resident() - before) / int64(b.subscriptions), nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}

package guard

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http/httptrace"
	"sync"
	"sync/atomic"
)

// flight records, for one request, the connections it was given and how much
// had been written to each by then. A request may be given several: net/http
// takes another one when a reused connection turns out to be dead.
type flight struct {
	caller context.Context

	mu    sync.Mutex
	conns []boarding
	sure  bool // bytes may have left, whatever the counters say
}

type boarding struct {
	conn   *conn
	writes int64
}

type flightKey struct{}

func withFlight(ctx context.Context) (context.Context, *flight) {
	f := &flight{caller: ctx}
	ctx = context.WithValue(ctx, flightKey{}, f)
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: f.board}), f
}

func (f *flight) board(info httptrace.GotConnInfo) {
	f.mu.Lock()
	defer f.mu.Unlock()
	raw := info.Conn
	if session, ok := raw.(*tls.Conn); ok {
		// An HTTP/2 connection is shared and writes on its own account, also
		// after a request on it has been given up.
		f.sure = f.sure || session.ConnectionState().NegotiatedProtocol == "h2"
		raw = session.NetConn()
	}
	if own, ok := raw.(*conn); ok {
		f.conns = append(f.conns, boarding{own, own.writes.Load()})
	} else {
		f.sure = true
	}
}

// mayHaveSent is asked once the request has failed.
func (f *flight) mayHaveSent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.sure {
		return true
	}
	for _, b := range f.conns {
		// A failed request's connection is of no more use, and only a closed
		// one can not be written to after we looked.
		if b.conn.writes.Load() == b.writes {
			b.conn.Close()
		}
		if b.conn.writes.Load() != b.writes {
			return true
		}
	}
	return false
}

// explain turns an error of net/http into one that says whom it is about and
// whether anything was sent.
func (f *flight) explain(err error, method, host string) error {
	_, misspelt := errors.AsType[*URLError](err)
	_, forbidden := errors.AsType[*AddressError](err)
	unreached, failed := errors.AsType[*DialError](err)
	switch {
	case failed && unreached.Phase == PhaseProxy: // net/http wraps it
		err = &DialError{Host: host, Phase: PhaseProxy, Err: unreached.Err}
	case !failed && !misspelt && !forbidden:
		err = &exchangeError{method, host, err}
	}
	if f.mayHaveSent() {
		return err
	}
	return &unsentError{err}
}

// conn counts the writes that may have put bytes on the network.
type conn struct {
	net.Conn
	writes atomic.Int64
}

func (c *conn) Write(b []byte) (int, error) {
	// Counted before it happens: a request may be given up meanwhile.
	c.writes.Add(1)
	n, err := c.Conn.Write(b)
	if n == 0 && err != nil {
		c.writes.Add(-1)
	}
	return n, err
}

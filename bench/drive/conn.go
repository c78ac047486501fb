package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

const (
	// patience bounds one exchange, however slow a server is.
	patience    = 60 * time.Second
	largestBody = 16 << 20
)

// conn is one client's connection. It is leaner than http.Client, whose cost
// would be part of every figure: the driver and the servers share the machine.
type conn struct {
	net.Conn
	r    *bufio.Reader
	body bytes.Buffer
}

// dialTLS connects to a server that shows a certificate of ours.
func dialTLS(address string, certificates *x509.CertPool) (*conn, error) {
	c, err := tls.DialWithDialer(&net.Dialer{Timeout: 10 * time.Second}, "tcp", address, &tls.Config{RootCAs: certificates})
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 4<<10)}, nil
}

func dial(address string) (*conn, error) {
	c, err := net.DialTimeout("tcp", address, 10*time.Second)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, r: bufio.NewReaderSize(c, 16<<10)}, nil
}

// request is the bytes of a request to a server.
func request(method string, s *server, path string, body []byte) []byte {
	req := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nA2A-Version: 1.0\r\nContent-Length: %d\r\n",
		method, path, s.address, len(body))
	if s.authorization != "" {
		req = fmt.Appendf(req, "Authorization: %s\r\n", s.authorization)
	}
	req = append(req, "\r\n"...)
	return append(req, body...)
}

// send sends a request and reads the head of its answer.
func (c *conn) send(req []byte) (*http.Response, error) {
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		return nil, err
	}
	if _, err := c.Write(req); err != nil {
		return nil, err
	}
	resp, err := http.ReadResponse(c.r, nil)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(resp.Body, 200))
		return nil, fmt.Errorf("%s: %s", resp.Status, text)
	}
	return resp, nil
}

// call sends a request and returns the body of its answer, which is valid until
// the next call.
func (c *conn) call(req []byte) ([]byte, error) {
	resp, err := c.send(req) //nolint:bodyclose // The connection is ours, and so is what is left on it.
	if err != nil {
		return nil, err
	}
	c.body.Reset()
	if _, err := c.body.ReadFrom(io.LimitReader(resp.Body, largestBody)); err != nil {
		return nil, err
	}
	return c.body.Bytes(), nil
}

var (
	dataField = []byte("data:")
	completed = []byte("TASK_STATE_COMPLETED")
)

// stream sends a request and reads its events up to the end of the stream. It
// returns how many there were and how many bytes they took, and fails if the last
// does not say that the task is completed.
func (c *conn) stream(req []byte) (events, size int, err error) {
	resp, err := c.send(req) //nolint:bodyclose // The connection is ours, and so is what is left on it.
	if err != nil {
		return 0, 0, err
	}
	lines := bufio.NewReaderSize(resp.Body, 64<<10)
	done, inside := false, false
	for {
		line, err := lines.ReadSlice('\n')
		begins := !inside
		inside = errors.Is(err, bufio.ErrBufferFull)
		if begins && bytes.HasPrefix(line, dataField) {
			events++
			size += len(line)
			done = bytes.Contains(line, completed)
		}
		switch {
		case inside, err == nil:
		case !errors.Is(err, io.EOF):
			return events, size, err
		case !done:
			return events, size, fmt.Errorf("the stream ended after %d events, and not with a completed task", events)
		default:
			return events, size, nil
		}
	}
}

// firstEvent sends a request and reads the first event of its stream, which
// stays open.
func (c *conn) firstEvent(req []byte) error {
	resp, err := c.send(req) //nolint:bodyclose // The connection is ours, and so is what is left on it.
	if err != nil {
		return err
	}
	lines := bufio.NewReaderSize(resp.Body, 1<<10)
	for {
		line, err := lines.ReadSlice('\n')
		switch {
		case bytes.HasPrefix(line, dataField):
			return nil
		case err != nil && !errors.Is(err, bufio.ErrBufferFull):
			return err
		}
	}
}

package testkit

import (
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
)

// Wire is the connection an answer is written to.
type Wire struct {
	peer    *Peer
	conn    net.Conn
	request *Request
}

// Write puts text on the wire in one write. $ID stands for the request's id and
// $URL for the peer's URL. It reports whether the client is still there.
func (w *Wire) Write(text string) bool {
	_, err := w.conn.Write([]byte(w.fill(text)))
	return err == nil
}

func (w *Wire) fill(text string) string {
	return strings.NewReplacer("$ID", w.request.ID, "$URL", w.peer.URL).Replace(text)
}

// Wait returns once the client has closed the connection, or the test has
// ended.
func (w *Wire) Wait() {
	var one [1]byte
	for {
		if _, err := w.conn.Read(one[:]); err != nil {
			return
		}
	}
}

// Reset closes the connection so that a TCP client sees it reset.
func (w *Wire) Reset() {
	if tcp, ok := w.conn.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	w.conn.Close()
}

// Script gives the first answer to the first request, and so on. Requests
// beyond the last fail the test.
func Script(answers ...Answer) Answer {
	var mu sync.Mutex
	next := 0
	return func(w *Wire, r *Request) {
		mu.Lock()
		at := next
		next++
		mu.Unlock()
		if at >= len(answers) {
			w.peer.t.Errorf("testkit: unexpected request %d: %s", at+1, r.name())
			return
		}
		answers[at](w, r)
	}
}

// Routes answers by operation, or by "GET /path" for what is no JSON-RPC. Any
// other request is answered with 404.
func Routes(routes map[string]Answer) Answer {
	missing := HTTP(http.StatusNotFound, "text/plain", "not found")
	return func(w *Wire, r *Request) {
		answer, ok := routes[r.name()]
		if !ok {
			answer = missing
		}
		answer(w, r)
	}
}

// HTTP answers with a status, a content type, which may be empty, a body and
// further header lines.
func HTTP(status int, contentType, body string, header ...string) Answer {
	return func(w *Wire, r *Request) {
		body := w.fill(body)
		w.Write(head(status, contentType, append(header, fmt.Sprintf("Content-Length: %d", len(body)))...) + body)
	}
}

func head(status int, contentType string, header ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "HTTP/1.1 %d %s\r\nConnection: close\r\n", status, http.StatusText(status))
	if contentType != "" {
		fmt.Fprintf(&b, "Content-Type: %s\r\n", contentType)
	}
	for _, line := range header {
		b.WriteString(line + "\r\n")
	}
	return b.String() + "\r\n"
}

// JSON answers 200 with a JSON body of any form.
func JSON(body string) Answer { return HTTP(http.StatusOK, "application/json", body) }

// Result answers with a result, which is JSON text.
func Result(result string) Answer { return JSON(Envelope(result)) }

// Envelope is a JSON-RPC response with a result, its id a placeholder.
func Envelope(result string) string { return `{"jsonrpc":"2.0","id":$ID,"result":` + result + `}` }

// Failure is a JSON-RPC response with an error, its id a placeholder.
func Failure(code int, message string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":$ID,"error":{"code":%d,"message":%q}}`, code, message)
}

// Fail answers 200 with an error.
func Fail(code int, message string) Answer { return JSON(Failure(code, message)) }

// Events answers with a stream of results, each JSON text, that ends well.
func Events(results ...string) Answer { return stream(true, frames(results)) }

// BrokenEvents answers with a stream of results that is cut after the last.
func BrokenEvents(results ...string) Answer { return stream(false, frames(results)) }

// OpenEvents answers with a stream of results that stays open after the last,
// until the client leaves.
func OpenEvents(results ...string) Answer {
	start := stream(false, frames(results))
	return func(w *Wire, r *Request) {
		start(w, r)
		w.Wait()
	}
}

// EventBytes answers with a stream of these bytes, each piece in a write and a
// chunk of its own, that ends well.
func EventBytes(pieces ...string) Answer { return stream(true, pieces) }

func frames(results []string) []string {
	var frames []string
	for _, result := range results {
		frames = append(frames, "data: "+Envelope(result)+"\n\n")
	}
	return frames
}

func stream(whole bool, pieces []string) Answer {
	return func(w *Wire, r *Request) {
		if !w.Write(head(http.StatusOK, "text/event-stream", "Transfer-Encoding: chunked")) {
			return
		}
		for _, piece := range pieces {
			if !w.Chunk(piece) {
				return
			}
		}
		if whole {
			w.Write("0\r\n\r\n")
		}
	}
}

// StreamHead writes the header of a stream. It reports whether the client is
// still there.
func (w *Wire) StreamHead() bool {
	return w.Write(head(http.StatusOK, "text/event-stream", "Transfer-Encoding: chunked"))
}

// Chunk writes a piece of a stream. It reports whether the client is still
// there.
func (w *Wire) Chunk(piece string) bool {
	if piece == "" {
		return true
	}
	piece = w.fill(piece)
	return w.Write(fmt.Sprintf("%x\r\n%s\r\n", len(piece), piece))
}

// Event writes a result as an event of a stream.
func (w *Wire) Event(result string) bool { return w.Chunk(frames([]string{result})[0]) }

// Bytes answers with these bytes and nothing else, each piece in a write of
// its own. No bytes at all close the connection.
func Bytes(pieces ...string) Answer {
	return func(w *Wire, r *Request) {
		for _, piece := range pieces {
			if !w.Write(piece) {
				return
			}
		}
	}
}

// Hang reads the request and never answers.
func Hang() Answer { return func(w *Wire, r *Request) { w.Wait() } }

// Redirect answers with a redirect.
func Redirect(status int, target string) Answer {
	return HTTP(status, "", "", "Location: "+target)
}

// Page answers with a web page.
func Page(status int) Answer {
	return HTTP(status, "text/html; charset=utf-8", "<!doctype html><title>Sign in</title>", "Server: gatekeeper/1.0")
}

// EndlessLine answers with a stream whose one line never ends.
func EndlessLine(first ...string) Answer {
	start := stream(false, frames(first))
	return func(w *Wire, r *Request) {
		start(w, r)
		w.Chunk("data: ")
		for filler := strings.Repeat("x", 64<<10); w.Chunk(filler); {
		}
	}
}

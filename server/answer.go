package server

import (
	"context"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/legation/legation/internal/jsonrpc"
)

// answer writes a result, which appendResult appends as JSON.
func (c *call) answer(appendResult func([]byte) []byte) error {
	buf := buffers.Get().(*[]byte)
	b := jsonrpc.AppendResultPrefix((*buf)[:0], c.id)
	b = appendResult(b)
	b = append(b, jsonrpc.ResultSuffix...)
	c.writeJSON(http.StatusOK, b)
	putBuffer(buf, b)
	return nil
}

// writeJSON writes the whole of an answer, within the time one write may take.
// An error means that the caller is gone, which changes nothing.
func (c *call) writeJSON(status int, body []byte) {
	c.answered = true
	c.server.extendWrite(c.w)
	h := c.w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	c.w.WriteHeader(status)
	c.w.Write(body)
}

// extendWrite gives the answer that is about to be written its time, as far as
// the writer knows deadlines.
func (s *Server) extendWrite(w http.ResponseWriter) {
	http.NewResponseController(w).SetWriteDeadline(time.Now().Add(s.cfg.WriteTimeout))
}

// detached is the context of a change: it outlives the connection, for what a
// caller asked for is done or not done, and never half.
func (c *call) detached() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(c.r.Context()), changeLimit)
}

// changeLimit bounds a change. It is far above what a store needs, for one that
// is given up is not known to be undone.
const changeLimit = 5 * time.Minute

var buffers = sync.Pool{New: func() any {
	b := make([]byte, 0, 4<<10)
	return &b
}}

// putBuffer gives a buffer back, as far as it has grown.
func putBuffer(buf *[]byte, b []byte) {
	if cap(b) <= 1<<20 {
		*buf = b[:0]
		buffers.Put(buf)
	}
}

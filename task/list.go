package task

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"io"
	"time"

	"github.com/legation/legation/a2a"
)

// ListRequest asks for a page of tasks.
type ListRequest struct {
	ContextID a2a.ContextID // empty: any
	State     a2a.TaskState // empty: any
	Since     time.Time     // zero: any
	Token     string        // empty: the first page
	Size      int           // at least 1
	View      View
}

// List reads a page of the owner's tasks, newest status first, and the token of
// the page after it, empty on the last one. A token works only for the owner
// and the filters it was given for: else the error is [ErrBadCursor].
func (e *Engine) List(ctx context.Context, owner Owner, req ListRequest) (Page, string, error) {
	query := Query{
		ContextID: req.ContextID, State: req.State, Since: req.Since, Limit: req.Size,
		Artifacts: req.View.Artifacts,
		History:   req.View.History == nil || *req.View.History > 0,
	}
	if req.Token != "" {
		cursor, err := e.openToken(req.Token, owner, req)
		if err != nil {
			return Page{}, "", err
		}
		query.After = &cursor
	}
	page, err := e.store.List(ctx, owner, query)
	if err != nil || !page.More || len(page.Records) == 0 {
		return page, "", err
	}
	last := page.Records[len(page.Records)-1]
	return page, e.sealToken(Cursor{StatusAt: last.StatusAt, ID: last.ID}, owner, req), nil
}

const tokenMAC = 16 // bytes

func (e *Engine) sealToken(c Cursor, owner Owner, req ListRequest) string {
	token := binary.BigEndian.AppendUint64(nil, uint64(c.StatusAt.UnixMilli()))
	token = append(token, c.ID...)
	token = append(e.tokenMAC(token, owner, req), token...)
	return base64.RawURLEncoding.EncodeToString(token)
}

func (e *Engine) openToken(text string, owner Owner, req ListRequest) (Cursor, error) {
	token, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(token) < tokenMAC+8 {
		return Cursor{}, ErrBadCursor
	}
	mac, token := token[:tokenMAC], token[tokenMAC:]
	if !hmac.Equal(mac, e.tokenMAC(token, owner, req)) {
		return Cursor{}, ErrBadCursor
	}
	return Cursor{
		StatusAt: time.UnixMilli(int64(binary.BigEndian.Uint64(token))).UTC(),
		ID:       a2a.TaskID(token[8:]),
	}, nil
}

// tokenMAC binds a token to everything that decides which tasks it pages over.
func (e *Engine) tokenMAC(token []byte, owner Owner, req ListRequest) []byte {
	mac := hmac.New(sha256.New, e.tokenKey)
	since := ""
	if !req.Since.IsZero() {
		since = req.Since.UTC().Format(time.RFC3339Nano)
	}
	for _, part := range []string{string(token), owner.Agent, owner.Caller, string(req.ContextID), string(req.State), since} {
		var size [8]byte
		binary.BigEndian.PutUint64(size[:], uint64(len(part)))
		mac.Write(size[:])
		io.WriteString(mac, part)
	}
	return mac.Sum(nil)[:tokenMAC]
}

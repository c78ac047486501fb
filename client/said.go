package client

import (
	"io"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/jsonrpc"
)

// maxExcerpt is how much is read of an answer nobody asked for, to learn what
// it says.
const maxExcerpt = 4 << 10

// excerpt reads the start of an answer that refuses something in words.
func excerpt(resp *http.Response) []byte {
	if kind := mediaType(resp); resp.StatusCode < 400 || kind != "text/plain" && !isJSON(kind) {
		return nil
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxExcerpt))
	if err != nil {
		return nil // the status says enough
	}
	return body
}

// said is what an answer that refuses something says in words: plain text, or
// the message of a JSON-RPC error. Whatever else comes with it is none of our
// errors' business.
func said(status int, kind string, body []byte) string {
	switch {
	case status < 400:
		return ""
	case kind == "text/plain":
		return string(body[:min(len(body), maxExcerpt)])
	case isJSON(kind):
		envelope, err := jsonrpc.ParseResponse(body)
		if err != nil || envelope.Error == nil {
			return ""
		}
		refusal, err := a2a.DecodeError(envelope.Error)
		if err != nil {
			return ""
		}
		return refusal.Message
	}
	return ""
}

// oneLine makes a peer's words fit for a line of ours: no control characters,
// none that hide or reorder others, and at most 300 bytes.
func oneLine(s string) string {
	s = strings.ToValidUTF8(s, "")
	words := strings.FieldsFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r)
	})
	s = strings.Join(words, " ")
	if len(s) <= maxText {
		return s
	}
	end := maxText - len("…")
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

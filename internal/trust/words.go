package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/legation/legation/card"
)

// quote makes somebody else's word fit for a line.
func quote(text string) string { return strconv.Quote(cut(text)) }

// bounded is somebody else's text on one line, without what a screen would take
// for a command.
func bounded(text string) string {
	quoted := strconv.Quote(cut(text))
	return strings.ReplaceAll(quoted[1:len(quoted)-1], `\"`, `"`)
}

func cut(text string) string {
	const most = 120
	if len(text) <= most {
		return text
	}
	end := most
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + "…"
}

// claimedKey is the key that a refused card names.
func claimedKey(err error) string {
	if refused, ok := errors.AsType[*card.UntrustedError](err); ok {
		return refused.KeyID
	}
	return ""
}

// hashOf is the hash of a card for the audit: the digest of what was verified, or
// else that of the bytes.
func hashOf(v verdict, kept RemoteCard) string {
	if v.verified != nil {
		return strings.TrimPrefix(v.verified.Digest, "sha256:")
	}
	if len(kept.Raw) == 0 {
		return ""
	}
	sum := sha256.Sum256(kept.Raw)
	return hex.EncodeToString(sum[:])
}

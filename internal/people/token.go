package people

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base32"
	"encoding/binary"
	"hash/crc32"
	"strings"
)

// The text of a token is lgp_ID_SECRET, where the secret ends with a checksum of
// everything before it: what was mistyped or cut off is told from what is
// unknown, and a scanner for leaked secrets can tell a token from what looks
// like one. All of it is lower-case base32 (RFC 4648, section 6).
const (
	tokenPrefix    = "lgp_"
	tokenIDLength  = 12
	tokenSecret    = 52 // 260 bits
	tokenChecksum  = 7
	tokenLength    = len(tokenPrefix) + tokenIDLength + 1 + tokenSecret + tokenChecksum
	base32Alphabet = "abcdefghijklmnopqrstuvwxyz234567"
)

// Token is what is kept of a token: the part that may be told, and the hash of
// the whole text, which has so much entropy that no slower hash is needed.
type Token struct {
	ID     string
	SHA256 [sha256.Size]byte
}

// issue makes a token. The text is for the person and is not kept anywhere.
func issue() (text string, token Token) {
	// Each text has 26 letters of base32, 130 bits.
	id := strings.ToLower(rand.Text())[:tokenIDLength]
	body := tokenPrefix + id + "_" + strings.ToLower(rand.Text()+rand.Text())
	text = body + checksum(body)
	return text, Token{ID: id, SHA256: sha256.Sum256([]byte(text))}
}

// ParseToken takes the text of a token apart. The error is [ErrToken] and says
// nothing of the text.
func ParseToken(text string) (Token, error) {
	if len(text) != tokenLength || !strings.HasPrefix(text, tokenPrefix) || text[len(tokenPrefix)+tokenIDLength] != '_' {
		return Token{}, ErrToken
	}
	id, secret := text[len(tokenPrefix):len(tokenPrefix)+tokenIDLength], text[len(tokenPrefix)+tokenIDLength+1:]
	body := text[:tokenLength-tokenChecksum]
	if strings.Trim(id+secret, base32Alphabet) != "" || text[len(body):] != checksum(body) {
		return Token{}, ErrToken
	}
	// A copy, so that the id does not keep the secret in memory.
	return Token{ID: strings.Clone(id), SHA256: sha256.Sum256([]byte(text))}, nil
}

// is reports whether two tokens are the same, in a time that does not tell how
// much of the hash is.
func (t Token) is(other Token) bool {
	return t.ID == other.ID && subtle.ConstantTimeCompare(t.SHA256[:], other.SHA256[:]) == 1
}

var base32Lower = base32.NewEncoding(base32Alphabet).WithPadding(base32.NoPadding)

func checksum(body string) string {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE([]byte(body)))
	return base32Lower.EncodeToString(sum[:])
}

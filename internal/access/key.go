package access

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"strings"
)

// The text of a key is lgn_ID_SECRET, where the secret ends with a checksum of
// everything before it: what was mistyped or cut off is told from what is
// unknown, and a scanner for leaked secrets can tell a key from what looks like
// one. All of it is lower-case base32 (RFC 4648, section 6).
const (
	keyPrefix      = "lgn_"
	keyIDLength    = 12
	keySecret      = 52 // 260 bits
	keyChecksum    = 7
	keyLength      = len(keyPrefix) + keyIDLength + 1 + keySecret + keyChecksum
	base32Alphabet = "abcdefghijklmnopqrstuvwxyz234567"
)

var errKey = errors.New("not an API key of this program")

// Issue makes a key. The text is for the client and is not kept anywhere; the
// rest is for the directory.
func Issue() (text string, key APIKey) {
	// Each text has 26 letters of base32, 130 bits.
	id := strings.ToLower(rand.Text())[:keyIDLength]
	body := keyPrefix + id + "_" + strings.ToLower(rand.Text()+rand.Text())
	text = body + checksum(body)
	return text, APIKey{ID: id, SHA256: sha256.Sum256([]byte(text))}
}

// ParseKey takes the text of a key apart. The error says nothing of the text.
func ParseKey(text string) (APIKey, error) {
	if len(text) != keyLength || !strings.HasPrefix(text, keyPrefix) || text[len(keyPrefix)+keyIDLength] != '_' {
		return APIKey{}, errKey
	}
	id, secret := text[len(keyPrefix):len(keyPrefix)+keyIDLength], text[len(keyPrefix)+keyIDLength+1:]
	if !isBase32(id) || !isBase32(secret) {
		return APIKey{}, errKey
	}
	body := text[:keyLength-keyChecksum]
	if text[len(body):] != checksum(body) {
		return APIKey{}, errKey
	}
	// A copy, so that the id does not keep the secret in memory.
	return APIKey{ID: strings.Clone(id), SHA256: sha256.Sum256([]byte(text))}, nil
}

func isBase32(s string) bool { return strings.Trim(s, base32Alphabet) == "" }

var base32Lower = base32.NewEncoding(base32Alphabet).WithPadding(base32.NoPadding)

func checksum(body string) string {
	var sum [4]byte
	binary.BigEndian.PutUint32(sum[:], crc32.ChecksumIEEE([]byte(body)))
	return base32Lower.EncodeToString(sum[:])
}

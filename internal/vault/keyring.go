package vault

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
	"github.com/tink-crypto/tink-go/v2/tink"
)

const (
	keyBytes  = 32        // of master keys and data keys
	keyPrefix = "legmk1_" // begins the text of a master key
	maxKeys   = 16        // in a keyring
	maxText   = 64 << 10  // of the text of a keyring
	idPurpose = "legation master key\x00"
)

// KeyID tells master keys apart. It is the beginning of a hash of the key, so
// the same key has the same id everywhere, and it is no secret.
type KeyID [8]byte

// String is the id in hexadecimal digits.
func (id KeyID) String() string { return hex.EncodeToString(id[:]) }

// MarshalText is String.
func (id KeyID) MarshalText() ([]byte, error) { return []byte(id.String()), nil }

// Keyring is the master keys: the primary, which new envelopes are sealed with,
// and older ones, which only open. It does not change and shows no keys.
type Keyring struct{ keys []masterKey }

type masterKey struct {
	id   KeyID
	aead tink.AEAD
}

// ParseKeys reads master keys: one a line or separated by spaces, the primary
// first. The text of a key is "legmk1_" and 32 random bytes in base64, standard
// or URL-safe, padded or not. A line that begins with # is a comment. The text
// may be wiped afterwards. The errors do not repeat it.
func ParseKeys(text []byte) (*Keyring, error) {
	if len(text) > maxText {
		return nil, fmt.Errorf("the text of the master keys is longer than %d bytes", maxText)
	}
	ring := &Keyring{}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if bytes.HasPrefix(bytes.TrimSpace(line), []byte("#")) {
			continue
		}
		for word := range bytes.FieldsSeq(line) {
			key, err := parseKey(word)
			if err != nil {
				return nil, fmt.Errorf("line %d of the master keys: %w", number, err)
			}
			if ring.has(key.id) {
				return nil, fmt.Errorf("line %d of the master keys: key %s is there already", number, key.id)
			}
			if ring.keys = append(ring.keys, key); len(ring.keys) > maxKeys {
				return nil, fmt.Errorf("there are more than %d master keys", maxKeys)
			}
		}
	}
	if len(ring.keys) == 0 {
		return nil, errors.New("there is no master key")
	}
	return ring, nil
}

func parseKey(word []byte) (masterKey, error) {
	digits, ok := bytes.CutPrefix(word, []byte(keyPrefix))
	if !ok {
		return masterKey{}, fmt.Errorf("a master key begins with %s", keyPrefix)
	}
	digits = bytes.TrimRight(digits, "=")
	encoding := base64.RawURLEncoding
	if bytes.ContainsAny(digits, "+/") {
		encoding = base64.RawStdEncoding
	}
	raw := make([]byte, encoding.DecodedLen(len(digits)))
	defer clear(raw)
	n, err := encoding.Decode(raw, digits)
	if err != nil || n != keyBytes {
		return masterKey{}, fmt.Errorf("after %s come %d bytes in base64", keyPrefix, keyBytes)
	}
	return newMasterKey(raw[:n])
}

func newMasterKey(raw []byte) (masterKey, error) {
	aead, err := subtle.NewXChaCha20Poly1305(raw)
	if err != nil {
		return masterKey{}, err
	}
	hash := sha256.New()
	hash.Write([]byte(idPurpose))
	hash.Write(raw)
	return masterKey{id: KeyID(hash.Sum(nil)), aead: aead}, nil
}

// newKeyText is the text of a new random master key.
func newKeyText() []byte {
	raw := make([]byte, keyBytes)
	defer clear(raw)
	_, _ = rand.Read(raw) // never fails
	return base64.RawURLEncoding.AppendEncode([]byte(keyPrefix), raw)
}

// Primary is the id of the key that new envelopes are sealed with.
func (r *Keyring) Primary() KeyID { return r.keys[0].id }

// IDs are the ids of all keys, the primary's first.
func (r *Keyring) IDs() []KeyID {
	ids := make([]KeyID, len(r.keys))
	for i, key := range r.keys {
		ids[i] = key.id
	}
	return ids
}

// Format shows the ids, whatever the verb.
func (r *Keyring) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, "master keys "+list(r.IDs()))
}

func (r *Keyring) has(id KeyID) bool {
	_, ok := r.key(id)
	return ok
}

func (r *Keyring) key(id KeyID) (masterKey, bool) {
	i := slices.IndexFunc(r.keys, func(key masterKey) bool { return key.id == id })
	if i < 0 {
		return masterKey{}, false
	}
	return r.keys[i], true
}

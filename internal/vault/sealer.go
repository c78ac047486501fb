package vault

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/tink-crypto/tink-go/v2/aead/subtle"
)

// MaxBytes is the most bytes of content in one envelope.
const MaxBytes = 64 << 10

// An envelope is
//
//	version 1 | id of the master key | data key under the master key | content under the data key
//
// with XChaCha20-Poly1305, whose nonces are large enough to be random, in front
// of what they were used for. Stores find the envelopes of a master key by
// bytes 2 to 9.
const (
	envelopeVersion = 1
	idAt            = 1
	wrapAt          = idAt + len(KeyID{})
	overhead        = 24 + 16 // a nonce and a tag
	contentAt       = wrapAt + keyBytes + overhead
)

// Sealer seals and opens contents of columns. It is safe for concurrent use.
// Content is bound to a purpose, which is the column it is for, and to a row:
// moved elsewhere it does not open.
type Sealer struct{ keys atomic.Pointer[Keyring] }

// NewSealer returns a sealer with the master keys given.
func NewSealer(keys *Keyring) *Sealer {
	s := &Sealer{}
	s.keys.Store(keys)
	return s
}

// Keys are the master keys in use.
func (s *Sealer) Keys() *Keyring { return s.keys.Load() }

// Seal returns content in an envelope, for one row and purpose. It keeps
// nothing of the content. More than [MaxBytes] are [ErrInvalid].
func (s *Sealer) Seal(purpose, row string, content Value) ([]byte, error) {
	if n := len(content.Reveal()); n > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes are more than the %d that can be sealed", ErrInvalid, n, MaxBytes)
	}
	master := s.Keys().keys[0]
	dataKey := make([]byte, keyBytes)
	defer clear(dataKey)
	_, _ = rand.Read(dataKey) // never fails
	wrapped, err := wrap(master, dataKey)
	if err != nil {
		return nil, err
	}
	aead, err := subtle.NewXChaCha20Poly1305(dataKey)
	if err != nil {
		return nil, err
	}
	body, err := aead.Encrypt(content.Reveal(), place(purpose, row))
	if err != nil {
		return nil, err
	}
	return append(wrapped, body...), nil
}

// Open returns the content of an envelope that was sealed for this row and
// purpose. The errors include [UnknownKeyError] and [ErrDamaged].
func (s *Sealer) Open(purpose, row string, sealed []byte) (Value, error) {
	dataKey, err := s.Keys().unwrap(sealed)
	if err != nil {
		return Value{}, err
	}
	defer clear(dataKey)
	aead, err := subtle.NewXChaCha20Poly1305(dataKey)
	if err != nil {
		return Value{}, ErrDamaged
	}
	body, err := aead.Decrypt(sealed[contentAt:], place(purpose, row))
	if err != nil {
		return Value{}, ErrDamaged
	}
	return NewValue(body), nil
}

// rewrap returns an envelope with its data key under the primary master key.
// The content is neither opened nor changed.
func (r *Keyring) rewrap(sealed []byte) ([]byte, error) {
	dataKey, err := r.unwrap(sealed)
	if err != nil {
		return nil, err
	}
	defer clear(dataKey)
	wrapped, err := wrap(r.keys[0], dataKey)
	if err != nil {
		return nil, err
	}
	return append(wrapped, sealed[contentAt:]...), nil
}

// wrap returns the head of an envelope.
func wrap(master masterKey, dataKey []byte) ([]byte, error) {
	head := append([]byte{envelopeVersion}, master.id[:]...)
	wrapped, err := master.aead.Encrypt(dataKey, wrapPlace(head))
	if err != nil {
		return nil, err
	}
	return append(head, wrapped...), nil
}

// unwrap returns the data key of an envelope. The caller wipes it.
func (r *Keyring) unwrap(sealed []byte) ([]byte, error) {
	if len(sealed) < contentAt+overhead || len(sealed) > contentAt+overhead+MaxBytes || sealed[0] != envelopeVersion {
		return nil, ErrDamaged
	}
	id := KeyID(sealed[idAt:wrapAt])
	master, ok := r.key(id)
	if !ok {
		return nil, &UnknownKeyError{Keys: []KeyID{id}, Given: r.IDs()}
	}
	dataKey, err := master.aead.Decrypt(sealed[wrapAt:contentAt], wrapPlace(sealed[:wrapAt]))
	if err != nil {
		return nil, ErrDamaged
	}
	return dataKey, nil
}

// place is what content is bound to. Lengths go before the words, so that no
// two places look the same.
func place(purpose, row string) []byte {
	data := []byte("legation content 1\x00")
	for _, word := range []string{purpose, row} {
		data = binary.AppendUvarint(data, uint64(len(word)))
		data = append(data, word...)
	}
	return data
}

// wrapPlace is what a data key is bound to. It is not the row: that is held by
// the content, which no other data key opens.
func wrapPlace(head []byte) []byte { return append([]byte("legation data key 1\x00"), head...) }

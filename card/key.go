package card

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"

	"github.com/go-jose/go-jose/v4"
)

// Algorithm is a signature algorithm of JWS (RFC 7518 section 3.1, RFC 8037).
type Algorithm string

// The algorithms that are accepted. There is no other, and a key fits one.
const (
	ES256 Algorithm = "ES256" // ECDSA with P-256 and SHA-256
	EdDSA Algorithm = "EdDSA" // Ed25519
	RS256 Algorithm = "RS256" // RSA PKCS #1 v1.5 with SHA-256
)

// Algorithms lists them, the one to prefer first.
func Algorithms() []Algorithm { return []Algorithm{ES256, EdDSA, RS256} }

const (
	minRSABits = 2048
	maxRSABits = 8192 // more only costs whoever verifies
	newRSABits = 3072

	maxKeyID = 256 // bytes
)

// PublicKey verifies what one private key signed. The zero value is no key.
type PublicKey struct {
	id  string
	alg Algorithm
	key crypto.PublicKey
}

// ID is what signatures name the key by (kid): by default its thumbprint.
func (k PublicKey) ID() string { return k.id }

// Algorithm is the one the key fits.
func (k PublicKey) Algorithm() Algorithm { return k.alg }

// Thumbprint is the SHA-256 thumbprint of RFC 7638, in base64url. It is the
// same whatever the key is called.
func (k PublicKey) Thumbprint() string {
	sum, err := (&jose.JSONWebKey{Key: k.key}).Thumbprint(crypto.SHA256)
	if err != nil {
		return "" // of no key
	}
	return base64.RawURLEncoding.EncodeToString(sum)
}

// String names the key.
func (k PublicKey) String() string { return string(k.alg) + " key " + k.id }

// PrivateKey signs cards. Printing one shows its id and nothing else.
type PrivateKey struct {
	id  string
	alg Algorithm
	key crypto.Signer
}

// GenerateKey makes a new key for an algorithm, with its thumbprint as id.
func GenerateKey(alg Algorithm) (*PrivateKey, error) {
	var key crypto.Signer
	var err error
	switch alg {
	case ES256:
		key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case EdDSA:
		_, key, err = ed25519.GenerateKey(rand.Reader)
	case RS256:
		key, err = rsa.GenerateKey(rand.Reader, newRSABits)
	default:
		return nil, fmt.Errorf("card: %q is not one of %s", bounded(string(alg)), algorithmList())
	}
	if err != nil {
		return nil, fmt.Errorf("card: generate a key: %w", err)
	}
	return newPrivateKey(key, "")
}

// ParsePrivateKey reads a private key: a JWK, whose kid is kept, or PEM with
// PKCS #8, SEC 1 or PKCS #1, whose id is its thumbprint. Errors do not quote
// the key.
func ParsePrivateKey(text []byte) (*PrivateKey, error) {
	if len(text) > MaxBytes {
		return nil, errors.New("card: this is too large for a key")
	}
	if block, _ := pem.Decode(text); block != nil {
		return parsePEM(block)
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(text); err != nil {
		return nil, errors.New("card: this is neither a JWK nor PEM with a private key")
	}
	key, ok := jwk.Key.(crypto.Signer)
	if !ok {
		return nil, errors.New("card: this is not a private key that signs")
	}
	private, err := newPrivateKey(key, jwk.KeyID)
	if err == nil {
		err = checkUse(jwk, private.alg)
	}
	if err != nil {
		return nil, err
	}
	return private, nil
}

func parsePEM(block *pem.Block) (*PrivateKey, error) {
	var key any
	var err error
	switch block.Type {
	case "PRIVATE KEY":
		key, err = x509.ParsePKCS8PrivateKey(block.Bytes)
	case "EC PRIVATE KEY":
		key, err = x509.ParseECPrivateKey(block.Bytes)
	case "RSA PRIVATE KEY":
		key, err = x509.ParsePKCS1PrivateKey(block.Bytes)
	case "ENCRYPTED PRIVATE KEY":
		return nil, errors.New("card: the private key is encrypted; decrypt it first")
	default:
		return nil, fmt.Errorf("card: the PEM block is a %q, not a private key", bounded(block.Type))
	}
	if err != nil {
		return nil, errors.New("card: the PEM block holds no private key that can be read")
	}
	signer, ok := key.(crypto.Signer)
	if !ok {
		return nil, errors.New("card: this is not a private key that signs")
	}
	return newPrivateKey(signer, "")
}

func newPrivateKey(key crypto.Signer, id string) (*PrivateKey, error) {
	public, err := newPublicKey(key.Public(), id)
	if err != nil {
		return nil, err
	}
	return &PrivateKey{id: public.id, alg: public.alg, key: key}, nil
}

// newPublicKey finds the algorithm that a key fits. Without an id it gets its
// thumbprint.
func newPublicKey(key crypto.PublicKey, id string) (PublicKey, error) {
	public := PublicKey{id: id, key: key}
	switch key := key.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return PublicKey{}, fmt.Errorf("card: the curve of the key is %s, and only P-256 is used", key.Params().Name)
		}
		public.alg = ES256
	case ed25519.PublicKey:
		if !onCurve(key) {
			return PublicKey{}, errors.New("card: the key is no point of its curve")
		}
		public.alg = EdDSA
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return PublicKey{}, fmt.Errorf("card: the RSA key has %d bits, and must have %d to %d", bits, minRSABits, maxRSABits)
		}
		public.alg = RS256
	default:
		return PublicKey{}, errUnusable
	}
	switch {
	case id == "":
		public.id = public.Thumbprint()
	case len(id) > maxKeyID:
		return PublicKey{}, fmt.Errorf("card: the key id has more than %d bytes", maxKeyID)
	}
	return public, nil
}

var errUnusable = errors.New("card: the key is for none of " + algorithmList())

// ID is what signatures name the key by (kid).
func (k *PrivateKey) ID() string { return k.id }

// Algorithm is the one the key signs with.
func (k *PrivateKey) Algorithm() Algorithm { return k.alg }

// WithID returns the same key under another id of at most 256 bytes, or under
// its thumbprint for an empty one.
func (k *PrivateKey) WithID(id string) (*PrivateKey, error) { return newPrivateKey(k.key, id) }

// Public returns the public half, under the same id.
func (k *PrivateKey) Public() PublicKey {
	return PublicKey{id: k.id, alg: k.alg, key: k.key.Public()}
}

// JWK returns the private key as a JWK (RFC 7517). It is a secret.
func (k *PrivateKey) JWK() ([]byte, error) {
	text, err := (jose.JSONWebKey{Key: k.key, KeyID: k.id, Algorithm: string(k.alg), Use: "sig"}).MarshalJSON()
	if err != nil {
		return nil, errors.New("card: the key can not be written")
	}
	return text, nil
}

// String names the key without showing it.
func (k *PrivateKey) String() string { return "private " + k.Public().String() }

// GoString is String.
func (k *PrivateKey) GoString() string { return k.String() }

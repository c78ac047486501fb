package card

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

const maxKeys = 64 // in a set

// ParseJWKS reads the public keys of a JWK Set (RFC 7517 section 5), or of a
// lone JWK. A key without kid goes by its thumbprint. Keys for other uses and
// of other types are left out, as the RFC wants; a set that is left empty is an
// error, and so are a private key, a weak one, and an id that occurs twice.
func ParseJWKS(text []byte) ([]PublicKey, error) {
	if len(text) > MaxBytes {
		return nil, errors.New("card: the key set is too large")
	}
	var set struct {
		Keys []jsontext.Value `json:"keys"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, errors.New("card: this is not a JWK Set")
	}
	if set.Keys == nil {
		set.Keys = []jsontext.Value{text}
	}
	if len(set.Keys) > maxKeys {
		return nil, fmt.Errorf("card: the key set has more than %d keys", maxKeys)
	}
	var keys []PublicKey
	known := map[string]bool{}
	for i, text := range set.Keys {
		key, err := parseJWK(text)
		switch {
		case errors.Is(err, errUnusable):
			continue
		case err != nil:
			return nil, fmt.Errorf("card: key %d of the set: %s", i+1, strings.TrimPrefix(err.Error(), "card: "))
		case known[key.id]:
			return nil, fmt.Errorf("card: the key set has two keys with the id %q", bounded(key.id))
		}
		known[key.id] = true
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("card: the key set has no key for %s", algorithmList())
	}
	return keys, nil
}

func parseJWK(text []byte) (PublicKey, error) {
	var head struct {
		Type  string `json:"kty"`
		Curve string `json:"crv"`
		Use   string `json:"use"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return PublicKey{}, errors.New("card: it is not a JWK")
	}
	switch {
	case head.Use != "" && head.Use != "sig":
		return PublicKey{}, errUnusable
	case head.Type != "EC" && head.Type != "RSA" && head.Type != "OKP",
		head.Type == "EC" && head.Curve != "P-256", head.Type == "OKP" && head.Curve != "Ed25519":
		return PublicKey{}, errUnusable
	}
	var jwk jose.JSONWebKey
	if err := jwk.UnmarshalJSON(text); err != nil {
		return PublicKey{}, errors.New("card: it is not a whole JWK")
	}
	if !jwk.IsPublic() {
		return PublicKey{}, errors.New("card: it is a private key; hand out its public half only")
	}
	key, err := newPublicKey(jwk.Key, jwk.KeyID)
	if err == nil {
		err = checkUse(jwk, key.alg)
	}
	return key, err
}

// checkUse holds a key to the algorithm it was made for.
func checkUse(jwk jose.JSONWebKey, alg Algorithm) error {
	switch {
	case jwk.Use != "" && jwk.Use != "sig":
		return errUnusable
	case jwk.Algorithm != "" && jwk.Algorithm != string(alg):
		return errUnusable
	}
	return nil
}

// JWKS writes public keys as a JWK Set, in their order.
func JWKS(keys ...PublicKey) ([]byte, error) {
	var set bytes.Buffer
	set.WriteString(`{"keys":[`)
	for i, key := range keys {
		text, err := (jose.JSONWebKey{Key: key.key, KeyID: key.id, Algorithm: string(key.alg), Use: "sig"}).MarshalJSON()
		if err != nil {
			return nil, errors.New("card: a key can not be written")
		}
		if i > 0 {
			set.WriteByte(',')
		}
		set.Write(text)
	}
	set.WriteString(`]}`)
	return set.Bytes(), nil
}

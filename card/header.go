package card

import (
	"encoding/base64"
	"errors"
	"net/url"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// header is what we look at of a protected header (RFC 7515 section 4.1). The
// unprotected one is not covered by the signature, so nothing is taken from it.
type header struct {
	Algorithm string         `json:"alg"`
	KeyID     string         `json:"kid"`
	Type      string         `json:"typ"`
	JWKSURL   string         `json:"jku"`
	Critical  jsontext.Value `json:"crit"`
	Encoded   jsontext.Value `json:"b64"`
}

const maxHeader = 16 << 10 // bytes, as base64url

// readHeader reads the protected header of a signature. The words of its errors
// follow "its protected header".
func readHeader(signature a2a.AgentCardSignature) (header, error) {
	var head header
	if len(signature.Protected) > maxHeader {
		return head, errors.New("is too large")
	}
	text, ok := decodeBase64(signature.Protected)
	if !ok {
		return head, errors.New("is not base64url")
	}
	if err := json.Unmarshal(text, &head); err != nil || len(text) == 0 || text[0] != '{' {
		return header{}, errors.New("is not a JSON object of a signature")
	}
	switch {
	case head.Algorithm == "":
		return head, errors.New("names no algorithm (alg)")
	case head.KeyID == "":
		return head, errors.New("names no key (kid)")
	case head.Critical != nil || head.Encoded != nil:
		return head, errors.New("asks for an extension of JWS (crit) that agent cards do not use")
	}
	return head, nil
}

// decodeBase64 reads base64url without padding (RFC 7515 section 2), of which
// there is one spelling for each value.
func decodeBase64(s string) ([]byte, bool) {
	value, err := base64.RawURLEncoding.Strict().DecodeString(s)
	return value, err == nil && !strings.ContainsAny(s, "\r\n")
}

// checkJWKSURL holds a jku to what others would fetch.
func checkJWKSURL(raw string) error {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil {
		return errors.New("the URL of the key set (jku) must be an https URL")
	}
	return nil
}

package card

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// maxSignatures is how many signatures a card may have.
const maxSignatures = 16

// Signer is one signature to be made.
type Signer struct {
	// Key signs. It must be set.
	Key *PrivateKey

	// JWKSURL says where the public key can be found, as jku in the protected
	// header. Empty leaves it out.
	JWKSURL string
}

// Sign returns a card with a signature of each signer added: the members of
// raw in their order and spelling, and signatures, at the end where it is new
// (specification 1.0.1, section 8.4.2). A signature that names the same key as
// a new one is replaced, all others stay, as rotation of keys wants it.
//
// It fails where [Canonical] does, on a signer without key, and above 16
// signatures. It does not ask whether the card is a good one; see [Lint].
func Sign(raw []byte, signers ...Signer) ([]byte, error) {
	payload, err := Canonical(raw)
	if err != nil {
		return nil, err
	}
	value, violations, err := read(raw)
	if err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	for _, v := range violations {
		if strings.HasPrefix(v.Field, "signatures") {
			return nil, errors.New("card: a signature it already has can not be read: " + v.Field + " " + v.Description)
		}
	}
	signatures := value.Signatures
	for _, signer := range signers {
		made, err := sign(payload, signer)
		if err != nil {
			return nil, err
		}
		signatures = withSignature(signatures, made, signer.Key.id)
	}
	if len(signatures) > maxSignatures {
		return nil, fmt.Errorf("card: it would have more than %d signatures", maxSignatures)
	}
	return replaceSignatures(raw, signatures)
}

func sign(payload []byte, signer Signer) (a2a.AgentCardSignature, error) {
	none := a2a.AgentCardSignature{}
	if signer.Key == nil {
		return none, errors.New("card: a signer has no key")
	}
	options := (&jose.SignerOptions{}).WithType("JOSE").WithHeader("kid", signer.Key.id)
	if signer.JWKSURL != "" {
		if err := checkJWKSURL(signer.JWKSURL); err != nil {
			return none, fmt.Errorf("card: %w", err)
		}
		options = options.WithHeader("jku", signer.JWKSURL)
	}
	tool, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.SignatureAlgorithm(signer.Key.alg), Key: signer.Key.key}, options)
	if err != nil {
		return none, errors.New("card: the key can not sign")
	}
	signed, err := tool.Sign(payload)
	if err != nil {
		return none, errors.New("card: the key did not sign")
	}
	compact, err := signed.DetachedCompactSerialize()
	if err != nil {
		return none, errors.New("card: the signature can not be written")
	}
	protected, signature, _ := strings.Cut(compact, "..")
	return a2a.AgentCardSignature{Protected: protected, Signature: signature}, nil
}

// withSignature puts a signature in the place of one by the same key, or at
// the end.
func withSignature(signatures []a2a.AgentCardSignature, made a2a.AgentCardSignature, id string) []a2a.AgentCardSignature {
	for i, old := range signatures {
		if head, err := readHeader(old); err == nil && head.KeyID == id {
			signatures[i] = made
			return signatures
		}
	}
	return append(signatures, made)
}

// replaceSignatures leaves everything else of the card as it is written.
func replaceSignatures(raw []byte, signatures []a2a.AgentCardSignature) ([]byte, error) {
	var list []jsontext.Value
	for _, signature := range signatures {
		list = append(list, signature.AppendJSON(nil))
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	in := jsontext.NewDecoder(bytes.NewReader(raw))
	if _, err := in.ReadToken(); err != nil {
		return nil, err
	}
	members := 0
	for ; in.PeekKind() == '"'; members++ {
		name, err := in.ReadToken()
		if err != nil {
			return nil, err
		}
		isList := name.String() == "signatures"
		value, err := in.ReadValue()
		if err != nil {
			return nil, err
		}
		if isList {
			end := int(in.InputOffset())
			return bytes.Join([][]byte{raw[:end-len(value)], text, raw[end:]}, nil), nil
		}
	}
	last := int(in.InputOffset()) // behind the last member, or the brace
	added := append([]byte(`"signatures":`), text...)
	if members > 0 {
		added = append([]byte(`,`), added...)
	}
	return bytes.Join([][]byte{raw[:last], added, raw[last:]}, nil), nil
}

package card_test

import (
	"errors"
	"testing"

	"github.com/legation/legation/card"
)

// A card without signature is believed only for who it says it is.
func TestIdentify(t *testing.T) {
	made, err := card.GenerateKey(card.EdDSA)
	if err != nil {
		t.Fatal(err)
	}
	raw := []byte(`{"name":"Partner","description":"","version":"1.2.0","provider":{"organization":"Partner Inc","url":""},"supportedInterfaces":[],"capabilities":{},"defaultInputModes":[],"defaultOutputModes":[],"skills":[],"later":1}`)
	signed, err := card.Sign(raw, card.Signer{Key: made})
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		raw  []byte
		pin  card.Pin
		want card.Reason
	}{
		"anybody":                    {raw: raw},
		"who is expected":            {raw: raw, pin: card.Pin{Name: "Partner", Organization: "Partner Inc", MinVersion: "1.2.0"}},
		"signed":                     {raw: signed},
		"another name":               {raw: raw, pin: card.Pin{Name: "Somebody"}, want: card.ReasonName},
		"another organization":       {raw: raw, pin: card.Pin{Organization: "Somebody"}, want: card.ReasonOrganization},
		"an old version":             {raw: raw, pin: card.Pin{MinVersion: "1.3.0"}, want: card.ReasonVersion},
		"signed by a key of old":     {raw: signed, pin: card.Pin{Revoked: []string{made.ID()}}, want: card.ReasonRevokedKey},
		"nothing":                    {want: card.ReasonMalformed},
		"no object":                  {raw: []byte("[]"), want: card.ReasonMalformed},
		"a name twice":               {raw: []byte(`{"name":"Partner","name":"Partner"}`), want: card.ReasonMalformed},
		"a number beyond all others": {raw: []byte(`{"capabilities":{"extensions":[{"params":{"x":1e999}}]}}`), want: card.ReasonMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := card.Identify(tt.raw, tt.pin)
			if tt.want == "" {
				if err != nil || got.Card.Name != "Partner" || got.KeyID != "" || got.Digest != card.Digest(got.Canonical) {
					t.Errorf("Identify() = %q by %q, %v", got.Card.Name, got.KeyID, err)
				}
				return
			}
			refused, ok := errors.AsType[*card.UntrustedError](err)
			if !ok || refused.Reason != tt.want || !errors.Is(err, card.ErrUntrusted) {
				t.Errorf("Identify() error = %v, want %s", err, tt.want)
			}
		})
	}
	if a, err := card.Identify(raw, card.Pin{}); err != nil {
		t.Error(err)
	} else if b, err := card.Identify(signed, card.Pin{}); err != nil || a.Digest != b.Digest {
		t.Errorf("a signature changes the digest from %s to %s, %v", a.Digest, b.Digest, err)
	}
}

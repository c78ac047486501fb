package card_test

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/card"
)

func TestKeysSurviveWriting(t *testing.T) {
	for _, alg := range card.Algorithms() {
		t.Run(string(alg), func(t *testing.T) {
			key, err := card.GenerateKey(alg)
			if err != nil {
				t.Fatal(err)
			}
			if key.Algorithm() != alg || key.ID() != key.Public().Thumbprint() || key.Public().ID() != key.ID() || key.Public().Algorithm() != alg {
				t.Errorf("the key is %v with id %q and thumbprint %q", key.Algorithm(), key.ID(), key.Public().Thumbprint())
			}
			named, err := key.WithID("my key")
			if err != nil {
				t.Fatal(err)
			}
			text, err := named.JWK()
			if err != nil {
				t.Fatal(err)
			}
			again, err := card.ParsePrivateKey(text)
			if err != nil {
				t.Fatal(err)
			}
			if again.ID() != "my key" || again.Public().Thumbprint() != key.Public().Thumbprint() {
				t.Errorf("the key came back as %v", again)
			}
			set, err := card.JWKS(named.Public(), key.Public())
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(set, []byte(`"d"`)) {
				t.Errorf("the public set holds a private key: %s", set)
			}
			publics, err := card.ParseJWKS(set)
			if err != nil {
				t.Fatal(err)
			}
			if len(publics) != 2 || publics[0].ID() != "my key" || publics[1].ID() != key.ID() {
				t.Errorf("the set came back as %v", publics)
			}
			if _, err := card.Verify(sign(t, sample, again), card.Pin{Keys: publics}); err != nil {
				t.Error(err)
			}
		})
	}
}

// The example of RFC 7638 section 3.1, and that of RFC 8037 appendix A.
func TestThumbprints(t *testing.T) {
	keys, err := card.ParseJWKS([]byte(`{"keys":[{"kty":"RSA","e":"AQAB","alg":"RS256","n":"0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw"},
		{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, key := range keys {
		ids = append(ids, key.ID())
	}
	want := []string{"NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs", "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"}
	if diff := cmp.Diff(want, ids); diff != "" {
		t.Errorf("ids (-want +got):\n%s", diff)
	}
}

func TestPrivateKeysFromPEM(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	bits, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name, kind string
		der        []byte
		alg        card.Algorithm
	}{
		{"PKCS #8", "PRIVATE KEY", pkcs8(t, key), card.ES256},
		{"SEC 1", "EC PRIVATE KEY", sec1, card.ES256},
		{"PKCS #1", "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(bits), card.RS256},
	}
	for _, tt := range tests {
		got, err := card.ParsePrivateKey(pem.EncodeToMemory(&pem.Block{Type: tt.kind, Bytes: tt.der}))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if got.Algorithm() != tt.alg || got.ID() != got.Public().Thumbprint() {
			t.Errorf("%s: the key is %v", tt.name, got)
		}
	}
}

func pkcs8(t *testing.T, key crypto.PrivateKey) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// A key that is refused is not quoted.
func TestPrivateKeysAreRefused(t *testing.T) {
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	exchange, err := ecdh.X25519().GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	weak := weakKey(t)
	encode := func(kind string, der []byte) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
	}
	tests := []struct{ name, text, want string }{
		{"nothing", "", "neither a JWK nor PEM"},
		{"something else", "marker", "neither a JWK nor PEM"},
		{"too much", strings.Repeat("a", card.MaxBytes+1), "too large"},
		{"a symmetric JWK", `{"kty":"oct","k":"bWFya2Vy"}`, "not a private key"},
		{"a public JWK", `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`, "not a private key"},
		{"a key for encryption", strings.Replace(jwk(t), `"sig"`, `"enc"`, 1), "none of ES256"},
		{"a key for another algorithm", strings.Replace(jwk(t), `"EdDSA"`, `"ES256"`, 1), "none of ES256"},
		{"another curve", encode("PRIVATE KEY", pkcs8(t, p384)), "P-384, and only P-256"},
		{"a key that does not sign", encode("PRIVATE KEY", pkcs8(t, exchange)), "not a private key that signs"},
		{"a weak key", encode("PRIVATE KEY", pkcs8(t, weak)), "1024 bits"},
		{"an encrypted key", encode("ENCRYPTED PRIVATE KEY", []byte("marker")), "decrypt it first"},
		{"a certificate", encode("CERTIFICATE", []byte("marker")), `"CERTIFICATE"`},
		{"a broken key", encode("PRIVATE KEY", []byte("marker")), "can be read"},
		{"a long id", strings.Replace(jwk(t), `"kid":"`, `"kid":"`+strings.Repeat("a", 300), 1), "256 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			key, err := card.ParsePrivateKey([]byte(tt.text))
			if err == nil || key != nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("ParsePrivateKey() = %v, %v, want an error with %q", key, err, tt.want)
			}
			if strings.Contains(err.Error(), "marker") || strings.Contains(err.Error(), "bWFya2Vy") {
				t.Errorf("the error quotes the key: %v", err)
			}
		})
	}
	if _, err := card.GenerateKey("HS256"); err == nil {
		t.Error("GenerateKey() makes a key for HS256")
	}
}

// weakKey makes an RSA key that is too short, which takes a debug setting.
func weakKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	t.Setenv("GODEBUG", "rsa1024min=0")
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func jwk(t *testing.T) string {
	t.Helper()
	text, err := newKey(t, card.EdDSA, "k").JWK()
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestKeySets(t *testing.T) {
	one := `{"kty":"OKP","crv":"Ed25519","kid":"a","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	short := `{"kty":"RSA","e":"AQAB","kid":"b","n":"` + strings.Repeat("_", 170) + `"}`
	tests := []struct {
		name, text, want string
		ids              []string
	}{
		{"a set", `{"keys":[` + one + `]}`, "", []string{"a"}},
		{"a lone key", one, "", []string{"a"}},
		{"others are left out", `{"keys":[{"kty":"oct","k":"AA"},{"kty":"EC","crv":"P-384"},{"kty":"new"},` + one +
			`,{"kty":"RSA","use":"enc"},` + strings.Replace(one, `"a"`, `"x","alg":"ES256"`, 1) + `]}`, "", []string{"a"}},
		{"only others", `{"keys":[{"kty":"oct","k":"AA"}]}`, "no key for ES256, EdDSA and RS256", nil},
		{"an empty set", `{"keys":[]}`, "no key for", nil},
		{"no set", `[]`, "not a JWK Set", nil},
		{"no key", `{"keys":[1]}`, "key 1 of the set: it is not a JWK", nil},
		{"a broken key", `{"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`, "not a whole JWK", nil},
		{"an id that occurs twice", `{"keys":[` + one + `,` + one + `]}`, `two keys with the id "a"`, nil},
		{"a private key", `{"keys":[` + one + `,` + jwk(t) + `]}`, "key 2 of the set: it is a private key", nil},
		{"a weak key", `{"keys":[` + short + `]}`, "1016 bits, and must have 2048 to 8192", nil},
		{"many keys", `{"keys":[` + strings.Repeat(one+",", 64) + one + `]}`, "more than 64", nil},
		{"too much", strings.Repeat(" ", card.MaxBytes) + one, "too large", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			keys, err := card.ParseJWKS([]byte(tt.text))
			if tt.want != "" {
				if err == nil || !strings.Contains(err.Error(), tt.want) {
					t.Errorf("ParseJWKS() error = %v, want one with %q", err, tt.want)
				}
				return
			}
			var ids []string
			for _, key := range keys {
				ids = append(ids, key.ID())
			}
			if diff := cmp.Diff(tt.ids, ids); err != nil || diff != "" {
				t.Errorf("ParseJWKS() error = %v, ids (-want +got):\n%s", err, diff)
			}
		})
	}
	if set, err := card.JWKS(); err != nil || string(set) != `{"keys":[]}` {
		t.Errorf("JWKS() = %s, %v", set, err)
	}
	if _, err := card.JWKS(card.PublicKey{}); err == nil {
		t.Error("JWKS() writes a key that is none")
	}
	if _, err := card.Verify(sign(t, sample, newKey(t, card.EdDSA, "k")), card.Pin{Keys: []card.PublicKey{{}}}); err == nil {
		t.Error("a key that is none verifies")
	}
}

// However a private key is printed, it is not shown.
func TestPrivateKeysAreNotPrinted(t *testing.T) {
	key := newKey(t, card.EdDSA, "k")
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if got := fmt.Sprintf(verb, key); got != "private EdDSA key k" {
			t.Errorf("%s prints %q", verb, got)
		}
	}
}

// Half of all 32 bytes are no point of the curve of Ed25519, and none of those is
// taken for a key; every key that is made is.
func TestPointsOfEd25519(t *testing.T) {
	parse := func(x []byte) error {
		_, err := card.ParseJWKS([]byte(`{"kty":"OKP","crv":"Ed25519","x":"` + base64.RawURLEncoding.EncodeToString(x) + `"}`))
		return err
	}
	for range 50 {
		public, _, err := ed25519.GenerateKey(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := parse(public); err != nil {
			t.Errorf("ParseJWKS(%x) error = %v", public, err)
		}
	}
	none := make([]byte, 32)
	none[0] = 2
	for name, x := range map[string][]byte{"no point": none, "beyond the field": bytes.Repeat([]byte{0xff}, 32)} {
		if err := parse(x); err == nil || !strings.Contains(err.Error(), "no point of its curve") {
			t.Errorf("%s: ParseJWKS() error = %v", name, err)
		}
	}
}

func TestSemantic(t *testing.T) {
	for version, want := range map[string]bool{"1.2.3": true, "1.2.3-rc.1+x": true, "1.2": false, "v1.2.3": false, "01.2.3": false, "": false} {
		if card.Semantic(version) != want {
			t.Errorf("Semantic(%q) = %v", version, !want)
		}
	}
}

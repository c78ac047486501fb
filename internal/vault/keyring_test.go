package vault_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/vault"
)

// keyText is the text of a master key that has only this byte.
func keyText(b byte) string {
	return "legmk1_" + base64.RawURLEncoding.EncodeToString(bytes.Repeat([]byte{b}, 32))
}

// keys are master keys of these bytes, the primary first.
func keys(t *testing.T, all ...byte) *vault.Keyring {
	t.Helper()
	var text []string
	for _, b := range all {
		text = append(text, keyText(b))
	}
	ring, err := vault.ParseKeys([]byte(strings.Join(text, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return ring
}

func TestParseKeys(t *testing.T) {
	one, two := keys(t, 0xfb).Primary(), keys(t, 0xff).Primary()
	raw := bytes.Repeat([]byte{0xfb}, 32)
	for name, test := range map[string]struct {
		text string
		want []vault.KeyID
	}{
		"one key":             {keyText(0xfb), []vault.KeyID{one}},
		"the primary first":   {keyText(0xff) + "\n" + keyText(0xfb), []vault.KeyID{two, one}},
		"in one line":         {keyText(0xff) + " " + keyText(0xfb) + "\n", []vault.KeyID{two, one}},
		"comments and spaces": {"# words\n\n  # more\r\n\t" + keyText(0xfb) + "\r\n# end", []vault.KeyID{one}},
		"padded":              {"legmk1_" + base64.URLEncoding.EncodeToString(raw), []vault.KeyID{one}},
		"standard alphabet":   {"legmk1_" + base64.StdEncoding.EncodeToString(raw), []vault.KeyID{one}},
	} {
		t.Run(name, func(t *testing.T) {
			text := []byte(test.text)
			ring, err := vault.ParseKeys(text)
			if err != nil {
				t.Fatal(err)
			}
			clear(text) // the keys are kept apart from their text
			if diff := cmp.Diff(test.want, ring.IDs()); diff != "" || ring.Primary() != test.want[0] {
				t.Errorf("IDs() (-want +got):\n%s", diff)
			}
		})
	}
}

// The id of a key is the same everywhere and for ever: envelopes name it.
func TestKeyIDs(t *testing.T) {
	id := keys(t, 1).Primary()
	if got, want := id.String(), "2d1cd475a7374ec4"; got != want {
		t.Errorf("id of a known key is %s, want %s", got, want)
	}
	if text, err := id.MarshalText(); err != nil || string(text) != id.String() {
		t.Errorf("MarshalText() = %s, %v", text, err)
	}
}

func TestParseKeysRefuses(t *testing.T) {
	secret := base64.RawURLEncoding.EncodeToString([]byte(marker))
	var many []string
	for b := range byte(17) {
		many = append(many, keyText(b))
	}
	for name, test := range map[string]struct{ text, want string }{
		"nothing":       {"# only words\n\n", "no master key"},
		"no prefix":     {marker, "line 1 of the master keys: a master key begins with legmk1_"},
		"no base64":     {"\nlegmk1_" + marker + "!", "line 2 of the master keys: after legmk1_ come 32 bytes"},
		"two alphabets": {"legmk1_" + strings.Repeat("-", 21) + strings.Repeat("+", 22), "32 bytes"},
		"too short":     {"legmk1_" + secret, "32 bytes"},
		"too long":      {keyText(1) + secret, "32 bytes"},
		"twice":         {keyText(1) + "\n" + keyText(1), "line 2 of the master keys: key " + keys(t, 1).Primary().String() + " is there already"},
		"too many":      {strings.Join(many, "\n"), "more than 16"},
		"too much":      {strings.Repeat("#"+marker+"\n", 4000), "longer than 65536 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			ring, err := vault.ParseKeys([]byte(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Fatalf("ParseKeys() = %v, error %v, want %q", ring, err, test.want)
			}
			noMarker(t, err.Error())
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error repeats the key: %v", err)
			}
		})
	}
}

func TestKeyringsDoNotShow(t *testing.T) {
	raw := []byte(marker + "-123456")
	ring, err := vault.ParseKeys([]byte("legmk1_" + base64.StdEncoding.EncodeToString(raw)))
	if err != nil {
		t.Fatal(err)
	}
	sealer := vault.NewSealer(ring)
	for _, something := range []any{ring, *ring, sealer, struct{ keys *vault.Keyring }{ring}, struct{ keys vault.Keyring }{*ring}, vault.New(nil, sealer, vault.Config{})} {
		noMarker(t, shown(t, something))
	}
	if got, want := fmt.Sprintf("%#v", ring), "master keys "+ring.Primary().String(); got != want {
		t.Errorf("shown as %q, want %q", got, want)
	}
}

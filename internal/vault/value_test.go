package vault_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/legation/legation/internal/vault"
)

const marker = "marker-9b1c-correct-horse"

// shown is what becomes of something that is printed, logged or encoded by
// whoever does not know better.
func shown(t *testing.T, something any) string {
	t.Helper()
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d", "%o", "%c", "%U", "%p", "%t"} {
		fmt.Fprintf(&out, verb+"\n", something)
	}
	fmt.Fprintln(&out, something)
	for _, handler := range []slog.Handler{slog.NewTextHandler(&out, nil), slog.NewJSONHandler(&out, nil)} {
		slog.New(handler).Info("look", "at", something, slog.Group("in", "a", something))
	}
	if text, err := json.Marshal(something); err == nil {
		out.Write(text)
	}
	return out.String()
}

// noMarker makes sure that neither the marker nor its usual forms are shown.
func noMarker(t *testing.T, text string) {
	t.Helper()
	list := strings.Trim(fmt.Sprint([]byte(marker)), "[]") // how fmt shows bytes
	for _, form := range []string{
		marker, hex.EncodeToString([]byte(marker)), strings.ToUpper(hex.EncodeToString([]byte(marker))),
		base64.StdEncoding.EncodeToString([]byte(marker)), list,
		strings.Trim(strings.TrimPrefix(fmt.Sprintf("%#v", []byte(marker)), "[]byte"), "{}"),
	} {
		if strings.Contains(text, form) {
			t.Errorf("the secret is shown as %q in:\n%s", form, text)
		}
	}
}

// REQ-GEN-04, REQ-GEN-09: a value does not show its content by itself.
func TestValuesDoNotShow(t *testing.T) {
	value := vault.NewValue([]byte(marker))
	type inside struct {
		value vault.Value
		list  []vault.Value
	}
	for name, something := range map[string]any{
		"value":             value,
		"pointer":           &value,
		"list":              []vault.Value{value},
		"map":               map[string]vault.Value{"a": value},
		"exported field":    struct{ Value vault.Value }{value},
		"unexported fields": inside{value: value, list: []vault.Value{value}},
		"pointer to it":     &inside{value: value},
		"error":             fmt.Errorf("with %v and %s: %w", value, value, vault.ErrDamaged),
	} {
		t.Run(name, func(t *testing.T) { noMarker(t, shown(t, something)) })
	}
	for _, text := range []string{value.String(), value.LogValue().String(), fmt.Sprint(value)} {
		if text != "[secret]" {
			t.Errorf("shows %q, want [secret]", text)
		}
	}
	if text, err := json.Marshal(map[string]any{"key": value}); err != nil || string(text) != `{"key":"[secret]"}` {
		t.Errorf("as JSON it is %s, %v", text, err)
	}
	if text, err := value.MarshalText(); err != nil || string(text) != "[secret]" {
		t.Errorf("as text it is %s, %v", text, err)
	}
}

func TestMarkersAreSeen(t *testing.T) {
	for _, something := range []any{marker, []byte(marker), struct{ b []byte }{[]byte(marker)}} {
		text := shown(t, something)
		if list := strings.Trim(fmt.Sprint([]byte(marker)), "[]"); !strings.Contains(text, marker) && !strings.Contains(text, list) {
			t.Errorf("%T does not show, so no test would see it:\n%s", something, text)
		}
	}
}

func TestWipe(t *testing.T) {
	content := []byte(marker)
	value := vault.NewValue(content)
	shared := value
	if string(value.Reveal()) != marker {
		t.Fatalf("Reveal() = %q", value.Reveal())
	}
	value.Wipe()
	value.Wipe()
	if len(value.Reveal()) != 0 || len(shared.Reveal()) != 0 {
		t.Error("Reveal() returns something after Wipe")
	}
	if !bytes.Equal(content, make([]byte, len(marker))) {
		t.Errorf("after Wipe the memory has %q", content)
	}
	var zero vault.Value
	zero.Wipe()
	if zero.Reveal() != nil || zero.String() != "[secret]" {
		t.Errorf("the zero value reveals %q and shows %s", zero.Reveal(), zero)
	}
}

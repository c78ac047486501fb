package vault_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/vault"
)

func seal(t testing.TB, sealer *vault.Sealer, purpose, row, content string) []byte {
	t.Helper()
	sealed, err := sealer.Seal(purpose, row, vault.NewValue([]byte(content)))
	if err != nil {
		t.Fatalf("Seal() error = %v", err)
	}
	return sealed
}

func TestSealAndOpen(t *testing.T) {
	sealer := vault.NewSealer(keys(t, 1))
	for name, content := range map[string]string{
		"text": marker, "nothing": "", "most": string(make([]byte, vault.MaxBytes)),
	} {
		sealed := seal(t, sealer, "hooks.token", "7", content)
		got, err := sealer.Open("hooks.token", "7", sealed)
		if err != nil || string(got.Reveal()) != content {
			t.Errorf("%s: Open() = %d bytes, %v", name, len(got.Reveal()), err)
		}
		if again := seal(t, sealer, "hooks.token", "7", content); bytes.Equal(again[9:], sealed[9:]) {
			t.Errorf("%s: two envelopes are the same", name)
		}
		if content == marker && bytes.Contains(sealed, []byte(marker)) {
			t.Error("the envelope shows its content")
		}
	}
	if _, err := sealer.Seal("p", "r", vault.NewValue(make([]byte, vault.MaxBytes+1))); !errors.Is(err, vault.ErrInvalid) {
		t.Errorf("Seal() of too much: error = %v, want ErrInvalid", err)
	}
	if _, err := sealer.Seal("p", "r", vault.Value{}); err != nil {
		t.Errorf("Seal() of the zero value: error = %v", err)
	}
}

// An envelope opens where it belongs and nowhere else.
func TestContentIsBoundToItsPlace(t *testing.T) {
	sealer := vault.NewSealer(keys(t, 1))
	sealed := seal(t, sealer, "hooks.token", "7", marker)
	for _, other := range []struct{ purpose, row string }{
		{"hooks.token", "8"}, {"hooks.token", ""}, {"hooks.key", "7"}, {"", "7"},
		{"hooks.token7", ""}, {"hooks.toke", "n7"}, {"7", "hooks.token"}, {"hooks.token\x017", ""},
	} {
		value, err := sealer.Open(other.purpose, other.row, sealed)
		if !errors.Is(err, vault.ErrDamaged) || value.Reveal() != nil {
			t.Errorf("Open(%q, %q) = %v, want ErrDamaged", other.purpose, other.row, err)
		}
	}
}

func TestDamagedEnvelopesDoNotOpen(t *testing.T) {
	sealer := vault.NewSealer(keys(t, 1, 2))
	sealed := seal(t, sealer, "hooks.token", "7", marker)
	refused := func(what string, sealed []byte) {
		t.Helper()
		value, err := sealer.Open("hooks.token", "7", sealed)
		_, unknown := errors.AsType[*vault.UnknownKeyError](err)
		if !errors.Is(err, vault.ErrDamaged) && !unknown {
			t.Errorf("%s: Open() error = %v, want a refusal", what, err)
			return
		}
		if value.Reveal() != nil {
			t.Errorf("%s: Open() returned a value", what)
		}
		noMarker(t, shown(t, err))
	}
	for n := range sealed {
		refused("cut", sealed[:n])
		for bit := range 8 {
			changed := slices.Clone(sealed)
			changed[n] ^= 1 << bit
			refused("changed", changed)
		}
	}
	refused("longer", append(slices.Clone(sealed), 0))
	refused("much longer", append(slices.Clone(sealed), make([]byte, vault.MaxBytes)...))
	refused("nothing", nil)

	// The key's id is bound to the data key, so that it cannot be exchanged.
	other := seal(t, vault.NewSealer(keys(t, 2)), "hooks.token", "7", "other")
	refused("another key's id", slices.Concat(other[:9], sealed[9:]))
	same := seal(t, sealer, "hooks.token", "7", "other")
	refused("another row's data key", slices.Concat(same[:81], sealed[81:]))
}

func TestOtherMasterKeys(t *testing.T) {
	one, two := keys(t, 1), keys(t, 2)
	sealed := seal(t, vault.NewSealer(one), "p", "r", marker)
	if value, err := vault.NewSealer(keys(t, 2, 1)).Open("p", "r", sealed); err != nil || string(value.Reveal()) != marker {
		t.Errorf("Open() with an older key: error = %v", err)
	}
	value, err := vault.NewSealer(two).Open("p", "r", sealed)
	unknown, ok := errors.AsType[*vault.UnknownKeyError](err)
	if !ok || value.Reveal() != nil {
		t.Fatalf("Open() without its key: error = %v, want an UnknownKeyError", err)
	}
	if diff := cmp.Diff(&vault.UnknownKeyError{Keys: one.IDs(), Given: two.IDs()}, unknown); diff != "" {
		t.Errorf("error (-want +got):\n%s", diff)
	}
	want := "sealed with master key " + one.Primary().String() + ", which is not among those given (" + two.Primary().String() + "); " +
		"put that key back, as one of the older keys if it is no longer the primary"
	if err.Error() != want {
		t.Errorf("error = %q, want %q", err, want)
	}
}

// golden is the marker as it was sealed once with key 1, for purpose p and row r.
const golden = "012d1cd475a7374ec4c5da3cb7a10e37abbde8dc09c4073731fd68b2bed031c4f21651855ef248f525bb91cba8c813456de8f449504b20e7fd913e8c18dc2bd3c4f4a313617768003fab988f913c5dd9965549692bfedac75da14198100496fda6acc271ce2d2740f3a5723dada04f101fe1bd86e75cb7d38cba3082508221fcdbbf49aaebc12155e71645e7c003d6221521"

func goldenEnvelope(t testing.TB) []byte {
	t.Helper()
	sealed, err := hex.DecodeString(golden)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

// What was sealed stays readable: the form of envelopes is for ever.
func TestGoldenEnvelope(t *testing.T) {
	value, err := vault.NewSealer(keys(t, 1)).Open("p", "r", goldenEnvelope(t))
	if err != nil || string(value.Reveal()) != marker {
		t.Errorf("Open() = %q, %v, want %q", value.Reveal(), err, marker)
	}
}

// FuzzOpen: nothing but what was sealed here opens, and nothing panics.
func FuzzOpen(f *testing.F) {
	ring, err := vault.ParseKeys([]byte(keyText(1) + " " + keyText(2)))
	if err != nil {
		f.Fatal(err)
	}
	sealer := vault.NewSealer(ring)
	good := goldenEnvelope(f)
	f.Add(good)
	f.Add([]byte{})
	f.Add(good[:81])
	f.Add(good[:121])
	f.Add(append(slices.Clone(good), good...))
	f.Add(seal(f, sealer, "p", "other", marker))
	f.Fuzz(func(t *testing.T, sealed []byte) {
		value, err := sealer.Open("p", "r", sealed)
		if opened := err == nil; opened != bytes.Equal(sealed, good) {
			t.Fatalf("Open(%x) = %v", sealed, err)
		}
		if err != nil && value.Reveal() != nil {
			t.Fatal("a value beside an error")
		}
	})
}

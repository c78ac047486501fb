package vault_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/legation/legation/internal/vault"
)

func TestParseReference(t *testing.T) {
	long := strings.Repeat("a", 128)
	for text, want := range map[string]vault.Reference{
		"token":                 {Name: "token"},
		"OPENAI_API_KEY":        {Name: "OPENAI_API_KEY"},
		"0":                     {Name: "0"},
		"a.b-c_d":               {Name: "a.b-c_d"},
		"token@1":               {Name: "token", Version: 1},
		"token@12":              {Name: "token", Version: 12},
		long:                    {Name: long},
		"t@9223372036854775807": {Name: "t", Version: 9223372036854775807},
	} {
		got, err := vault.ParseReference(text)
		if err != nil || got != want {
			t.Errorf("ParseReference(%q) = %+v, %v, want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("String() = %q, want %q", got, text)
		}
	}
	for _, text := range []string{
		"", "@", "@1", "token@", "token@0", "token@-1", "token@+1", "token@01", "token@1@2", "token@x", "token@9223372036854775808",
		".token", "-token", "_token", "a b", "a/b", "tokén", "token\n", "token\x00", long + "a",
	} {
		got, err := vault.ParseReference(text)
		if !errors.Is(err, vault.ErrInvalid) {
			t.Errorf("ParseReference(%q) = %+v, %v, want ErrInvalid", text, got, err)
		}
	}
}

// A secret that was given where its name belongs is not repeated.
func TestReferenceErrorsDoNotShow(t *testing.T) {
	for _, text := range []string{" " + marker, marker + "@" + marker, marker + "/" + marker} {
		_, err := vault.ParseReference(text)
		if err == nil {
			t.Errorf("ParseReference(%q) succeeded", text)
			continue
		}
		noMarker(t, err.Error())
	}
}

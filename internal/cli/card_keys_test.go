package cli_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A private key is for its owner's eyes only.
func TestKeysAreWrittenForTheirOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key.jwk")
	if status, _, stderr := run(t, "", "card", "keygen", "--out", path); status != 0 {
		t.Fatalf("exit status %d: %s", status, stderr)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the mode of the key is %o, want 600", mode)
	}
}

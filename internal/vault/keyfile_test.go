package vault_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/vault"
	"github.com/legation/legation/internal/work"
)

func write(t *testing.T, text string, mode fs.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "master.key")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

func TestFirstStartCreatesTheMasterKey(t *testing.T) {
	store := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "master.key")
	keys, created, err := vault.OpenKeys(t.Context(), store, path)
	if err != nil || !created {
		t.Fatalf("OpenKeys() = created %v, error %v, want a new file", created, err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode(); runtime.GOOS != "windows" && mode != 0o600 {
		t.Errorf("the file has mode %v, want 0600", mode)
	}
	again, created, err := vault.OpenKeys(t.Context(), store, path)
	if err != nil || created {
		t.Fatalf("OpenKeys() of the second start = created %v, error %v", created, err)
	}
	if diff := cmp.Diff(keys.IDs(), again.IDs()); diff != "" {
		t.Errorf("the keys of the second start (-first +second):\n%s", diff)
	}
	other, _, err := vault.OpenKeys(t.Context(), store, path+".other")
	if err != nil || other.Primary() == keys.Primary() {
		t.Errorf("OpenKeys() of another file = %v, %v, want another key than %v", other, err, keys)
	}
}

// A lost master key is said to be lost, not replaced.
func TestLostMasterKeyIsNotReplaced(t *testing.T) {
	store := open(t, t.TempDir())
	ring := keys(t, 1)
	put(t, vault.New(store, vault.NewSealer(ring), vault.Config{}), "token", marker)
	path := filepath.Join(t.TempDir(), "master.key")
	_, created, err := vault.OpenKeys(t.Context(), store, path)
	unknown, ok := errors.AsType[*vault.UnknownKeyError](err)
	if created || !ok || !cmp.Equal(unknown.Keys, ring.IDs()) {
		t.Fatalf("OpenKeys() = created %v, error %v, want one that names %s", created, err, ring.Primary())
	}
	for _, word := range []string{path, ring.Primary().String(), "put that key back"} {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("error %q does not say %s", err, word)
		}
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the file was created all the same: %v", err)
	}
}

func TestOpenKeysNeedsItsStoreAndItsDirectory(t *testing.T) {
	store := open(t, t.TempDir())
	path := filepath.Join(t.TempDir(), "absent", "master.key")
	if _, created, err := vault.OpenKeys(t.Context(), store, path); err == nil || created {
		t.Errorf("OpenKeys() in a missing directory = created %v, error %v", created, err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	path = filepath.Join(t.TempDir(), "master.key")
	if _, created, err := vault.OpenKeys(t.Context(), store, path); err == nil || created {
		t.Errorf("OpenKeys() without a store = created %v, error %v", created, err)
	}
}

func TestReadKeysRefuses(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "missing")
	for name, test := range map[string]struct {
		path string
		want string
	}{
		"no file":    {missing, missing},
		"no key":     {write(t, "", 0o600), "no master key"},
		"no text":    {write(t, marker, 0o600), "line 1"},
		"too much":   {write(t, strings.Repeat("#"+marker+"\n", 4000), 0o600), "larger than 65536 bytes"},
		"directory":  {t.TempDir(), "is not a file"},
		"for others": {write(t, keyText(1), 0o644), "chmod 600"},
		"for groups": {write(t, keyText(1), 0o620), "mode 0620"},
	} {
		t.Run(name, func(t *testing.T) {
			if runtime.GOOS == "windows" && strings.HasPrefix(name, "for ") {
				t.Skip("the mode of a file says nothing on Windows")
			}
			_, err := vault.ReadKeys(test.path)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), test.path) {
				t.Fatalf("ReadKeys() error = %v, want one with %q and the path", err, test.want)
			}
			if absent := name == "no file"; errors.Is(err, fs.ErrNotExist) != absent {
				t.Errorf("errors.Is(err, fs.ErrNotExist) = %v, want %v", !absent, absent)
			}
			noMarker(t, err.Error())
		})
	}
}

func TestAddKey(t *testing.T) {
	const head = "# ours\n# keep it\n"
	path := write(t, head+keyText(1)+"\n# old\n"+keyText(2), 0o600)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	added, err := vault.AddKey(link)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(keys(t, 1, 2).IDs(), added.IDs()[1:]); diff != "" {
		t.Errorf("older keys (-want +got):\n%s", diff)
	}
	read, err := vault.ReadKeys(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(added.IDs(), read.IDs()); diff != "" {
		t.Errorf("the file (-want +got):\n%s", diff)
	}
	text, err := os.ReadFile(link)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.HasPrefix(text, []byte(head+"legmk1_")) || !bytes.HasSuffix(text, []byte("\n# old\n"+keyText(2))) {
		t.Error("the comments are not where they were")
	}
	if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
		t.Errorf("%d files beside each other, %v, want the one", len(left), err)
	}
}

func TestAddKeyLeavesWhatItCannotChange(t *testing.T) {
	var full []string
	for b := range byte(16) {
		full = append(full, keyText(b))
	}
	for name, text := range map[string]string{
		"a full file":     strings.Join(full, "\n"),
		"a broken file":   keyText(1) + "\n" + marker,
		"an open comment": "# no end, and no key", // the new key must not become part of it
	} {
		t.Run(name, func(t *testing.T) {
			path := write(t, text, 0o600)
			ring, err := vault.AddKey(path)
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if name == "an open comment" {
				if err != nil || len(ring.IDs()) != 1 || !bytes.HasSuffix(got, []byte("\n"+text)) {
					t.Errorf("AddKey() = %v, %v", ring, err)
				}
				return
			}
			if err == nil || string(got) != text {
				t.Errorf("AddKey() error = %v, and the file changed: %v", err, string(got) != text)
			}
			noMarker(t, fmt.Sprint(err))
			if left, err := os.ReadDir(filepath.Dir(path)); err != nil || len(left) != 1 {
				t.Errorf("%d files are left, %v, want the one", len(left), err)
			}
		})
	}
	if _, err := vault.AddKey(filepath.Join(t.TempDir(), "missing")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("AddKey() to no file: error = %v, want fs.ErrNotExist", err)
	}
	if _, err := vault.AddKey(t.TempDir()); err == nil {
		t.Error("AddKey() to a directory succeeded")
	}
}

// put stores a version that must be accepted.
func put(t *testing.T, v *vault.Vault, name, content string) vault.Metadata {
	t.Helper()
	stored, err := v.Put(t.Context(), name, vault.NewValue([]byte(content)), "root", work.Effects{})
	if err != nil {
		t.Fatalf("Put(%s) error = %v", name, err)
	}
	return stored
}

package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// OpenKeys reads the master keys of a store from a file. If the file does not
// exist and nothing is sealed in the store yet, it is created with a new key
// and created is true; if something is, that is an error, since a new key would
// not open it.
func OpenKeys(ctx context.Context, store Seals, path string) (keys *Keyring, created bool, err error) {
	keys, err = ReadKeys(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return keys, false, err
	}
	used, err := store.SealKeys(ctx)
	if err != nil {
		return nil, false, fmt.Errorf("find the master keys in use: %w", err)
	}
	if len(used) > 0 {
		return nil, false, fmt.Errorf("%s does not exist: %w", path, &UnknownKeyError{Keys: used})
	}
	keys, err = createKeys(path)
	return keys, err == nil, err
}

// ReadKeys reads master keys from a file, as [ParseKeys] does. Others than the
// owner of the file must not have access to it. If it does not exist the error
// is fs.ErrNotExist.
func ReadKeys(path string) (*Keyring, error) {
	text, err := readKeyText(path)
	if err != nil {
		return nil, err
	}
	defer clear(text)
	keys, err := ParseKeys(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return keys, nil
}

func readKeyText(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read master keys: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	switch {
	case err != nil:
		return nil, fmt.Errorf("read master keys: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read master keys: %s is not a file", path)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return nil, fmt.Errorf("others than the owner have access to the master keys in %s (mode %04o); "+
			"take it from them: chmod 600 %s", path, info.Mode().Perm(), path)
	case info.Size() > maxText:
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxText)
	}
	text := make([]byte, info.Size()) // of that size at once, so that no copies stay behind
	if _, err := io.ReadFull(file, text); err != nil {
		return nil, fmt.Errorf("read master keys: %w", err)
	}
	return text, nil
}

const keyFileHead = "# Master keys of Legation, the primary first. Keep a copy elsewhere:\n" +
	"# without them the secrets in the store cannot be read.\n"

func createKeys(path string) (*Keyring, error) {
	text := newKeyText()
	defer clear(text)
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return nil, fmt.Errorf("create master key: %w", err)
	}
	if err := writeKeys(file, []byte(keyFileHead), text, []byte("\n")); err != nil {
		_ = os.Remove(path)
		return nil, fmt.Errorf("create master key: %w", err)
	}
	return ParseKeys(text)
}

// AddKey puts a new primary master key into a file of them, before the others.
// The file is replaced at once or not at all.
func AddKey(path string) (*Keyring, error) {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, fmt.Errorf("add master key: %w", err)
	}
	old, err := readKeyText(path)
	if err != nil {
		return nil, err
	}
	defer clear(old)
	key := newKeyText()
	defer clear(key)
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return nil, fmt.Errorf("add master key: %w", err)
	}
	head := commentEnd(old)
	err = writeKeys(file, old[:head], key, []byte("\n"), old[head:])
	var keys *Keyring
	if err == nil {
		keys, err = ReadKeys(file.Name()) // whatever is wrong with the old ones shows now
	}
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return nil, fmt.Errorf("add master key: %w", err)
	}
	return keys, syncDir(filepath.Dir(path))
}

// commentEnd is where the comments that a text begins with end.
func commentEnd(text []byte) int {
	end := 0
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("#")) || !bytes.HasSuffix(line, []byte("\n")) {
			break
		}
		end += len(line)
	}
	return end
}

// writeKeys writes a file, makes it durable and closes it.
func writeKeys(file *os.File, parts ...[]byte) error {
	var errs []error
	for _, part := range parts {
		_, err := file.Write(part)
		errs = append(errs, err)
	}
	errs = append(errs, file.Sync(), file.Close(), syncDir(filepath.Dir(file.Name())))
	return errors.Join(errs...)
}

// syncDir makes names in a directory durable, where that can be asked for.
func syncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

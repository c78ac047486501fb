package vault

import (
	"fmt"
	"strconv"
	"strings"
)

// maxName is the longest name of a secret, in bytes.
const maxName = 128

// Reference names a secret, or one version of it. Its text is "name" or
// "name@3".
type Reference struct {
	Name    string
	Version int64 // zero means the newest that is not deleted
}

// ParseReference reads a reference. The errors do not repeat the text, which
// may be a secret in the wrong place.
func ParseReference(text string) (Reference, error) {
	name, number, pinned := strings.Cut(text, "@")
	ref := Reference{Name: name}
	if pinned {
		version, err := strconv.ParseInt(number, 10, 64)
		if err != nil || version < 1 || number != strconv.FormatInt(version, 10) {
			return Reference{}, fmt.Errorf("%w: what follows the @ of a reference is a version: 1, 2, and so on", ErrInvalid)
		}
		ref.Version = version
	}
	return ref, ref.check()
}

// String is what ParseReference reads.
func (r Reference) String() string {
	if r.Version == 0 {
		return r.Name
	}
	return r.Name + "@" + strconv.FormatInt(r.Version, 10)
}

func (r Reference) check() error {
	if r.Version < 0 {
		return fmt.Errorf("%w: a version is 1 or more", ErrInvalid)
	}
	return checkName(r.Name)
}

// checkName says in words what is wrong with a name, without repeating it.
func checkName(name string) error {
	const rule = "a name has letters, digits, '-', '_' and '.', and begins with a letter or digit"
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%w: a secret's name has 1 to %d characters", ErrInvalid, maxName)
	}
	for i := range len(name) {
		c := name[i]
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && (c == '-' || c == '_' || c == '.'):
		default:
			return fmt.Errorf("%w: %s", ErrInvalid, rule)
		}
	}
	return nil
}

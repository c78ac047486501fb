package vault

import (
	"errors"
	"fmt"
	"strings"
)

// Errors of this package and of a [Store]. Compare with errors.Is.
var (
	// ErrNotFound: there is no such secret, or no such version of it any more.
	ErrNotFound = errors.New("no such secret")

	// ErrInvalid: a name, a value or a use is not what it must be.
	ErrInvalid = errors.New("not valid")

	// ErrConflict: the version to be added is not the next one.
	ErrConflict = errors.New("the secret has another version by now")

	// ErrFull: there are as many secrets as there may be.
	ErrFull = fmt.Errorf("there are %d versions of secrets, which is the most; delete some first", MaxStored)

	// ErrDamaged: what is stored is not what was sealed for this place. It was
	// cut, changed, or taken from elsewhere.
	ErrDamaged = errors.New("the sealed value is damaged, or not of this place")
)

// UnknownKeyError says that something is sealed with master keys that were not
// given.
type UnknownKeyError struct {
	Keys  []KeyID // that are missing
	Given []KeyID
}

// Error says so, and what to do.
func (e *UnknownKeyError) Error() string {
	if len(e.Given) == 0 {
		return fmt.Sprintf("there are secrets that are sealed with master key %s; put that key back", list(e.Keys))
	}
	return fmt.Sprintf("sealed with master key %s, which is not among those given (%s); "+
		"put that key back, as one of the older keys if it is no longer the primary", list(e.Keys), list(e.Given))
}

func list(keys []KeyID) string {
	if len(keys) == 0 {
		return "none"
	}
	words := make([]string, len(keys))
	for i, key := range keys {
		words[i] = key.String()
	}
	return strings.Join(words, ", ")
}

package people

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/legation/legation/internal/work"
)

// Bounds of what is kept.
const (
	MaxPeople = 1000
	maxName   = 64
)

// Errors of this package and of a [Store]. Compare with errors.Is.
var (
	// ErrInvalid: a name, role or time is not what it must be.
	ErrInvalid = errors.New("not valid")

	// ErrNotFound: there is no person of this name.
	ErrNotFound = errors.New("there is no such person")

	// ErrLastAdmin: nobody would be left who may administer.
	ErrLastAdmin = errors.New("the last admin cannot be removed")

	// ErrFull: there are as many people as there may be.
	ErrFull = fmt.Errorf("there are %d people, which is the most; remove some first", MaxPeople)

	// ErrToken: it is nobody's token.
	ErrToken = errors.New("this is nobody's token")

	// ErrExpired: the token has ended.
	ErrExpired = errors.New("the token has ended")
)

// Person is somebody who may administer. Times are in whole milliseconds.
type Person struct {
	Name string
	Role Role

	// Token is what the person is known by.
	Token Token

	CreatedAt time.Time

	// Author is who added the person.
	Author string

	// NotAfter is when the token ceases to be accepted. Zero means never.
	NotAfter time.Time
}

// InForce reports whether the person's token is accepted at a time.
func (p Person) InForce(at time.Time) bool { return p.NotAfter.IsZero() || !at.After(p.NotAfter) }

// Change is one change of who there is: a person in place of whoever had the
// name, or the removal of a name.
type Change struct {
	Put    *Person
	Remove string
	At     time.Time
}

// Apply returns the people after a change, by name. Stores call it inside the
// change. The errors are [ErrNotFound], [ErrLastAdmin] and [ErrFull].
func (c Change) Apply(people []Person) ([]Person, error) {
	name := c.Remove
	if c.Put != nil {
		name = c.Put.Name
	}
	after := slices.DeleteFunc(slices.Clone(people), func(p Person) bool { return p.Name == name })
	switch {
	case c.Put != nil:
		after = append(after, *c.Put)
	case len(after) == len(people):
		return nil, ErrNotFound
	}
	switch {
	case administered(people, c.At) && !administered(after, c.At):
		return nil, ErrLastAdmin
	case len(after) > MaxPeople && len(after) > len(people):
		return nil, ErrFull
	}
	slices.SortFunc(after, func(a, b Person) int { return strings.Compare(a.Name, b.Name) })
	return after, nil
}

// administered reports whether anybody may administer at a time.
func administered(people []Person, at time.Time) bool {
	return slices.ContainsFunc(people, func(p Person) bool { return p.Role.May(Administer) && p.InForce(at) })
}

// Store keeps people. A change is durable when its method returns. Its methods
// are safe for concurrent use.
type Store interface {
	// People returns everybody, by name.
	People(ctx context.Context) ([]Person, error)

	// ChangePeople makes a change as [Change.Apply] says, whose errors are
	// returned.
	ChangePeople(ctx context.Context, change Change, effects work.Effects) error
}

// reserved are names under which the audit knows others than people.
var reserved = []string{"legation", "local", "command line"}

// checkName says in words what is wrong with a name.
func checkName(name string) error {
	if name == "" || len(name) > maxName {
		return fmt.Errorf("%w: the name of a person has 1 to %d characters", ErrInvalid, maxName)
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case i > 0 && strings.IndexByte("-_.@+", c) >= 0:
		default:
			return fmt.Errorf("%w: the name of a person has letters, digits and - _ . @ +, and begins with a letter or digit", ErrInvalid)
		}
	}
	if slices.Contains(reserved, strings.ToLower(name)) {
		return fmt.Errorf("%w: %s is not the name of a person; the audit knows others by it", ErrInvalid, name)
	}
	return nil
}

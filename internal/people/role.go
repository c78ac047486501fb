package people

import (
	"fmt"
	"slices"
)

// Role says what a person may do.
type Role string

// The roles.
const (
	Viewer   Role = "viewer"   // reads
	Operator Role = "operator" // reads, cancels tasks, runs checks
	Approver Role = "approver" // reads and approves
	Admin    Role = "admin"    // everything
)

// Roles returns every role, the one that may do least first.
func Roles() []Role { return []Role{Viewer, Operator, Approver, Admin} }

// ParseRole returns the role of a name.
func ParseRole(name string) (Role, error) {
	if role := Role(name); slices.Contains(Roles(), role) {
		return role, nil
	}
	return "", fmt.Errorf("%w: a role is viewer, operator, approver or admin", ErrInvalid)
}

// Permission is one sort of things that somebody may do. There is no permission
// to see the value of a secret.
type Permission string

// The permissions.
const (
	Read       Permission = "read"       // see what there is and what happened
	Operate    Permission = "operate"    // cancel tasks, run checks
	Approve    Permission = "approve"    // agree to what asks for a person
	Administer Permission = "administer" // change what is registered, secrets, people; see the content of tasks
)

// May reports whether a role has a permission. A role or permission that is not
// known is refused.
func (r Role) May(p Permission) bool {
	switch p {
	case Read:
		return slices.Contains(Roles(), r)
	case Operate:
		return r == Operator || r == Admin
	case Approve:
		return r == Approver || r == Admin
	case Administer:
		return r == Admin
	}
	return false
}

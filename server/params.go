package server

import (
	"fmt"
	"slices"

	"github.com/legation/legation/a2a"
)

// faults are what is wrong with the parameters of one request.
type faults []a2a.Violation

// add notes one more, by the path of its member. What is wrong already is not
// judged further.
func (f *faults) add(field, format string, args ...any) {
	if slices.ContainsFunc(*f, func(v a2a.Violation) bool { return v.Field == field }) {
		return
	}
	*f = append(*f, a2a.Violation{Field: field, Reason: a2a.OutOfRange, Description: fmt.Sprintf(format, args...)})
}

// err is the answer that names them all, or nil. Its message has the first
// ones in words, for callers that read nothing else.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	const spelled = 3
	message := a2a.CodeInvalidParams.Message() + ": " + a2a.Violations(f[:min(len(f), spelled)]).String()
	if more := len(f) - spelled; more > 0 {
		message += fmt.Sprintf("; and %d more", more)
	}
	e := a2a.InvalidParams(f...)
	e.Message = message
	return e
}

// invalid is the answer to one fault of the parameters.
func invalid(field, format string, args ...any) error {
	var f faults
	f.add(field, format, args...)
	return f.err()
}

// decode reads the call's parameters; absent ones are empty. Afterwards the
// body is gone.
func decode[T any, P a2a.Wire[T]](c *call) (T, faults, error) {
	params := c.params
	if params == nil {
		params = []byte("{}")
	}
	req, violations, err := a2a.Decode[T, P](params)
	c.release()
	if err != nil {
		return req, nil, invalid("params", "%v", err)
	}
	return req, faults(violations), nil
}

// checkParams ends the checks of the parameters: first the tenant, which
// hints at nothing else, then all faults together.
func (c *call) checkParams(tenant string, f faults) error {
	if tenant != c.endpoint.tenant {
		return invalid("tenant", "must be the tenant of the interface in the agent card")
	}
	return f.err()
}

// maxID bounds the ids that a caller may send, in bytes.
const maxID = 256

// checkID bounds an id; that it is there is for others to check.
func (f *faults) checkID(field, id string) {
	if len(id) > maxID {
		f.add(field, "must be at most %d bytes long, not %d", maxID, len(id))
	}
}

// checkTaskID checks the id of the task that a request is about.
func (f *faults) checkTaskID(field string, id a2a.TaskID) { f.checkID(field, string(id)) }

// checkHistoryLength checks the one limit that three methods share
// (section 3.2.4).
func (f *faults) checkHistoryLength(field string, n *int32) {
	if n != nil && *n < 0 {
		f.add(field, "must not be negative; 0 asks for no history")
	}
}

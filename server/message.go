package server

import (
	"bytes"
	"fmt"

	"github.com/legation/legation/a2a"
)

// checkMessage adds the rules for a caller's message that the wire does not
// have.
func (f *faults) checkMessage(m *a2a.Message, maxParts int) {
	if m.Role == a2a.RoleAgent {
		f.add("message.role", "must be %s in a request", a2a.RoleUser)
	}
	if len(m.Parts) > maxParts {
		f.add("message.parts", "must have at most %d elements, not %d", maxParts, len(m.Parts))
	}
	f.checkID("message.messageId", string(m.MessageID))
	f.checkID("message.contextId", string(m.ContextID))
	f.checkID("message.taskId", string(m.TaskID))
	for i, id := range m.ReferenceTaskIDs {
		if len(id) > maxID {
			f.checkID(fmt.Sprintf("message.referenceTaskIds[%d]", i), string(id))
			return // one is enough: there may be many
		}
	}
}

// mentionsBlocking reports whether parameters carry a member of older
// revisions that callers still expect to work.
func mentionsBlocking(params []byte) bool {
	const member = "blocking"
	if !bytes.Contains(params, []byte(`"`+member+`"`)) {
		return false
	}
	config, ok := a2a.Struct(params).Get("configuration")
	if ok {
		_, ok = a2a.Struct(config).Get(member)
	}
	return ok
}

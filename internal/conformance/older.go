package conformance

import (
	"bytes"
	"fmt"
	"strings"
)

// older are names of operations, paths and headers that earlier revisions of
// the protocol used, by how they begin, which most files do not have. They are
// put together from pieces, so that this file does not hold them.
var older = []struct {
	begin string
	rest  []string
}{
	{"message/", []string{"send", "stream"}},
	{"tasks/", []string{
		"send", "sendSubscribe", "get", "list", "cancel", "resubscribe",
		"pushNotification/set", "pushNotification/get",
		"pushNotificationConfig/set", "pushNotificationConfig/get", "pushNotificationConfig/list", "pushNotificationConfig/delete",
	}},
	{"agent/", []string{"get" + "AuthenticatedExtendedCard", "authenticatedExtendedCard", "getCard"}},
	{"Task", []string{"Subscription" + "Request", "PushNotificationConfig" + "Request"}},
	{"ListTaskPush", []string{"NotificationConfig", "Notification"}},
	{"SetTaskPush", []string{"NotificationConfig", "Notification"}},
	{"GetAuth", []string{"enticatedExtendedCard"}},
	{"GetTaskPush", []string{"Notification"}},
	{"/.well-known/", []string{"agent.json"}},
	{"/v1/", []string{"message:send", "message:stream", "tasks", "card", "extendedAgentCard"}},
	{"X-A2A-", []string{"Extensions"}},
}

// olderKept says which files may hold which older name, and why.
var olderKept = map[string]string{
	"internal/cli/testdata/script/found.txtar": "/.well-known/" + "agent.json", // the hint for those who meet an older agent
	"internal/cli/peer_test.go":                "/.well-known/" + "agent.json", // that agent
}

// older looks for older names in every text file of the tree, in any case. A
// name that a program puts together from pieces, as here, is not found.
func (c *checker) older() {
	c.begin("files without an older name")
	kept := make(map[string]bool)
	for _, name := range c.tree.names {
		c.counted(1)
		data := c.tree.files[name]
		names := olderIn(data)
		if len(names) == 0 {
			continue
		}
		on := linesOf(data)
		for _, old := range names {
			if olderKept[name] == old.name {
				kept[name] = true
				continue
			}
			c.differs("older name", fmt.Sprintf("%s:%d", name, on.line(old.at)), "names of "+c.claim.Headers.Literal+" only", old.name,
				"use the name of "+c.claim.Headers.Literal)
		}
	}
	for name, old := range olderKept {
		if !kept[name] {
			c.differs("older name", name, old, "nothing", "take it off the list in internal/conformance/older.go, which only shrinks")
		}
	}
}

// found is an older name and where it is.
type found struct {
	name string
	at   int
}

func olderIn(data []byte) (all []found) {
	data = lower(data)
	for _, group := range older {
		if !bytes.Contains(data, lower([]byte(group.begin))) {
			continue
		}
		for _, rest := range group.rest {
			name := group.begin + rest
			for _, at := range occurrences(data, string(lower([]byte(name)))) {
				all = append(all, found{name: name, at: at})
			}
		}
	}
	return all
}

// lower makes letters of ASCII small and leaves every byte where it is.
func lower(data []byte) []byte {
	small := bytes.Clone(data)
	for i, b := range small {
		if 'A' <= b && b <= 'Z' {
			small[i] = b + 'a' - 'A'
		}
	}
	return small
}

// occurrences are the places of a name that is not a part of a longer one.
func occurrences(data []byte, name string) []int {
	var found []int
	for from := 0; ; {
		at := bytes.Index(data[from:], []byte(name))
		if at < 0 {
			return found
		}
		at += from
		from = at + len(name)
		rooted := strings.HasPrefix(name, "/") // paths may have a host in front
		if (rooted || at == 0 || !joins(data[at-1]) && data[at-1] != '/') && (from == len(data) || !joins(data[from])) {
			found = append(found, at)
		}
	}
}

// joins reports whether a character continues a name.
func joins(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

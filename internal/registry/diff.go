package registry

import "strings"

// Action is what happens to a document.
type Action string

// The actions.
const (
	Create    Action = "create"
	Update    Action = "update"
	Delete    Action = "delete"
	Unchanged Action = "unchanged"
)

// Change is what becomes of one document.
type Change struct {
	ID     ID
	Action Action

	// Before is the document as it is, nil if it is created, or cannot be read.
	// After is the document as it will be, with its new generation, nil if it is
	// deleted.
	Before, After *Document

	// Fields are the differences of an update, in the order of the fields.
	Fields []FieldChange

	unread []byte // the document as it is, if it cannot be read
}

// FieldChange is one difference between two documents.
type FieldChange struct {
	// Path is the field: "spec.limits.parts". An item of a list of objects is
	// named by its key: "spec.skills[summarize].description".
	Path string

	// Old and New are the values as a line of JSON, cut where they are long.
	// Empty means that the field is not there. What is not to be shown is
	// replaced by words.
	Old, New string
}

// String returns the difference in one line.
func (f FieldChange) String() string {
	show := func(s string) string {
		if s == "" {
			return "(left out)"
		}
		return s
	}
	return f.Path + ": " + show(f.Old) + " → " + show(f.New)
}

// Differences returns what differs between two specs of the same kind.
func Differences(before, after Document) []FieldChange {
	var changes []FieldChange
	compare(&changes, "", before.node(), after.node())
	return changes
}

func compare(changes *[]FieldChange, path string, before, after node) {
	switch {
	case before.kind == objectNode && after.kind == objectNode || before.kind == objectNode && after.kind == nullNode || before.kind == nullNode && after.kind == objectNode:
		for _, name := range names(before, after) {
			was, _ := before.get(name)
			is, _ := after.get(name)
			compare(changes, join(path, name), was, is)
		}
	case keyed(before) && keyed(after):
		compareKeyed(changes, path, before, after)
	default:
		was, is := appendJSON(nil, before), appendJSON(nil, after)
		if string(was) == string(is) && before.kind == after.kind {
			return
		}
		*changes = append(*changes, FieldChange{Path: path, Old: shown(before, was), New: shown(after, is)})
	}
}

// compareKeyed compares lists whose items have keys: first which there are, in
// which order, then each.
func compareKeyed(changes *[]FieldChange, path string, before, after node) {
	keys := func(n node) node {
		list := node{kind: n.kind}
		for _, item := range n.items {
			list.items = append(list.items, textual(item.key))
		}
		return list
	}
	compare(changes, path, keys(before), keys(after))
	find := func(n node, key string) node {
		for _, item := range n.items {
			if item.key == key {
				return item
			}
		}
		return node{}
	}
	for _, item := range before.items {
		compare(changes, path+"["+item.key+"]", item, find(after, item.key))
	}
	for _, item := range after.items {
		if find(before, item.key).kind == nullNode {
			compare(changes, path+"["+item.key+"]", node{}, item)
		}
	}
}

// keyed reports whether a node is a list of objects with keys, or no list.
func keyed(n node) bool {
	for _, item := range n.items {
		if item.key == "" {
			return false
		}
	}
	return n.kind == nullNode || n.kind == listNode && len(n.items) > 0
}

// names are the members of both objects, in the order of the type.
func names(before, after node) []string {
	var all []string
	position := 0
	for _, m := range before.members {
		for ; position < len(after.members); position++ {
			if _, both := before.get(after.members[position].name); both {
				break
			}
			all = append(all, after.members[position].name)
		}
		if _, both := after.get(m.name); both {
			position++
		}
		all = append(all, m.name)
	}
	for ; position < len(after.members); position++ {
		all = append(all, after.members[position].name)
	}
	return all
}

// shown is a value for people.
func shown(n node, text []byte) string {
	const limit = 160
	switch {
	case n.kind == nullNode:
		return ""
	case n.hidden:
		return "(not shown)"
	case len(text) > limit:
		return strings.ToValidUTF8(string(text[:limit]), "") + "…"
	}
	return string(text)
}

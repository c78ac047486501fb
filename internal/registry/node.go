package registry

// nodeKind is what a node of a document is.
type nodeKind int

const (
	nullNode nodeKind = iota
	boolNode
	numberNode
	textNode
	listNode
	objectNode
)

func (k nodeKind) String() string {
	return [...]string{"nothing", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// node is a document or a part of it, in YAML and JSON alike.
type node struct {
	kind    nodeKind
	text    string // of a scalar, as it is meant
	items   []node // of a list
	members []member
	at      Source

	hidden bool   // not shown in differences
	key    string // of an object that is an item of a list
}

// member is a member of an object, in the order of the text.
type member struct {
	name  string
	at    Source
	value node
}

func (n node) get(name string) (node, bool) {
	for _, m := range n.members {
		if m.name == name {
			return m.value, true
		}
	}
	return node{}, false
}

// values is how many values a node has, itself among them.
func (n node) values() int {
	count := 1
	for _, item := range n.items {
		count += item.values()
	}
	for _, m := range n.members {
		count += m.value.values()
	}
	return count
}

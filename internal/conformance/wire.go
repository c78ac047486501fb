package conformance

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"go/ast"
	"maps"
	"regexp"
	"slices"

	"github.com/go-json-experiment/json"
)

// wire is the wire table: the proto as data.
type wire struct {
	file          string
	Specification string        `json:"specification"`
	ProtoSHA256   string        `json:"protoSha256"`
	Messages      []wireMessage `json:"messages"`
	Methods       []wireMethod  `json:"methods"`
}

type wireMessage struct {
	Name   string      `json:"name"`
	Fields []wireField `json:"fields"`
}

type wireField struct {
	Name     string `json:"name"`
	JSON     string `json:"json"`
	Type     string `json:"type"`
	MapValue string `json:"mapValue"`
	Repeated bool   `json:"repeated"`
	Required bool   `json:"required"`
	Oneof    string `json:"oneof"`
}

type wireMethod struct {
	Name            string `json:"name"`
	ServerStreaming bool   `json:"serverStreaming"`
}

func readWire(t tree, name string) (*wire, error) {
	w := wire{file: name}
	if err := json.Unmarshal(t.files[name], &w); err != nil {
		return nil, fmt.Errorf("wire table %s: %w", name, err)
	}
	return &w, nil
}

// message finds a message, or nil.
func (w *wire) message(name string) *wireMessage {
	i := slices.IndexFunc(w.Messages, func(m wireMessage) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &w.Messages[i]
}

// card is the message that an agent says about itself.
const card = "AgentCard"

// memberOf says in words whose member one of this message is.
func (w *wire) memberOf(message string) string {
	if w.within(card, message, nil) {
		return "card member"
	}
	return "member"
}

// within reports whether a message can occur in another.
func (w *wire) within(outer, message string, been []string) bool {
	m := w.message(outer)
	if m == nil || slices.Contains(been, outer) {
		return false
	}
	been = append(slices.Clip(been), outer)
	return outer == message || slices.ContainsFunc(m.Fields, func(f wireField) bool {
		return w.within(f.element(), message, been)
	})
}

// element is the type of one value of a field.
func (f wireField) element() string {
	if f.Type == "map" {
		return f.MapValue
	}
	return f.Type
}

// table compares the wire table with the claim: what it says of itself, and its
// bytes.
func (c *checker) table() {
	c.begin("wire table")
	c.same("specification revision", c.wire.file, c.claim.Specification.Revision, c.wire.Specification, nextGenerate)
	c.same("proto hash", c.wire.file, c.claim.Specification.ProtoSHA256, c.wire.ProtoSHA256, nextGenerate)
	sum := sha256.Sum256(c.tree.files[c.wire.file])
	c.same("wire table hash", c.wire.file, c.claim.Specification.TableSHA256, hex.EncodeToString(sum[:]),
		"the table is not edited; a new release of the protocol is a new table and a decision")
	for _, m := range c.wire.Methods {
		c.same("operation", c.wire.file, c.claim.operation(m.Name).Name, m.Name, "claim the operation in "+ClaimFile)
	}
}

// codec compares the members that the generated code writes and reads with the
// wire table, message by message.
func (c *checker) codec() {
	c.begin("members that the codec writes and reads")
	encode := literals(c.parse(encodeSource), "AppendJSON")
	decode := literals(c.parse(decodeSource), "decode")
	for _, m := range c.wire.Messages {
		c.members(m, encodeSource, written(encode[m.Name]), func(f wireField) []string { return []string{f.JSON} })
		c.members(m, decodeSource, decode[m.Name], func(f wireField) []string { return []string{f.JSON, f.Name} })
	}
}

// members notes what of a message is missing in its code, and what a message
// has in what is written that the table does not know.
func (c *checker) members(m wireMessage, file string, found map[string]bool, want func(wireField) []string) {
	known := make(map[string]bool)
	for _, f := range m.Fields {
		for _, name := range want(f) {
			known[name] = true
			c.counted(1)
			if !found[name] {
				c.differs(c.wire.memberOf(m.Name), file+" "+m.Name, name, "nothing", nextGenerate)
			}
		}
	}
	if file != encodeSource {
		return // what is read may include misspellings that are told
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if !known[name] {
			c.differs(c.wire.memberOf(m.Name), file+" "+m.Name, "nothing", name, nextGenerate)
		}
	}
}

// literals are the strings in the methods of this name, by their receiver's
// type.
func literals(file *ast.File, method string) map[string]map[string]bool {
	found := make(map[string]map[string]bool)
	for _, decl := range file.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv == nil || fn.Name.Name != method {
			continue
		}
		strings := make(map[string]bool)
		ast.Inspect(fn.Body, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CaseClause:
				for _, expr := range n.List {
					if text, ok := literal(expr); ok {
						strings[text] = true
					}
				}
			case *ast.CallExpr:
				if method == "decode" {
					break // what a call is told is a name for violations
				}
				for _, arg := range n.Args {
					if text, ok := literal(arg); ok {
						strings[text] = true
					}
				}
			}
			return true
		})
		found[receiver(fn)] = strings
	}
	return found
}

func receiver(fn *ast.FuncDecl) string {
	expr := fn.Recv.List[0].Type
	if star, ok := expr.(*ast.StarExpr); ok {
		expr = star.X
	}
	if name, ok := expr.(*ast.Ident); ok {
		return name.Name
	}
	return ""
}

var memberName = regexp.MustCompile(`"(\w+)":`)

// written are the member names in pieces of JSON.
func written(pieces map[string]bool) map[string]bool {
	found := make(map[string]bool)
	for piece := range pieces {
		for _, match := range memberName.FindAllStringSubmatch(piece, -1) {
			found[match[1]] = true
		}
	}
	return found
}

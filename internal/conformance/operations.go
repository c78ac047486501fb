package conformance

import (
	"go/ast"
	"maps"
	"slices"
	"strings"
)

const methodPrefix = "Method"

// operation finds a claimed operation, or returns one without a name.
func (c Claim) operation(name string) Operation {
	for _, op := range c.Operations {
		if op.Name == name {
			return op
		}
	}
	return Operation{}
}

// operations compares the claimed operations with the names in the source, the
// server's table of them and what the client calls.
func (c *checker) operations() {
	c.begin("operations, in both roles")
	names := make(map[string]string) // by constant
	for constant, name := range stringConstants(c.parse(typesSource)) {
		if strings.HasPrefix(constant, methodPrefix) {
			names[constant] = name
		}
	}
	inServer := methodsOf(c.parse(serverSource), tableKeys)
	inClient := make(map[string]bool)
	for _, name := range c.tree.under("client", ".go") {
		if !strings.HasSuffix(name, "_test.go") {
			maps.Copy(inClient, methodsOf(c.parse(name), passedOn))
		}
	}
	for _, op := range c.claim.Operations {
		constant := methodPrefix + op.Name
		c.same("operation", typesSource+" "+constant, op.Name, names[constant], nextGenerate)
		c.same("operation "+op.Name, serverSource, "an entry", entry(inServer[constant]), "serve or refuse it by name, or claim otherwise")
		c.same("operation "+op.Name, "client/", op.Client, call(inClient[constant]), "call it, or claim otherwise")
		if c.wire.method(op.Name) == nil {
			c.differs("operation", c.wire.file, op.Name, "no such method", "claim the methods of the proto only")
		}
	}
	for _, constant := range slices.Sorted(maps.Keys(inServer)) {
		if name := names[constant]; name != "" && c.claim.operation(name).Name == "" {
			c.differs("operation", serverSource, "nothing", name, "claim it in "+ClaimFile)
		}
	}
}

func entry(there bool) string {
	if there {
		return "an entry"
	}
	return ""
}

func call(there bool) string {
	if there {
		return called
	}
	return absent
}

func (w *wire) method(name string) *wireMethod {
	i := slices.IndexFunc(w.Methods, func(m wireMethod) bool { return m.Name == name })
	if i < 0 {
		return nil
	}
	return &w.Methods[i]
}

// methodsOf are the names of the constants for methods that a node of the file
// uses in the way that pick knows.
func methodsOf(file *ast.File, pick func(ast.Node) []ast.Expr) map[string]bool {
	found := make(map[string]bool)
	ast.Inspect(file, func(node ast.Node) bool {
		for _, expr := range pick(node) {
			if sel, ok := expr.(*ast.SelectorExpr); ok && strings.HasPrefix(sel.Sel.Name, methodPrefix) {
				found[sel.Sel.Name] = true
			}
		}
		return true
	})
	return found
}

// tableKeys picks the keys of a composite literal.
func tableKeys(node ast.Node) []ast.Expr {
	if pair, ok := node.(*ast.KeyValueExpr); ok {
		return []ast.Expr{pair.Key}
	}
	return nil
}

// passedOn picks what is named by a constant or given to a call, but not to one
// that only puts words together.
func passedOn(node ast.Node) []ast.Expr {
	switch node := node.(type) {
	case *ast.ValueSpec:
		return node.Values
	case *ast.CallExpr:
		if callee, ok := node.Fun.(*ast.SelectorExpr); ok && callee.Sel.Name != "Errorf" {
			return node.Args
		}
	}
	return nil
}

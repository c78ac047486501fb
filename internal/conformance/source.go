package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"

	"github.com/legation/legation/a2a"
)

const (
	versionSource = "a2a/version.go"
	typesSource   = "a2a/types_gen.go"
	encodeSource  = "a2a/encode_gen.go"
	decodeSource  = "a2a/decode_gen.go"
	serverSource  = "server/operations.go"
	program       = "this program"
	nextConstant  = "change it back, or decide on a new revision and claim that in " + ClaimFile
	nextGenerate  = "run make generate; the wire table is not edited by hand"
	nextRebuild   = "build the program from this tree, then compare again"
)

// parse reads a Go file of the tree. What cannot be parsed is a difference.
func (c *checker) parse(name string) *ast.File {
	data, ok := c.tree.files[name]
	if !ok {
		c.differs("source", name, "a file", "nothing", "compare with the file as it was, or mend the comparison")
		return &ast.File{Name: ast.NewIdent("none")}
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	if err != nil {
		c.differs("source", name, "Go that can be parsed", err.Error(), "mend the file")
		return &ast.File{Name: ast.NewIdent("none")}
	}
	return file
}

// stringConstants are the constants of a file whose value is one literal.
func stringConstants(file *ast.File) map[string]string {
	found := make(map[string]string)
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					if text, ok := literal(value.Values[i]); ok {
						found[name.Name] = text
					}
				}
			}
		}
	}
	return found
}

func literal(expr ast.Expr) (string, bool) {
	lit, ok := expr.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// constants compares what is compiled into this program, and what the tree's
// source says, which may be newer.
func (c *checker) constants() {
	c.begin("constants of package a2a, as compiled and as written")
	written := map[string]map[string]string{}
	for _, name := range []string{versionSource, typesSource} {
		written[name] = stringConstants(c.parse(name))
	}
	for _, one := range []struct {
		what, file, name, claimed, compiled string
	}{
		{"version literal", versionSource, "ProtocolVersion", c.claim.Headers.Literal, a2a.ProtocolVersion},
		{"version header", versionSource, "HeaderVersion", c.claim.Headers.Version, a2a.HeaderVersion},
		{"extensions header", versionSource, "HeaderExtensions", c.claim.Headers.Extensions, a2a.HeaderExtensions},
		{"interface binding", versionSource, "BindingJSONRPC", c.claim.Interface.Binding, a2a.BindingJSONRPC},
		{"card path", versionSource, "WellKnownCardPath", c.claim.CardPath, a2a.WellKnownCardPath},
		{"specification revision", typesSource, "SpecificationVersion", c.claim.Specification.Revision, a2a.SpecificationVersion},
		{"proto hash", typesSource, "ProtoSHA256", c.claim.Specification.ProtoSHA256, a2a.ProtoSHA256},
	} {
		next := nextConstant
		if one.file == typesSource {
			next = nextGenerate
		}
		c.same(one.what, one.file+" "+one.name, one.claimed, written[one.file][one.name], next)
		if inSource := written[one.file][one.name]; inSource != one.compiled {
			c.same(one.what, program, one.claimed, one.compiled, nextRebuild)
		}
	}
	c.same("interface version", ClaimFile, c.claim.Headers.Literal, c.claim.Interface.Version,
		"interfaces and requests carry the same literal")
}

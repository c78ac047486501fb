package conformance

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strconv"
	"strings"
)

const (
	codeSource    = "a2a/code.go"
	versionSource = "a2a/version.go"
	typesSource   = "a2a/types_gen.go"
	encodeSource  = "a2a/encode_gen.go"
	decodeSource  = "a2a/decode_gen.go"
	serverSource  = "server/operations.go"
	nextConstant  = "change it back, or decide on a new revision and claim that in " + ClaimFile
	nextGenerate  = "run make generate; the wire table is not edited by hand"
)

// parse reads a Go file of the tree. What cannot be parsed is a difference.
func (c *checker) parse(name string) *ast.File {
	data, ok := c.tree.files[name]
	if !ok {
		c.differs("source", name, "a file", "nothing", "compare with the file as it was, or mend the comparison")
		return &ast.File{Name: ast.NewIdent("none")}
	}
	if len(data) > maxParsed {
		c.differs("source", name, "Go of at most 1 MiB", "more", "split the file")
		return &ast.File{Name: ast.NewIdent("none")}
	}
	file, err := parser.ParseFile(token.NewFileSet(), name, data, parser.SkipObjectResolution)
	if err != nil {
		c.differs("source", name, "Go that can be parsed", bounded(err.Error()), "mend the file")
		return &ast.File{Name: ast.NewIdent("none")}
	}
	return file
}

// stringConstants are the constants of a file whose value is one string.
func stringConstants(file *ast.File) map[string]string {
	found := make(map[string]string)
	eachConstant(file, func(name string, value ast.Expr) {
		if text, ok := literal(value); ok {
			found[name] = text
		}
	})
	return found
}

// constantsOf are the exported constants of a file, as they are written. Those
// that are counted have no value of their own.
func constantsOf(file *ast.File) map[string]string {
	found := make(map[string]string)
	eachConstant(file, func(name string, value ast.Expr) {
		if !ast.IsExported(name) {
			return
		}
		if text, ok := literal(value); ok {
			found[name] = text
		} else if text := types.ExprString(value); !strings.Contains(text, "iota") {
			found[name] = text
		}
	})
	return found
}

// eachConstant calls do with every constant of a file that has a value.
func eachConstant(file *ast.File, do func(name string, value ast.Expr)) {
	for _, decl := range file.Decls {
		gen, ok := decl.(*ast.GenDecl)
		if !ok || gen.Tok != token.CONST {
			continue
		}
		for _, spec := range gen.Specs {
			value := spec.(*ast.ValueSpec)
			for i, name := range value.Names {
				if i < len(value.Values) {
					do(name.Name, value.Values[i])
				}
			}
		}
	}
}

func literal(expr ast.Expr) (string, bool) {
	lit, ok := expr.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	text, err := strconv.Unquote(lit.Value)
	return text, err == nil
}

// constants compares what the source says with the claim, and with what is
// compiled into this program, which may be of another age.
func (c *checker) constants() {
	all, written := c.sourceConstants()
	c.begin("constants of package a2a, as claimed")
	for _, one := range []struct{ what, file, name, claimed string }{
		{"version literal", versionSource, "ProtocolVersion", c.claim.Headers.Literal},
		{"version header", versionSource, "HeaderVersion", c.claim.Headers.Version},
		{"extensions header", versionSource, "HeaderExtensions", c.claim.Headers.Extensions},
		{"interface binding", versionSource, "BindingJSONRPC", c.claim.Interface.Binding},
		{"card path", versionSource, "WellKnownCardPath", c.claim.CardPath},
		{"specification revision", typesSource, "SpecificationVersion", c.claim.Specification.Revision},
		{"proto hash", typesSource, "ProtoSHA256", c.claim.Specification.ProtoSHA256},
	} {
		next := nextConstant
		if one.file == typesSource {
			next = nextGenerate
		}
		c.same(one.what, one.file+" "+one.name, one.claimed, written[one.file][one.name], next)
	}
	c.same("interface version", ClaimFile, c.claim.Headers.Literal, c.claim.Interface.Version,
		"interfaces and requests carry the same literal")
	c.errorCodes(written[codeSource])
	c.built(all)
}

func sorted(values map[string]string) []string { return slices.Sorted(maps.Keys(values)) }

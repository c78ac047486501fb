package admin

import (
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/people"
)

var update = flag.Bool("update", false, "rewrite openapi.json")

func TestDescriptionIsThatOfTheRoutes(t *testing.T) {
	text, err := json.Marshal(describe(t), json.Deterministic(true), jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	text = append(text, '\n')
	if *update {
		if err := os.WriteFile("openapi.json", text, 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(text), string(OpenAPI())); diff != "" {
		t.Errorf("openapi.json is stale, write it with: go test ./internal/admin -update\n%s", diff)
	}
}

// What is described is what is served, and nothing else.
func TestEveryRouteIsDescribed(t *testing.T) {
	var described struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
			Summary     string `json:"summary"`
		} `json:"paths"`
	}
	if err := json.Unmarshal(OpenAPI(), &described); err != nil {
		t.Fatal(err)
	}
	want, got := map[string]bool{}, map[string]bool{}
	for _, r := range routes() {
		want[r.method+" "+r.path] = true
	}
	ids := map[string]bool{}
	for path, methods := range described.Paths {
		for method, one := range methods {
			got[strings.ToUpper(method)+" "+path] = true
			if ids[one.OperationID] || one.OperationID == "" || one.Summary == "" {
				t.Errorf("%s %s has no summary, or no operationId of its own: %+v", method, path, one)
			}
			ids[one.OperationID] = true
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("routes (-served +described):\n%s", diff)
	}
}

type object = map[string]any

// describe makes the description of the table of routes (OpenAPI 3.1).
func describe(t *testing.T) object {
	d := describer{t: t, schemas: object{}, source: readSource(t)}
	paths := object{}
	for _, r := range routes() {
		at, ok := paths[r.path].(object)
		if !ok {
			at = object{}
			paths[r.path] = at
		}
		at[strings.ToLower(r.method)] = d.operation(r)
	}
	refusal := object{"description": "What was not done, and why.", "content": object{TypeJSON: object{"schema": d.schema(reflect.TypeFor[Refusal]())}}}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Legation administration", "version": "1",
			"description": "Members that are not known are to be ignored in answers. They are refused in requests.",
		},
		"security": []any{object{"token": []any{}}},
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
			"responses":       object{"refusal": refusal},
			"schemas":         d.schemas,
		},
	}
}

type describer struct {
	t       *testing.T
	schemas object
	source  source
}

var pathParameters = map[string]object{
	"kind": {"description": "The kind of the document.", "schema": object{"type": "string", "enum": kinds()}},
	"name": {"description": "The name.", "schema": object{"type": "string"}},
	"id":   {"description": "The id.", "schema": object{"type": "string"}},
}

var inBraces = regexp.MustCompile(`\{(\w+)\}`)

func (d describer) operation(r route) object {
	parameters := []any{}
	for _, found := range inBraces.FindAllStringSubmatch(r.path, -1) {
		one := maps.Clone(pathParameters[found[1]])
		if one == nil {
			d.t.Fatalf("parameter %s of %s is not described", found[1], r.path)
		}
		one["name"], one["in"], one["required"] = found[1], "path", true
		parameters = append(parameters, one)
	}
	for _, p := range r.query {
		parameters = append(parameters, object{"name": p.name, "in": "query", "description": p.words, "schema": querySchema(p)})
	}
	var roles []string
	for _, role := range people.Roles() {
		if role.May(r.needs) {
			roles = append(roles, string(role))
		}
	}
	operation := object{
		"operationId": camel(r.operation), "summary": r.summary,
		"description": "For the roles " + strings.Join(roles, ", ") + ".",
		"responses":   object{"default": object{"$ref": "#/components/responses/refusal"}},
	}
	if len(parameters) > 0 {
		operation["parameters"] = parameters
	}
	if len(r.body.types) > 0 {
		operation["requestBody"] = d.body(r.body)
	}
	responses, _ := operation["responses"].(object)
	switch answer := r.answer.(type) {
	case nil:
		responses["204"] = object{"description": "Done."}
	case raw:
		content := object{answer.media: object{}}
		if answer.media == TypeLines {
			d.schema(reflect.TypeFor[Evidence]()) // of each line
		}
		responses["200"] = object{"description": "The text.", "content": content}
	default:
		responses["200"] = object{"description": "Done.", "content": object{TypeJSON: object{"schema": d.schema(reflect.TypeOf(answer))}}}
	}
	return operation
}

func (d describer) body(b body) object {
	content := object{}
	for _, media := range b.types {
		switch {
		case media == TypeFiles:
			content[media] = object{"schema": d.schema(reflect.TypeFor[Files]())}
		case b.form != nil:
			content[media] = object{"schema": d.schema(reflect.TypeOf(b.form))}
		default:
			content[media] = object{}
		}
	}
	return object{"required": !b.optional, "content": content}
}

func querySchema(p parameter) object {
	switch p.kind {
	case numberParameter:
		return object{"type": "integer", "minimum": 0, "maximum": p.most}
	case flagParameter:
		return object{"type": "boolean"}
	case timeParameter:
		return object{"type": "string", "format": "date-time"}
	}
	if len(p.choices) > 0 {
		return object{"type": "string", "enum": p.choices}
	}
	return object{"type": "string"}
}

// schema is the schema of a form; structs are referred to.
func (d describer) schema(t reflect.Type) object {
	switch {
	case t == reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case t == reflect.TypeFor[JSON]():
		return object{"type": "object"}
	case t == reflect.TypeFor[[]byte]():
		return object{"type": "string", "contentEncoding": "base64"}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return d.schema(t.Elem())
	case reflect.Slice:
		return object{"type": "array", "items": d.schema(t.Elem())}
	case reflect.String:
		if values := d.source.values[t.Name()]; values != nil {
			return object{"type": "string", "enum": values}
		}
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Struct:
		if d.schemas[t.Name()] == nil {
			d.schemas[t.Name()] = object{} // while it is being written
			d.schemas[t.Name()] = d.object(t)
		}
		return object{"$ref": "#/components/schemas/" + t.Name()}
	}
	d.t.Fatalf("no schema for %v", t)
	return nil
}

func (d describer) object(t reflect.Type) object {
	properties, required := object{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		of := d.schema(f.Type)
		if comment := d.source.comments[t.Name()+"."+f.Name]; comment != "" {
			of["description"] = comment
		}
		properties[name] = of
		if options != "omitzero" {
			required = append(required, name)
		}
	}
	whole := object{"type": "object", "properties": properties, "description": d.source.comments[t.Name()]}
	if whole["description"] == "" {
		d.t.Errorf("%s has no comment", t.Name())
	}
	if len(required) > 0 {
		whole["required"] = required
	}
	return whole
}

// source is what the forms say of themselves: the comments of types and fields,
// and the constants of types.
type source struct {
	comments map[string]string
	values   map[string][]string
}

func readSource(t *testing.T) source {
	s := source{comments: map[string]string{}, values: map[string][]string{}}
	names, err := filepath.Glob("forms*.go")
	if err != nil || len(names) == 0 {
		t.Fatalf("no forms: %v", err)
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			if group, ok := decl.(*ast.GenDecl); ok {
				s.group(group)
			}
		}
	}
	return s
}

func (s source) group(group *ast.GenDecl) {
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.comments[spec.Name.Name] = sentence(group.Doc, spec.Name.Name)
			if of, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range of.Fields.List {
					for _, name := range f.Names {
						s.comments[spec.Name.Name+"."+name.Name] = sentence(f.Doc, name.Name)
					}
				}
			}
		case *ast.ValueSpec:
			of, named := spec.Type.(*ast.Ident)
			if !named {
				continue
			}
			for _, value := range spec.Values {
				if text, ok := value.(*ast.BasicLit); ok {
					if word, err := strconv.Unquote(text.Value); err == nil {
						s.values[of.Name] = append(s.values[of.Name], word)
					}
				}
			}
		}
	}
}

var link = regexp.MustCompile(`\[[*]?(\w+)\]`)

// sentence is a comment in one line, without the name that it begins with.
func sentence(doc *ast.CommentGroup, name string) string {
	if doc == nil {
		return ""
	}
	text := link.ReplaceAllString(strings.Join(strings.Fields(doc.Text()), " "), "$1")
	for _, verb := range []string{" is ", " are "} {
		if rest, found := strings.CutPrefix(text, name+verb); found {
			return strings.ToUpper(rest[:1]) + rest[1:]
		}
	}
	return text
}

func camel(words string) string {
	parts := strings.Fields(words)
	for i := range parts[1:] {
		parts[i+1] = strings.ToUpper(parts[i+1][:1]) + parts[i+1][1:]
	}
	return strings.Join(slices.Clone(parts), "")
}

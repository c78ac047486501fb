package registry

import (
	"bytes"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "rewrite schemas and expected texts")

func TestSchemasAreThoseOfTheTypes(t *testing.T) {
	comments := readComments(t)
	for _, kind := range Kinds() {
		want := generate(t, kind, comments)
		name := filepath.Join("schema", strings.ToLower(string(kind))+".json")
		if *update {
			if err := os.WriteFile(name, want, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if diff := cmp.Diff(string(want), string(Schema(kind))); diff != "" {
			t.Errorf("%s is stale, write it with: go test ./internal/registry -update\n%s", name, diff)
		}
	}
	if Schema("Nothing") != nil {
		t.Error("there is a schema of a kind that does not exist")
	}
}

// generate makes the schema of a kind. Descriptions are the comments of the
// types.
func generate(t *testing.T, kind Kind, comments map[string]string) []byte {
	t.Helper()
	specType := reflect.TypeOf(NewSpec(kind)).Elem()
	spec, err := jsonschema.ForType(specType, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := generator{t: t, comments: comments}
	g.complete(spec, specType, field{})
	spec.Description = comments[specType.Name()]
	root := &jsonschema.Schema{
		Schema: "https://json-schema.org/draft/2020-12/schema",
		Title:  string(kind),
		Type:   "object",
		Properties: map[string]*jsonschema.Schema{
			"kind": {Enum: []any{string(kind)}},
			"name": {Type: "string", Pattern: Name("").pattern(), Description: "The name, unique among documents of the kind."},
			"spec": spec,
		},
		PropertyOrder:        []string{"kind", "name", "spec"},
		Required:             []string{"kind", "name"},
		AdditionalProperties: &jsonschema.Schema{Not: &jsonschema.Schema{}},
	}
	if len(spec.Required) > 0 {
		root.Required = append(root.Required, "spec")
	}
	if _, err := root.Resolve(&jsonschema.ResolveOptions{ValidateDefaults: true}); err != nil {
		t.Fatalf("schema of %s: %v", kind, err)
	}
	data, err := json.Marshal(root, jsontext.WithIndent("  "))
	if err != nil {
		t.Fatal(err)
	}
	return append(data, '\n')
}

type generator struct {
	t        *testing.T
	comments map[string]string
}

// complete adds what tags and types say to a schema that was made from a type.
func (g generator) complete(s *jsonschema.Schema, t reflect.Type, f field) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	s.Types = nil
	kind, _ := expected(t)
	s.Type = map[nodeKind]string{boolNode: "boolean", numberNode: "number", textNode: "string", listNode: "array", objectNode: "object"}[kind]
	switch kind {
	case objectNode:
		for _, f := range fields(t) {
			of := s.Properties[f.name]
			g.complete(of, t.Field(f.index).Type, f)
			of.Description = g.comments[t.Name()+"."+t.Field(f.index).Name]
			if of.Description == "" {
				g.t.Errorf("%s.%s has no comment", t.Name(), t.Field(f.index).Name)
			}
			if f.fallback != "" {
				of.Default = []byte(f.fallback)
				if of.Type == "string" {
					of.Default = []byte(strconv.Quote(f.fallback))
				}
			}
		}
	case listNode:
		g.complete(s.Items, t.Elem(), field{})
		s.MaxItems = new(orElse(f.max, maxItems))
		if !f.empty {
			s.MinItems = new(1)
		}
	case numberNode:
		g.number(s, t, f)
	case textNode:
		g.text(s, t, f)
	}
}

func (g generator) number(s *jsonschema.Schema, t reflect.Type, f field) {
	if t != reflect.TypeFor[Cost]() && t.Kind() != reflect.Float64 {
		s.Type = "integer"
	}
	least, err1 := strconv.ParseFloat(f.least, 64)
	most, err2 := strconv.ParseFloat(f.most, 64)
	if err1 != nil || err2 != nil {
		g.t.Errorf("%s: a number needs a range", f.name)
	}
	s.Minimum, s.Maximum = &least, &most
}

func (g generator) text(s *jsonschema.Schema, t reflect.Type, f field) {
	zero := reflect.Zero(t).Interface()
	if c, ok := zero.(choice); ok {
		for _, value := range c.values() {
			s.Enum = append(s.Enum, value)
		}
		return
	}
	switch p, ok := zero.(interface{ pattern() string }); {
	case ok:
		s.Pattern = p.pattern()
		s.MaxLength = new(orElse(f.max, maxText))
	case t == timeType:
		s.Format = "date-time"
	default:
		s.MinLength, s.MaxLength = new(1), new(orElse(f.max, maxText))
	}
	if s.Pattern == durationPattern {
		s.MinLength = new(2)
	}
}

var docLink = regexp.MustCompile(`\[\*?([A-Za-z.]+)\]`)

// readComments returns the comments of types and fields, with fields under the
// names that they have in documents.
func readComments(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	comments := make(map[string]string)
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			decl, ok := n.(*ast.GenDecl)
			if !ok || decl.Tok != token.TYPE || len(decl.Specs) != 1 {
				return true
			}
			spec := decl.Specs[0].(*ast.TypeSpec)
			comments[spec.Name.Name] = oneLine(decl.Doc.Text())
			if body, ok := spec.Type.(*ast.StructType); ok {
				for _, f := range body.Fields.List {
					for _, ident := range f.Names {
						text := oneLine(f.Doc.Text())
						if f.Tag != nil {
							tag := reflect.StructTag(strings.Trim(f.Tag.Value, "`")).Get("json")
							inText, _, _ := strings.Cut(tag, ",")
							text = strings.Replace(text, ident.Name, inText, 1)
						}
						comments[spec.Name.Name+"."+ident.Name] = text
					}
				}
			}
			return true
		})
	}
	return comments
}

func oneLine(text string) string {
	return docLink.ReplaceAllString(strings.Join(strings.Fields(text), " "), "$1")
}

// validate holds every document of a YAML text against its schema.
func validate(t *testing.T, text []byte) error {
	t.Helper()
	parts, _ := split(text)
	for _, part := range parts {
		data, err := yaml.YAMLToJSON([]byte(part.text))
		if err != nil {
			return err
		}
		var value map[string]any
		if err := json.Unmarshal(data, &value); err != nil {
			return err
		}
		kind, _ := value["kind"].(string)
		if !slices.Contains(Kinds(), Kind(kind)) {
			return os.ErrNotExist
		}
		var schema jsonschema.Schema
		if err := json.Unmarshal(Schema(Kind(kind)), &schema); err != nil {
			t.Fatal(err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := resolved.Validate(value); err != nil {
			return err
		}
	}
	return nil
}

func TestWhatIsTakenIsValidBySchema(t *testing.T) {
	files, err := filepath.Glob("testdata/valid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		docs, err := Decode(name, data)
		if err != nil {
			t.Errorf("%s:\n%v", name, err)
			continue
		}
		if err := validate(t, data); err != nil {
			t.Errorf("%s is taken, but its schema says: %v", name, err)
		}
		if written := EncodeYAML(docs...); bytes.Contains(written, []byte("\t")) || validate(t, written) != nil {
			t.Errorf("%s is written back as what its schema does not take:\n%s", name, written)
		}
	}
}

// What a schema can say, it says as reading does.
func TestWhatIsRefusedIsNotValidBySchema(t *testing.T) {
	const (
		provider = "kind: Provider\nname: p\nspec: "
		config   = "kind: Configuration\nname: c\nspec: {provider: p, "
		client   = "kind: RemoteClient\nname: c\nspec: "
		agent    = "kind: RemoteAgent\nname: a\nspec: {url: 'https://a.example', "
	)
	for _, text := range []string{
		"kind: Nothing\nname: a", "kind: Secret", "kind: Secret\nname: A", "kind: Secret\nname: 1", "kind: Secret\nname: a\nextra: 1",
		"kind: Secret\nname: a\nspec: {value: x}", "kind: Secret\nname: a\nspec: {description: ''}", "kind: Secret\nname: a\nspec: null",
		"kind: Provider\nname: p", provider + "{}", provider + "{type: other}", provider + "{type: echo, zone: top}", provider + "{type: echo, secret: A}",
		provider + "{type: echo, exceptions: []}", provider + "{type: echo, exceptions: ['*']}", provider + "{type: openai, baseURL: ftp://a}",
		config + "limits: {rounds: 0}}", config + "limits: {rounds: 21}}", config + "limits: {rounds: 1.5}}", config + "limits: {rounds: '5'}}",
		config + "limits: {workingTime: 10}}", config + "limits: {workingTime: 10x}}", config + "limits: {workingTime: ''}}", config + "limits: {cost: '1'}}", config + "limits: {cost: 0}}",
		config + "parameters: {temperature: 3}}", config + "parameters: {stop: ''}}", config + "tools: {remoteAgents: [a]}}", config + "model: null}",
		client + "{limits: {body: 4MB}}", client + "{operations: [Send]}", client + "{credentials: {apiKeys: [{id: a-b, sha256: x}]}}", client + "{skills: []}", client + "{enabled: 'yes'}",
		agent + "pin: {keys: [{kid: k}]}}", agent + "pin: {keys: [{kid: k, kty: EC, d: x}]}}", agent + "credential: {bearer: {}}}", agent + "extensions: {offered: [x]}}",
	} {
		if _, err := Decode("x", []byte(text)); err == nil {
			t.Errorf("taken:\n%s", text)
		}
		if err := validate(t, []byte(text)); err == nil {
			t.Errorf("valid by schema:\n%s", text)
		}
	}
}

// Every default is one that a document could say.
func TestDefaultsCanBeSaid(t *testing.T) {
	var walk func(reflect.Type)
	walk = func(of reflect.Type) {
		for _, f := range fields(of) {
			inner := of.Field(f.index).Type
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice {
				inner = inner.Elem()
			}
			if inner.Kind() == reflect.Struct && inner != timeType {
				walk(inner)
				continue
			}
			v := reflect.New(inner).Elem()
			for _, said := range []string{f.fallback, f.least, f.most} {
				if said == "" {
					continue
				}
				if err := set(v, said); err != nil {
					t.Errorf("%s.%s: %q: %v", of.Name(), f.name, said, err)
				} else if words, _ := f.wrong(v); words != "" {
					t.Errorf("%s.%s: %q %s", of.Name(), f.name, said, words)
				}
			}
			if v.CanInt() && f.least == "" {
				t.Errorf("%s.%s has no range", of.Name(), f.name)
			}
		}
	}
	for _, kind := range Kinds() {
		walk(reflect.TypeOf(NewSpec(kind)).Elem())
	}
}

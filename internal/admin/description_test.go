package admin_test

import (
	"regexp"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/legation/legation/internal/admin"
)

// api is the part of the description that answers are held against.
type api struct {
	Paths      map[string]map[string]operation `json:"paths"`
	Components struct {
		Schemas map[string]*jsonschema.Schema `json:"schemas"`
	} `json:"components"`
}

// defs is where schemas are looked for.
const defs = "#/$defs/"

var description = readDescription()

func readDescription() (d api) {
	text := strings.ReplaceAll(string(admin.OpenAPI()), "#/components/schemas/", defs)
	if err := json.Unmarshal([]byte(text), &d); err != nil {
		panic(err)
	}
	for _, schema := range d.Components.Schemas {
		if schema.Type == "object" && schema.Properties != nil { // nothing that is not described
			schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	return d
}

type operation struct {
	Responses map[string]struct {
		Content map[string]struct {
			Schema struct {
				Ref string `json:"$ref"`
			} `json:"schema"`
		} `json:"content"`
	} `json:"responses"`
}

var inBraces = regexp.MustCompile(`\{\w+\}`)

// find is the operation that serves a path.
func (d api) find(method, path string) (operation, bool) {
	for template, methods := range d.Paths {
		pattern := strings.NewReplacer(`\{`, `{`, `\}`, `}`).Replace("^" + regexp.QuoteMeta(template) + "$")
		pattern = inBraces.ReplaceAllString(pattern, "[^/]+")
		if regexp.MustCompile(pattern).MatchString(path) {
			one, found := methods[strings.ToLower(method)]
			return one, found
		}
	}
	return operation{}, false
}

// schema is a schema with all others that it may refer to.
func (d api) schema(name string) *jsonschema.Schema {
	return &jsonschema.Schema{Ref: defs + name, Defs: d.Components.Schemas}
}

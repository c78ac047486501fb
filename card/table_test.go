package card

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/google/go-cmp/cmp"
)

// The table says of presence what the wire table says, of every message that a
// card is made of.
func TestTableFollowsTheWire(t *testing.T) {
	data, err := os.ReadFile("../specification/wire-v1.0.1.json")
	if err != nil {
		t.Fatal(err)
	}
	var wire struct {
		Messages []struct {
			Name   string
			Fields []struct {
				Name, JSON, Type, Presence, MapValue string
				Required                             bool
			}
		}
	}
	if err := json.Unmarshal(data, &wire, json.MatchCaseInsensitiveNames(true)); err != nil {
		t.Fatal(err)
	}
	fields := map[string][]field{}
	for _, m := range wire.Messages {
		for _, f := range m.Fields {
			one := field{name: f.JSON}
			switch {
			case f.Required:
				one.presence = always
			case slices.Contains([]string{"optional", "message", "oneof"}, f.Presence):
				one.presence = ifPresent
			}
			kinds := map[string]kind{"string": text, "bool": boolean, "google.protobuf.Struct": opaque}
			scalar, isScalar := kinds[f.Type]
			switch {
			case f.Presence == "list":
				one.kind = list
			case f.Presence == "map":
				one.kind = dict
			case isScalar:
				one.kind = scalar
			default:
				one.kind = object
			}
			if f.Type == "map" {
				f.Type = f.MapValue
			}
			if _, isScalar := kinds[f.Type]; !isScalar {
				one.message = f.Type
			}
			if strings.ToLower(f.Name) != f.Name || !isSnake(f.Name, f.JSON) {
				t.Errorf("%s is not taken as %s.%s", f.Name, m.Name, f.JSON)
			}
			fields[m.Name] = append(fields[m.Name], one)
		}
	}
	want := map[string][]field{}
	var collect func(string)
	collect = func(name string) {
		if _, done := want[name]; done {
			return
		}
		want[name] = fields[name]
		for _, f := range fields[name] {
			if f.message != "" {
				collect(f.message)
			}
		}
	}
	collect("AgentCard")
	if diff := cmp.Diff(want, messages, cmp.AllowUnexported(field{})); diff != "" {
		t.Errorf("the table (-wire +table):\n%s", diff)
	}
	if isSnake("icon_ur", "iconUrl") || isSnake("icon_url_", "iconUrl") || isSnake("iconurl", "iconUrl") || isSnake("", "iconUrl") {
		t.Error("another name is taken as iconUrl")
	}
}

package registry_test

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/legation/legation/internal/registry"
)

func TestExport(t *testing.T) {
	got := string(registry.EncodeYAML(whole(t)...))
	const name = "testdata/whole.export.yaml"
	if updating() {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Error(diff)
	}
}

// texts are hard on YAML, or on JSON, or on both.
var texts = []string{
	"x", "yes", "null", "~", "1", "1.0", "0x1F", ".inf", "true", "2027-01-01", "a: b", "a:", ": a", "- a", "-", "#", "a #b", "a#b", " a", "a ",
	"a\nb", "a\nb\n", "\na", "a\n\n", "a\n\nb", " a\nb", "a\n  b\n", "a \nb", "\ta\nb", "a\n\tb", "a\tb", "---", "---\na", "a\n---\nb", "...\n", "a\n...\nb",
	"'", "\"", "\\", "\\n", "%", "@", "`", "&a", "*a", "!a", "|", ">", "[", "]", "{", "}", ",", "?", "? a", "<<", "=",
	"é", "日本", "🙂", "\u2028", "\u0085", "\uFEFF", "\uFEFFa\nb", "a\u2028b\nc", "\u00a0", "a b (c); d.", "http://a/b?c=d#e", "a,b", "key: |\n  x", strings.Repeat("long ", 100), "a" + strings.Repeat("\n", 200) + "b",
}

func TestTextsSurvive(t *testing.T) {
	for _, text := range texts {
		doc := registry.Document{Kind: registry.KindConfiguration, Name: "c", Spec: &registry.Configuration{
			Provider: "p", SystemPrompt: text, Parameters: registry.Parameters{Stop: []string{text, "end"}},
		}}
		if doc.Check() != nil {
			continue // not a text of a document
		}
		roundTrip(t, doc)
	}
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func roundTrip(t failer, docs ...registry.Document) {
	t.Helper()
	written := map[string][]byte{"YAML": registry.EncodeYAML(docs...)}
	for i, doc := range docs {
		written[fmt.Sprintf("JSON %d", i)] = registry.EncodeJSON(doc)
	}
	for form, text := range written {
		read, err := registry.Decode(form, text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		want := registry.EncodeYAML(docs...)
		if form != "YAML" {
			var i int
			fmt.Sscanf(form, "JSON %d", &i)
			want = registry.EncodeYAML(docs[i])
			if !read[0].Equal(docs[i]) {
				t.Fatalf("%s differs: %s\n%s", form, cmp.Diff(docs[i].Spec, read[0].Spec), text)
			}
		}
		if again := registry.EncodeYAML(read...); string(again) != string(want) {
			t.Fatalf("%s differs: %s", form, cmp.Diff(string(want), string(again)))
		}
	}
}

// What is written decodes to the same, whatever the fields hold.
func TestWhatIsWrittenDecodesToTheSame(t *testing.T) {
	corpus := whole(t)
	rapid.Check(t, func(t *rapid.T) {
		doc := rapid.SampledFrom(corpus).Draw(t, "document")
		spec := reflect.New(reflect.TypeOf(doc.Spec).Elem())
		spec.Elem().Set(reflect.ValueOf(doc.Spec).Elem())
		change(t, spec.Elem(), "spec")
		doc.Spec = spec.Interface().(registry.Spec)
		if doc.Check() != nil {
			t.Skip("not a document")
		}
		roundTrip(t, doc)
	})
}

// change draws new values for some fields.
func change(t *rapid.T, v reflect.Value, path string) {
	for i := range v.NumField() {
		field, name := v.Field(i), path+"."+v.Type().Field(i).Name
		if !rapid.Bool().Draw(t, "change "+name) {
			continue
		}
		switch {
		case rapid.IntRange(0, 4).Draw(t, "clear "+name) == 0:
			field.SetZero()
		case field.Type() == reflect.TypeFor[string]():
			field.SetString(drawText(t, name))
		case field.Type() == reflect.TypeFor[[]string]():
			field.Set(reflect.ValueOf(rapid.SliceOfNDistinct(rapid.SampledFrom(texts), 1, 3, rapid.ID[string]).Draw(t, name)))
		case field.Type() == reflect.TypeFor[registry.Duration]():
			field.SetInt(int64(time.Duration(rapid.IntRange(60, 86400).Draw(t, name)) * time.Second))
		case field.Type() == reflect.TypeFor[time.Time]():
			field.Set(reflect.ValueOf(time.Unix(rapid.Int64Range(0, 1<<35).Draw(t, name), rapid.Int64Range(0, 1e9-1).Draw(t, "ns")).UTC()))
		case field.Kind() == reflect.Int64:
			field.SetInt(rapid.Int64Range(1, 1<<40).Draw(t, name))
		case field.Kind() == reflect.Bool:
			field.SetBool(rapid.Bool().Draw(t, name))
		case field.Kind() == reflect.Struct:
			change(t, field, name)
		case field.Type() == reflect.TypeFor[*float64]():
			field.Set(reflect.ValueOf(new(rapid.Float64Range(0, 1).Draw(t, name))))
		}
	}
}

func drawText(t *rapid.T, name string) string {
	pieces := rapid.SliceOfN(rapid.SampledFrom(texts), 1, 3).Draw(t, name)
	return strings.Join(pieces, rapid.SampledFrom([]string{"", "\n", " ", "\n  "}).Draw(t, "between"))
}

func FuzzDecode(f *testing.F) {
	for _, pattern := range []string{"testdata/valid/*.yaml", "testdata/problems/*.txt", "testdata/together/*.txt"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			f.Fatal(pattern, err)
		}
		for _, name := range names {
			data, err := os.ReadFile(name)
			if err != nil {
				f.Fatal(err)
			}
			_, text, found := strings.Cut(string(data), " --\n")
			if text, _, _ = strings.Cut(text, "-- problems --"); !found {
				text = string(data)
			}
			for _, one := range strings.Split(text, "\n---\n") {
				f.Add([]byte(one))
			}
		}
	}
	for _, text := range texts {
		f.Add([]byte("kind: Secret\nname: a\nspec: {description: " + text + "}"))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		docs, err := registry.Decode("x", data)
		if err != nil {
			if docs != nil || len(err.Error()) > 1<<20 {
				t.Fatalf("%d documents and %d bytes of problems", len(docs), len(err.Error()))
			}
			return
		}
		for _, doc := range docs {
			roundTrip(t, doc)
		}
	})
}

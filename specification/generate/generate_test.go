package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	tablePath = filepath.Join("..", tableName)
	outputDir = filepath.Join("..", "..", "a2a")
)

// REQ-PJ-26: the types are derived from the proto and never edited.
func TestGeneratedFilesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := run(tablePath, dir); err != nil {
		t.Fatal(err)
	}
	written, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(written) != 3 {
		t.Fatalf("generated %d files, error %v; want 3", len(written), err)
	}
	for _, path := range written {
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join(outputDir, filepath.Base(path)))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("a2a/%s is stale: run go generate ./a2a", filepath.Base(path))
		}
	}
}

// Every comment and exception of the generator speaks of something the table
// has, so that neither outlives a change of the table.
func TestTablesNameWhatExists(t *testing.T) {
	table, err := readTable(tablePath)
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	for _, e := range table.Enums {
		exists[e.Name] = true
		for _, v := range e.Values {
			exists[v.Name] = true
		}
	}
	for _, m := range table.Messages {
		exists[m.Name] = true
		for _, f := range m.Fields {
			exists[m.Name+"."+f.Name] = true
			exists[f.Name] = true
			if f.Oneof != "" {
				exists[m.Name+"."+f.Oneof] = true
			}
		}
		if docs[m.Name] == "" {
			t.Errorf("%s has no comment", m.Name)
		}
	}
	for _, names := range []map[string]bool{keys(docs), keys(idTypes), keys(oneofTypes), mayBeEmpty, keys(misnamed), keys(wholeMap)} {
		for name := range names {
			if !exists[name] {
				t.Errorf("%s is not in the table", name)
			}
		}
	}
}

func keys[V any](m map[string]V) map[string]bool {
	set := map[string]bool{}
	for key := range m {
		set[key] = true
	}
	return set
}

func TestTablesThatCannotBeGeneratedAreRefused(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"unknown member":   {`{"editions":true}`, "editions"},
		"unknown type":     {oneField(`"type":"int64","presence":"implicit"`), "int64"},
		"unknown presence": {oneField(`"type":"string","presence":"group"`), "group"},
		"list of integers": {oneField(`"type":"int32","presence":"list","repeated":true`), "list of int32"},
		"map to integers":  {oneField(`"type":"map","mapValue":"int32","presence":"map"`), "map to int32"},
		"sparse enum": {`{"enums":[{"name":"E","values":[{"name":"E_A","number":0},{"name":"E_B","number":7}]}]}`,
			"not dense"},
		"oneof and REQUIRED": {`{"messages":[{"name":"M","fields":[
			{"name":"a","json":"a","type":"string","presence":"oneof","oneof":"o"},
			{"name":"b","json":"b","type":"string","presence":"implicit","required":true}]}]}`, "oneof"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), tableName)
			if err := os.WriteFile(path, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			err := run(path, t.TempDir())
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("run() error = %v, want one about %q", err, tt.want)
			}
		})
	}
}

func oneField(rest string) string {
	return `{"messages":[{"name":"M","fields":[{"name":"a","json":"a",` + rest + `}]}]}`
}

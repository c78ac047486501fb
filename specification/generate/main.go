// Command generate writes the generated half of package a2a (its types, their
// encoder and their decoder) from the wire table beside it.
//
// It is run by go generate in the a2a directory and has no options: the same
// table always yields the same bytes, which a test holds.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

const tableName = "wire-v1.0.1.json"

func main() {
	if err := run(filepath.Join("..", "specification", tableName), "."); err != nil {
		fmt.Fprintln(os.Stderr, "generate: error:", err)
		os.Exit(1)
	}
}

// run reads the table at path and writes every generated file into dir.
func run(path, dir string) error {
	table, err := readTable(path)
	if err != nil {
		return err
	}
	files, err := generate(table)
	if err != nil {
		return err
	}
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the content of every generated file by its name.
func generate(t *table) (map[string][]byte, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for name, write := range map[string]func(*table, *source){
		"types_gen.go":  writeTypes,
		"encode_gen.go": writeEncode,
		"decode_gen.go": writeDecode,
	} {
		var s source
		write(t, &s)
		content, err := s.format()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		files[name] = content
	}
	return files, nil
}

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/legation/legation/internal/admin"
)

const (
	maxSources    = 1000 // files of one change
	standardInput = "-"
)

// readSources reads the files that were named: standard input as "-", and of a
// directory those that hold YAML or JSON.
func readSources(ctx context.Context, io streams, names []string) (admin.Files, error) {
	var paths []string
	inputs := 0
	for _, name := range names {
		if name == standardInput {
			inputs++
		}
		found, err := filesAt(name)
		if err != nil {
			return admin.Files{}, usageError{fmt.Errorf("-f: %w", err)}
		}
		paths = append(paths, found...)
	}
	switch {
	case inputs > 1:
		return admin.Files{}, usageError{errors.New("-f: standard input can be read only once")}
	case len(paths) > maxSources:
		return admin.Files{}, usageError{fmt.Errorf("-f: there are %d files, and at most %d are applied together", len(paths), maxSources)}
	}
	var from admin.Files
	total := 0
	for _, path := range paths {
		text, err := readSource(ctx, io, path)
		if err != nil {
			return admin.Files{}, err
		}
		if total += len(text); total > admin.MaxDocuments {
			return admin.Files{}, usageError{fmt.Errorf("-f: the files have more than %s together; apply them in parts", size(admin.MaxDocuments))}
		}
		if path == standardInput {
			path = "standard input"
		}
		from.Files = append(from.Files, admin.File{Name: path, Text: string(text)})
	}
	return from, nil
}

func filesAt(name string) ([]string, error) {
	if name == standardInput {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	if err != nil || !info.IsDir() {
		return []string{name}, err
	}
	entries, err := os.ReadDir(name) // in order of name
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		switch strings.ToLower(filepath.Ext(entry.Name())) {
		case ".yaml", ".yml", ".json":
			if !entry.IsDir() {
				files = append(files, filepath.Join(name, entry.Name()))
			}
		}
	}
	if files == nil {
		return nil, fmt.Errorf("there is no .yaml, .yml or .json file in %s", name)
	}
	return files, nil
}

func readSource(ctx context.Context, io streams, path string) (text []byte, err error) {
	if path == standardInput {
		if text, err = readInput(ctx, io.in, admin.MaxDocuments); err != nil {
			return nil, fmt.Errorf("read standard input: %w", err)
		}
	} else if text, err = readFile(path, admin.MaxDocuments); err != nil {
		return nil, usageError{fmt.Errorf("-f: %w", err)}
	}
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%s is not UTF-8 text; save it as UTF-8", path)
	}
	return text, nil
}

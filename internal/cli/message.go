package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/server"
)

const (
	maxText  = 4 << 20  // standard input
	maxFile  = 32 << 20 // one file
	maxFiles = 16
)

// draft is a message as the command line describes it.
type draft struct {
	words      []string
	files      []string
	data       []string
	skill      string
	task       string
	context    string
	id         string
	repeatable bool // everything is on the command line, nothing was read from standard input
}

// message reads what the command line names and makes a message of it.
func (d *draft) message(ctx context.Context, stdin io.Reader) (*a2a.Message, error) {
	if len(d.files) > maxFiles || len(d.data) > maxFiles {
		return nil, usageError{fmt.Errorf("at most %d --file and %d --data go into one message", maxFiles, maxFiles)}
	}
	var parts []a2a.Part
	text, given, err := d.text(ctx, stdin)
	if err != nil {
		return nil, err
	}
	if given {
		parts = append(parts, a2a.TextPart(text))
	}
	for _, path := range d.files {
		part, err := filePart(path)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	for _, text := range d.data {
		part, err := dataPart(text)
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	m := a2a.NewMessage(a2a.RoleUser, parts...)
	m.TaskID, m.ContextID = a2a.TaskID(d.task), a2a.ContextID(d.context)
	if d.id != "" {
		m.MessageID = a2a.MessageID(d.id)
	}
	if d.skill != "" {
		m.Metadata, err = a2a.NewStruct(map[string]any{server.SkillExtension: map[string]string{"skillId": d.skill}})
	}
	return m, err
}

// text is the words given, or else standard input where it is not a person.
func (d *draft) text(ctx context.Context, stdin io.Reader) (text string, given bool, err error) {
	d.repeatable = true
	asked := len(d.words) == 1 && d.words[0] == "-"
	switch {
	case asked:
	case len(d.words) > 0:
		text = strings.Join(d.words, " ")
		if !utf8.ValidString(text) {
			return "", false, usageError{errors.New("the text is not UTF-8; send it with --file")}
		}
		return text, true, nil
	case len(d.files)+len(d.data) > 0:
		return "", false, nil
	case isTerminal(stdin):
		return "", false, errNothing
	}
	d.repeatable = false
	content, err := readInput(ctx, stdin, maxText)
	switch {
	case err != nil:
		return "", false, fmt.Errorf("read standard input: %w", err)
	case len(content) == 0 && !asked:
		return "", false, errNothing
	case !utf8.Valid(content):
		return "", false, errors.New("standard input is not UTF-8 text; send it with --file")
	}
	return string(content), true, nil
}

var errNothing = usageError{errors.New("there is nothing to send; give a text, --file or --data, or pipe a text in")}

// readInput reads standard input until it ends or the person gives up. A read
// from a terminal can not be called off: one that waits ends with the process,
// which is about to.
func readInput(ctx context.Context, stdin io.Reader, limit int64) ([]byte, error) {
	type result struct {
		content []byte
		err     error
	}
	done := make(chan result, 1)
	go func() {
		content, err := readAll(stdin, limit)
		done <- result{content, err}
	}()
	select {
	case r := <-done:
		return r.content, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// filePart holds the content of a file, with the media type its name or else
// its first bytes tell.
func filePart(path string) (a2a.Part, error) {
	content, err := readFile(path, maxFile)
	if err != nil {
		return a2a.Part{}, usageError{fmt.Errorf("--file: %w", err)}
	}
	return a2a.RawPart(content, filepath.Base(path), fileType(path, content)), nil
}

// fileType leaves out parameters: a character set would be a guess.
func fileType(path string, content []byte) string {
	ext := strings.ToLower(filepath.Ext(path))
	guess, known := fileTypes[ext]
	if !known {
		guess = mime.TypeByExtension(ext)
	}
	if guess == "" {
		guess = http.DetectContentType(content)
	}
	kind, _, err := mime.ParseMediaType(guess)
	if err != nil {
		return "application/octet-stream"
	}
	return kind
}

// fileTypes are those that must not depend on what this machine knows.
var fileTypes = map[string]string{
	".txt": "text/plain", ".md": "text/markdown", ".csv": "text/csv", ".json": "application/json",
	".yaml": "application/yaml", ".yml": "application/yaml", ".xml": "application/xml", ".html": "text/html",
	".pdf": "application/pdf", ".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".zip": "application/zip",
}

// dataPart holds JSON, given as it is or as @FILE.
func dataPart(text string) (a2a.Part, error) {
	content, name := []byte(text), "the value"
	if path, ok := strings.CutPrefix(text, "@"); ok {
		var err error
		if content, err = readFile(path, maxText); err != nil {
			return a2a.Part{}, usageError{fmt.Errorf("--data: %w", err)}
		}
		name = path
	}
	var value a2a.Value
	if err := value.UnmarshalJSON(content); err != nil {
		why := strings.TrimPrefix(err.Error(), "a2a: ")
		return a2a.Part{}, usageError{fmt.Errorf("--data: %s is not usable: %s; write it like '{\"rows\":[1,2]}' or @FILE", name, why)}
	}
	return a2a.Part{Content: a2a.PartData(value), MediaType: "application/json"}, nil
}

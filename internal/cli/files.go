package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/legation/legation/a2a"
)

// file is a part of a result that is a file, or says where one is.
type file struct {
	name    string // as the agent says, or empty
	kind    string // media type, or empty
	content []byte
	url     string
}

// describe names a file on one line.
func (f file) describe() string {
	name := "without a name"
	if f.name != "" {
		name = line(f.name, 100)
	}
	kind := ""
	if f.kind != "" {
		kind = line(f.kind, 60) + ", "
	}
	if f.url != "" {
		return fmt.Sprintf("%s (%selsewhere, not fetched): %s", name, kind, line(f.url, 1000))
	}
	return fmt.Sprintf("%s (%s%s)", name, kind, size(int64(len(f.content))))
}

// filesOf lists the files among parts. Nameless pieces of one kind in a row
// are chunks of one file.
func filesOf(parts []a2a.Part) []file {
	var files []file
	chunk, joined := false, false // of the last file: may grow, has grown
	for _, part := range parts {
		switch content := part.Content.(type) {
		case a2a.PartURL:
			files = append(files, file{name: part.Filename, kind: part.MediaType, url: string(content)})
			chunk = false
		case a2a.PartRaw:
			last := len(files) - 1
			if chunk && part.Filename == "" && files[last].kind == part.MediaType {
				if !joined {
					files[last].content = slices.Clip(files[last].content) // the part's, until it is copied to grow
				}
				files[last].content, joined = append(files[last].content, content...), true
				continue
			}
			files = append(files, file{name: part.Filename, kind: part.MediaType, content: content})
			chunk, joined = part.Filename == "", false
		default:
			chunk = false
		}
	}
	return files
}

// maxShown is the largest text file that is shown rather than only named.
const maxShown = 64 << 10

// readable reports whether a raw part is a small text.
func readable(part a2a.Part, content []byte) bool {
	kind, _, err := mime.ParseMediaType(part.MediaType)
	return err == nil && len(content) <= maxShown && utf8.Valid(content) &&
		(strings.HasPrefix(kind, "text/") || kind == "application/json" || strings.HasSuffix(kind, "+json"))
}

const maxWritten = 1000

// writeFiles puts files into a directory, each under a name of its own, and
// calls wrote for each. Nothing that exists is touched, and nothing is written
// outside of the directory, whatever the names say.
func writeFiles(ctx context.Context, dir string, files []file, wrote func(path string, f file)) error {
	if len(files) > maxWritten {
		return fmt.Errorf("the result has %d files; at most %d are written", len(files), maxWritten)
	}
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return fmt.Errorf("--out: %w", err)
	}
	defer root.Close()
	for i, f := range files {
		if f.url != "" {
			continue
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("--out: not every file was written: %w", err)
		}
		name, err := writeFile(root, safeName(f, i+1), f.content)
		if err != nil {
			return fmt.Errorf("--out: %w", err)
		}
		wrote(filepath.Join(dir, name), f)
	}
	return nil
}

// writeFile takes the first free name: report.txt, report-1.txt, …
func writeFile(root *os.Root, name string, content []byte) (string, error) {
	ext := path.Ext(name)
	stem := strings.TrimSuffix(name, ext)
	for i := range maxWritten {
		if i > 0 {
			name = fmt.Sprintf("%s-%d%s", stem, i, ext)
		}
		created, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		_, err = created.Write(content)
		return name, errors.Join(err, created.Close())
	}
	return "", fmt.Errorf("%s and %d names like it are taken", name, maxWritten)
}

// safeName makes a file name of what an agent calls a file: the last element
// of its path, without what a file system or a shell could take for more.
func safeName(f file, number int) string {
	name := strings.ReplaceAll(strings.ToValidUTF8(f.name, "_"), `\`, "/")
	name = path.Base("/" + name)
	name = strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) || harmful(r) || strings.ContainsRune(`/<>:"|?*`, r) {
			return '_'
		}
		return r
	}, name)
	name = strings.TrimLeft(name, ".-~ ")
	name = strings.TrimRight(name, ". ")
	if strings.Trim(name, "_") == "" {
		return fmt.Sprintf("file-%d%s", number, extensionOf(f.kind))
	}
	if reserved(name) {
		name = "_" + name
	}
	const longest = 120
	if ext := path.Ext(name); len(name) > longest && len(ext) < 20 {
		return cut(strings.TrimSuffix(name, ext), longest-len(ext)) + ext
	}
	return cut(name, longest)
}

// reserved tells the names that are devices on Windows.
func reserved(name string) bool {
	stem, _, _ := strings.Cut(strings.ToUpper(name), ".")
	switch stem {
	case "CON", "PRN", "AUX", "NUL":
		return true
	}
	return len(stem) == 4 && (strings.HasPrefix(stem, "COM") || strings.HasPrefix(stem, "LPT")) && stem[3] >= '0' && stem[3] <= '9'
}

// extensionOf is the usual one of a media type.
func extensionOf(kind string) string {
	kind, _, err := mime.ParseMediaType(kind)
	if err != nil {
		return ".bin"
	}
	for ext, known := range fileTypes {
		if known == kind && ext != ".yml" && ext != ".jpeg" {
			return ext
		}
	}
	return ".bin"
}

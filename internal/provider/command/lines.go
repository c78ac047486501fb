package command

import (
	"bytes"
	"log/slog"
	"strings"
)

// lines logs what a program writes to its standard error, a record for each
// line, up to a number of bytes. It takes everything, so that the program is
// never held up. It is used by one goroutine.
type lines struct {
	log  *slog.Logger
	left int
	line []byte
	cut  bool
}

func (l *lines) Write(p []byte) (int, error) {
	kept := p[:min(len(p), l.left)]
	l.left -= len(kept)
	l.cut = l.cut || len(kept) < len(p)
	for {
		line, rest, whole := bytes.Cut(kept, []byte{'\n'})
		l.line = append(l.line, line...)
		if !whole {
			return len(p), nil
		}
		l.flush()
		kept = rest
	}
}

// end logs a last line without a newline, and whether there was more.
func (l *lines) end() {
	l.flush()
	if l.cut {
		l.log.Warn("program wrote more to its standard error than is logged")
	}
}

func (l *lines) flush() {
	if line := strings.TrimSpace(string(l.line)); line != "" {
		l.log.Info("program wrote", "stderr", strings.ToValidUTF8(line, "\uFFFD"))
	}
	l.line = l.line[:0]
}

package cli

import (
	"bytes"
	"context"
	"io"
	"strings"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
	"github.com/legation/legation/internal/config"
)

// HintFor and Plain are what tests see of the words for people.
var (
	HintFor   = hintFor
	Plain     = plain
	Line      = line
	Clip      = clip
	ShellWord = shellWord
	Spoken    = spoken
)

// FilesOf is the content of the files among parts.
func FilesOf(parts []a2a.Part) (contents [][]byte) {
	for _, f := range filesOf(parts) {
		contents = append(contents, f.content)
	}
	return contents
}

// WriteFiles writes files with these contents and returns their paths.
func WriteFiles(ctx context.Context, dir string, contents ...[]byte) (paths []string, err error) {
	var files []file
	for _, content := range contents {
		files = append(files, file{content: content})
	}
	err = writeFiles(ctx, dir, files, func(path string, _ file) { paths = append(paths, path) })
	return paths, err
}

// Limits are what a --timeout leaves for an answer and for a card.
func Limits(timeout time.Duration) (answer, card time.Duration, err error) {
	r := &remote{url: "http://agent.test", timeout: timeout}
	cfg, err := r.config()
	return cfg.Timeout, cfg.CardTimeout, err
}

// HintAt is the hint for an error of an agent that was asked with a --timeout.
func HintAt(timeout time.Duration, err error) string {
	return hintFor((&remote{url: "http://agent.test", timeout: timeout}).wrap(err))
}

// Listen is a conversation about the task t-1, its ears and its end.
func Listen(stderr io.Writer) (interrupted func(error), resumed func(), left func(error) error) {
	v := newConversation(streams{in: strings.NewReader(""), out: &bytes.Buffer{}, err: stderr}, &remote{url: "http://agent.test"}, false, "")
	if err := v.assembly.Apply(a2a.StreamResponse{Payload: &a2a.Task{ID: "t-1"}}); err != nil {
		panic(err)
	}
	var cfg client.Config
	v.listen(&cfg)
	return func(err error) { cfg.Interrupted("t-1", err) }, func() { cfg.Resumed("t-1") }, v.left
}

// RevisionIn is the revision that a version names.
func RevisionIn(version string) string { return revisionIn(version) }

// ParseNotAfter reads when something ends.
var ParseNotAfter = parseNotAfter

// Parses reports whether a command line could be obeyed, as far as its words
// tell.
func Parses(args ...string) error {
	cmd, rest, err := newRoot(streams{in: strings.NewReader(""), out: io.Discard, err: io.Discard, settings: config.Load}).Find(args)
	if err == nil {
		err = cmd.ParseFlags(rest)
	}
	if err == nil {
		err = cmd.ValidateArgs(cmd.Flags().Args())
	}
	return err
}

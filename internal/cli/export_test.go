package cli

import (
	"bytes"
	"io"
	"strings"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/client"
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

package cli

import (
	"bytes"
	"fmt"
	"io"

	"github.com/legation/legation/a2a"
)

// results puts the content of artifacts on standard output as it arrives, each
// byte once. Text is written as it is, unless a terminal would obey it; data is
// written as JSON, one value a line.
type results struct {
	out, notes io.Writer
	terminal   bool
	shared     bool // what is not a result may follow on the same line
	inline     bool // small text files are content too

	shown   map[a2a.ArtifactID][]byte
	last    a2a.ArtifactID
	midLine bool
}

// more shows a chunk that lengthens an artifact.
func (r *results) more(chunk a2a.Artifact) error {
	before := len(r.shown[chunk.ArtifactID])
	return r.show(chunk.ArtifactID, r.render(r.shown[chunk.ArtifactID], chunk.Parts), before)
}

// whole shows what an artifact has beyond what was shown of it before.
func (r *results) whole(artifact a2a.Artifact) error {
	before, text := r.shown[artifact.ArtifactID], r.render(nil, artifact.Parts)
	if !bytes.HasPrefix(text, before) {
		r.endLine()
		r.last = "" // begin on a new line
		fmt.Fprintf(r.notes, "%s  the agent replaced what it had sent of %s\n", clock(), describeArtifact(artifact))
		before = nil
	}
	return r.show(artifact.ArtifactID, text, len(before))
}

// show writes text from an offset on, on a line of its own if the artifact is
// another than before.
func (r *results) show(id a2a.ArtifactID, text []byte, from int) error {
	if r.shown == nil {
		r.shown = map[a2a.ArtifactID][]byte{}
	}
	r.shown[id] = text
	fresh := string(text[from:])
	if fresh == "" {
		return nil
	}
	if r.midLine && r.last != id {
		if _, err := fmt.Fprintln(r.out); err != nil {
			return err
		}
	}
	r.last, r.midLine = id, fresh[len(fresh)-1] != '\n'
	if r.terminal {
		fresh = plain(fresh)
	}
	_, err := io.WriteString(r.out, fresh)
	return err
}

// endLine keeps what comes next from following on the same line, on a terminal
// and where standard error goes to the same place. Any other pipe or file gets
// the bytes of the result and no others.
func (r *results) endLine() {
	if r.midLine && r.shared {
		fmt.Fprintln(r.out)
		r.midLine = false
	}
}

// render appends the content of parts.
func (r *results) render(b []byte, parts []a2a.Part) []byte {
	block := func(content string) {
		if len(b) > 0 && b[len(b)-1] != '\n' {
			b = append(b, '\n')
		}
		b = append(b, content...)
		if len(content) > 0 && content[len(content)-1] != '\n' {
			b = append(b, '\n')
		}
	}
	for _, part := range parts {
		switch content := part.Content.(type) {
		case a2a.PartText:
			b = append(b, content...)
		case a2a.PartData:
			block(content.String())
		case a2a.PartRaw:
			if r.inline && readable(part, content) {
				block(string(content))
			}
		}
	}
	return b
}

// describeArtifact names an artifact for people.
func describeArtifact(artifact a2a.Artifact) string {
	if artifact.Name != "" {
		return fmt.Sprintf("%q", line(artifact.Name, 100))
	}
	return fmt.Sprintf("artifact %s", line(string(artifact.ArtifactID), 100))
}

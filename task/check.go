package task

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/a2a"
)

// What an agent puts out is checked where it comes in: what is stored can be
// sent to anybody and read again.

// checkMessage refuses a message that could not be sent. Nil is no message.
func checkMessage(message *a2a.Message) error {
	if message == nil {
		return nil
	}
	if err := checkParts(message.Parts); err != nil {
		return fmt.Errorf("the message: %w", err)
	}
	return checkStruct("the message's metadata", message.Metadata)
}

// checkArtifact refuses an artifact that could not be sent.
func checkArtifact(artifact *a2a.Artifact) error {
	if err := checkParts(artifact.Parts); err != nil {
		return fmt.Errorf("the artifact: %w", err)
	}
	return checkStruct("the artifact's metadata", artifact.Metadata)
}

// checkParts holds a2a.proto, Part and the REQUIRED parts of Message and
// Artifact: at least one, each with exactly one content.
func checkParts(parts []a2a.Part) error {
	if len(parts) == 0 {
		return errors.New("it needs at least one part")
	}
	for i := range parts {
		switch content := parts[i].Content.(type) {
		case nil:
			return fmt.Errorf("part %d has no content", i)
		case a2a.PartData:
			if err := checkValue(content); err != nil {
				return fmt.Errorf("data of part %d: %w", i, err)
			}
		}
		if err := checkStruct(fmt.Sprintf("metadata of part %d", i), parts[i].Metadata); err != nil {
			return err
		}
	}
	return nil
}

func checkStruct(what string, s a2a.Struct) error {
	if len(s) == 0 {
		return nil
	}
	if s[0] != '{' {
		return fmt.Errorf("%s is not a JSON object", what)
	}
	if err := checkValue(s); err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	return nil
}

// checkValue refuses JSON text that is broken, too deep to be sent inside a
// task, or that would not stay on one line. Nil is the JSON null.
func checkValue(text []byte) error {
	switch {
	case text == nil:
		return nil
	case bytes.ContainsAny(text, "\r\n"):
		return errors.New("it is not compact JSON; make it with a2a.NewValue or a2a.NewStruct")
	case !a2a.CheckDepth(text, maxValueDepth):
		return fmt.Errorf("it is nested deeper than %d", maxValueDepth)
	case !jsontext.Value(text).IsValid():
		return errors.New("it is not valid JSON")
	}
	return nil
}

// maxValueDepth leaves room for the task and the envelope around a value within
// a2a.MaxDepth, and takes whatever a request could bring.
const maxValueDepth = 64

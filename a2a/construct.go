package a2a

import "strings"

// NewMessage returns a message with a fresh id.
func NewMessage(role Role, parts ...Part) *Message {
	return &Message{MessageID: MessageID(NewID()), Role: role, Parts: parts}
}

// TextPart returns a part that holds text.
func TextPart(text string) Part { return Part{Content: PartText(text)} }

// RawPart returns a part that holds the bytes of a file. The file name and the
// media type may be empty. The part shares content.
func RawPart(content []byte, filename, mediaType string) Part {
	return Part{Content: PartRaw(content), Filename: filename, MediaType: mediaType}
}

// URLPart returns a part that says where the content of a file is found. The
// file name and the media type may be empty.
func URLPart(url, filename, mediaType string) Part {
	return Part{Content: PartURL(url), Filename: filename, MediaType: mediaType}
}

// DataPart returns a part that holds v as JSON. It fails where NewValue does.
func DataPart(v any) (Part, error) {
	value, err := NewValue(v)
	if err != nil {
		return Part{}, err
	}
	return Part{Content: PartData(value)}, nil
}

// Text returns the text of all text parts, one after the other.
func (m *Message) Text() string { return joinText(m.Parts) }

// Text returns the text of all text parts, one after the other.
func (a *Artifact) Text() string { return joinText(a.Parts) }

func joinText(parts []Part) string {
	var b strings.Builder
	for _, part := range parts {
		if text, ok := part.Content.(PartText); ok {
			b.WriteString(string(text))
		}
	}
	return b.String()
}

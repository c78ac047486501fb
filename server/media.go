package server

import (
	"fmt"
	"slices"
	"strings"

	"github.com/legation/legation/a2a"
)

// modes are media types or ranges of them, such as text/*, in lower case and
// without parameters.
type modes []string

func newModes(list []string) modes {
	m := make(modes, len(list))
	for i, text := range list {
		m[i] = mediaType(text)
	}
	return m
}

// mediaType brings a media type into the form of modes (RFC 9110, section
// 8.3.1).
func mediaType(text string) string {
	text, _, _ = strings.Cut(text, ";")
	return strings.ToLower(strings.TrimSpace(text))
}

// accept reports whether one of the modes covers a media type.
func (m modes) accept(kind string) bool {
	return slices.ContainsFunc(m, func(mode string) bool { return covers(mode, kind) })
}

// covers reports whether a media range (RFC 9110, section 12.5.1) has a media
// type in it.
func covers(mode, kind string) bool {
	if mode == kind || mode == "*/*" || mode == "*" {
		return true
	}
	group, ok := strings.CutSuffix(mode, "/*")
	return ok && strings.HasPrefix(kind, group+"/")
}

// meet reports whether there is a media type that both have.
func (m modes) meet(other modes) bool {
	return slices.ContainsFunc(other, func(kind string) bool {
		return m.accept(kind) || slices.ContainsFunc(m, func(mode string) bool { return covers(kind, mode) })
	})
}

// kindOf is the media type of a part: its own, or what its content implies.
// The content of a file implies none.
func kindOf(part *a2a.Part) string {
	if part.MediaType != "" {
		return mediaType(part.MediaType)
	}
	switch part.Content.(type) {
	case a2a.PartText:
		return "text/plain"
	case a2a.PartData:
		return "application/json"
	}
	return ""
}

// checkInput refuses parts of a media type that the skill does not take.
func (s skill) checkInput(parts []a2a.Part) error {
	for i := range parts {
		kind := kindOf(&parts[i])
		if kind == "" || s.inputs.accept(kind) {
			continue
		}
		accepted := strings.Join(s.inputs, ", ")
		return &a2a.Error{
			Code:     a2a.CodeContentTypeNotSupported,
			Message:  fmt.Sprintf("message.parts[%d] has the media type %s; the skill %s accepts: %s", i, cut(kind), s.id, accepted),
			Metadata: map[string]string{"field": fmt.Sprintf("message.parts[%d]", i), "accepted": accepted},
		}
	}
	return nil
}

// checkOutput refuses a caller that can take nothing of what the skill makes.
func (s skill) checkOutput(accepted []string) error {
	if len(accepted) == 0 || s.outputs.meet(newModes(accepted)) {
		return nil
	}
	made := strings.Join(s.outputs, ", ")
	return &a2a.Error{
		Code:     a2a.CodeContentTypeNotSupported,
		Message:  fmt.Sprintf("configuration.acceptedOutputModes has no media type in common with what the skill %s makes: %s", s.id, made),
		Metadata: map[string]string{"field": "configuration.acceptedOutputModes", "offered": made},
	}
}

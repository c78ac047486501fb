package partner_test

import (
	"bytes"
	"io"
	"net/http"

	"github.com/go-json-experiment/json"
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// later are members that revisions after 1.0 may have, or nobody has.
var later = map[string]any{
	"generation": "7", "timeline": []any{map[string]any{"at": 1}}, "elicitations": []any{}, "startGeneration": "1",
	"ifGenerationMatch": "7", "currentGeneration": "7", "timelineLength": 3, "x_custom": map[string]any{"a": nil},
}

// withLater adds members of later revisions to an object and to the objects in
// it, except where free-form content is.
func withLater(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if name != "metadata" && name != "data" && name != "params" {
				v[name] = withLater(member)
			}
		}
		for name, member := range later {
			v[name] = member
		}
	case []any:
		for i := range v {
			v[i] = withLater(v[i])
		}
	}
	return v
}

// addLaterMembers sends a request with members of later revisions in its params.
func addLaterMembers(req *http.Request) (*http.Response, error) {
	if req.Body == nil {
		return http.DefaultTransport.RoundTrip(req)
	}
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	text, err = rewritten(text, "params")
	if err != nil {
		return nil, err
	}
	changed := req.Clone(req.Context())
	changed.Body, changed.ContentLength = io.NopCloser(bytes.NewReader(text)), int64(len(text))
	return http.DefaultTransport.RoundTrip(changed)
}

// rewritten adds members of later revisions to one member of an envelope.
func rewritten(text []byte, member string) ([]byte, error) {
	var envelope map[string]any
	if err := json.Unmarshal(text, &envelope); err != nil {
		return nil, err
	}
	if inner, ok := envelope[member]; ok {
		envelope[member] = withLater(inner)
	}
	return json.Marshal(envelope)
}

// laterAnswer makes an answer of a later revision of one of 1.0: more members
// everywhere, and a stream has an event of a kind 1.0 does not know before each
// artifact.
func laterAnswer(text []byte) []byte {
	changed, err := rewritten(text, "result")
	if err != nil {
		return text
	}
	if bytes.Contains(text, []byte(`"artifactUpdate"`)) {
		var envelope map[string]any
		if err := json.Unmarshal(text, &envelope); err != nil {
			return text
		}
		envelope["result"] = map[string]any{"messageUpdate": later}
		unknown, err := json.Marshal(envelope)
		if err != nil {
			return text
		}
		changed = append(append(unknown, "\n\ndata: "...), changed...)
	}
	return changed
}

package partner_test

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"

	"github.com/go-json-experiment/json"
)

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
			if name != "metadata" && name != "data" && name != "params" && name != "securitySchemes" {
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

// refused passes requests on with a version that nobody serves.
func refused(server string) *between {
	return &between{server: server, header: func(h http.Header) { h.Set("A2A-Version", "1.1") }}
}

// withLaterRequests passes requests on with members of later revisions in
// their params.
func withLaterRequests(server string) *between {
	return &between{server: server, request: func(text []byte) ([]byte, error) { return rewritten(text, "params") }}
}

// laterCard makes a card one of a later revision: more members everywhere, and
// an interface of a version of its own, offered first.
func laterCard(text []byte) []byte {
	var card map[string]any
	if json.Unmarshal(text, &card) != nil {
		return text
	}
	interfaces, _ := card["supportedInterfaces"].([]any)
	if len(interfaces) == 0 {
		return text
	}
	first, _ := interfaces[0].(map[string]any)
	newer := maps.Clone(first)
	newer["protocolVersion"] = "1.1"
	newer["url"] = fmt.Sprint(first["url"], "-1.1")
	card["supportedInterfaces"] = append([]any{newer}, interfaces...)
	changed, err := json.Marshal(withLater(card))
	if err != nil {
		return text
	}
	return changed
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

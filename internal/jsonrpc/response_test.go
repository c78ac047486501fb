package jsonrpc_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/jsonrpc"
)

// REQ-RPC-08: a result or an error, never both.
func TestParseResponse(t *testing.T) {
	type response = jsonrpc.Response
	id := jsonrpc.ID(`"r-1"`)
	tests := []struct {
		name, body string
		want       response
		wantErr    bool
	}{
		{"result", `{"jsonrpc":"2.0","id":"r-1","result":{"a":1}}`, response{ID: id, Result: []byte(`{"a":1}`), HasResult: true}, false},
		{"result null", `{"jsonrpc":"2.0","id":"r-1","result":null}`, response{ID: id, Result: []byte(`null`), HasResult: true}, false},
		{"error", `{"jsonrpc":"2.0","id":null,"error":{"code":1}}`, response{ID: jsonrpc.ID("null"), Error: []byte(`{"code":1}`)}, false},
		{"neither", `{"jsonrpc":"2.0","id":"r-1"}`, response{ID: id}, false},
		{"no id", `{"jsonrpc":"2.0","result":{}}`, response{Result: []byte(`{}`), HasResult: true}, false},
		{"result and a null error", `{"jsonrpc":"2.0","id":"r-1","result":{},"error":null}`, response{ID: id, Result: []byte(`{}`), HasResult: true}, false},
		{"error and a null result", `{"jsonrpc":"2.0","id":"r-1","result":null,"error":{}}`, response{ID: id, Error: []byte(`{}`)}, false},
		{"unknown members", `{"jsonrpc":"2.0","id":"r-1","result":{},"x":1}`, response{ID: id, Result: []byte(`{}`), HasResult: true}, false},
		{"both", `{"jsonrpc":"2.0","id":"r-1","result":{},"error":{}}`, response{}, true},
		{"error a string", `{"jsonrpc":"2.0","id":"r-1","error":"boom"}`, response{}, true},
		{"version missing", `{"id":"r-1","result":{}}`, response{}, true},
		{"array", `[{"jsonrpc":"2.0","id":"r-1","result":{}}]`, response{}, true},
		{"HTML", `<html>`, response{}, true},
		{"cut off", `{"jsonrpc":"2.0","id":"r-1","result":{`, response{}, true},
		{"name twice", `{"jsonrpc":"2.0","id":"r-1","result":{"a":1,"a":1}}`, response{}, true},
		{"too deep", `{"jsonrpc":"2.0","id":"r-1","result":` + strings.Repeat("[", 100) + strings.Repeat("]", 100) + `}`, response{}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := jsonrpc.ParseResponse([]byte(tt.body))
			if (err != nil) != tt.wantErr || err != nil && !errors.Is(err, jsonrpc.ErrInvalidResponse) {
				t.Fatalf("ParseResponse() error = %v, want an error: %t", err, tt.wantErr)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("ParseResponse() (-want +got):\n%s", diff)
			}
		})
	}
}

// result is a response with the JSON text of its result.
func result(id jsonrpc.ID, text string) []byte {
	return append(jsonrpc.AppendResultPrefix(nil, id), text+jsonrpc.ResultSuffix...)
}

// REQ-RPC-08.
func TestAppendResponses(t *testing.T) {
	tests := []struct{ name, got, want string }{
		{"appended", string(jsonrpc.AppendResultPrefix([]byte("x"), jsonrpc.ID(`"a"`))), `x{"jsonrpc":"2.0","id":"a","result":`},
		{"result", string(result(jsonrpc.ID("1.0"), `{"task":{}}`)), `{"jsonrpc":"2.0","id":1.0,"result":{"task":{}}}`},
		{"error", string(jsonrpc.AppendError(nil, nil, []byte(`{"code":-32700}`))), `{"jsonrpc":"2.0","id":null,"error":{"code":-32700}}`},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, tt.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestID(t *testing.T) {
	tests := []struct {
		id          jsonrpc.ID
		valid, null bool
		equal       string
		text        string
	}{
		{nil, false, true, "-", "null"},
		{jsonrpc.ID("null"), false, true, "-", "null"},
		{jsonrpc.ID(`"a"`), true, false, "a", `"a"`},
		{jsonrpc.ID(`"\u0061"`), true, false, "a", `"\u0061"`},
		{jsonrpc.ID(`7`), true, false, "-", "7"},
		{jsonrpc.ID(`-7`), true, false, "-", "-7"},
		{jsonrpc.ID(`{}`), false, false, "-", "{}"},
		{jsonrpc.ID(`"a`), false, false, "-", `"a`},
	}
	for _, tt := range tests {
		if got := tt.id.Valid(); got != tt.valid {
			t.Errorf("%s.Valid() = %t", tt.id, got)
		}
		if got := tt.id.IsNull(); got != tt.null {
			t.Errorf("%s.IsNull() = %t", tt.id, got)
		}
		for _, s := range []string{"a", "7", "null", ""} {
			if got := tt.id.Equal(s); got != (s == tt.equal) {
				t.Errorf("%s.Equal(%q) = %t", tt.id, s, got)
			}
		}
		if got := tt.id.String(); got != tt.text {
			t.Errorf("String() = %s, want %s", got, tt.text)
		}
	}
}

func TestTooDeep(t *testing.T) {
	tests := []struct {
		text  string
		limit int
		want  bool
	}{
		{`{"a":[]}`, 2, false},
		{`{"a":[]}`, 1, true},
		{`[[],[],[{}]]`, 3, false},
		{`"[[[["`, 0, false},
		{`["\"[[","\\",[`, 2, false},
		{`["\\"[[`, 2, true},
		{`"\`, 0, false},
		{`]]]`, 0, false},
		{``, 0, false},
	}
	for _, tt := range tests {
		if got := jsonrpc.TooDeep([]byte(tt.text), tt.limit); got != tt.want {
			t.Errorf("TooDeep(%s, %d) = %t", tt.text, tt.limit, got)
		}
	}
}

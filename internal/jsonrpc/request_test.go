package jsonrpc_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/jsonrpc"
)

// ask parses a body and writes what a server would answer to it, with the
// method and the params as the result.
func ask(body string) string {
	req, fault := jsonrpc.ParseRequest([]byte(body))
	switch {
	case fault != nil:
		text := []byte(`{"code":` + map[int]string{-32700: "-32700", -32600: "-32600", -32602: "-32602"}[fault.Code] + `}`)
		return string(jsonrpc.AppendError(nil, fault.ID, text))
	case !req.HasID:
		return ""
	}
	params := "none"
	if req.Params != nil {
		params = string(req.Params)
	}
	return string(result(req.ID, `"`+req.Method+" "+params+`"`))
}

// REQ-RPC-01, REQ-RPC-07, REQ-RPC-14, REQ-RPC-15, REQ-PJ-27.
func TestParseRequest(t *testing.T) {
	ok := func(id, rest string) string { return `{"jsonrpc":"2.0","id":` + id + `,"result":"` + rest + `"}` }
	fault := func(id, code string) string { return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `}}` }
	parseError, invalid := fault("null", "-32700"), fault("null", "-32600")
	deep := func(n int) string {
		return `{"jsonrpc":"2.0","id":1,"method":"M","params":{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}}`
	}

	tests := []struct{ name, body, want string }{
		// F02
		{"cut off", `{"jsonrpc":"2.0","id":1,"method":"SendMessage"`, parseError},
		{"empty batch", `[]`, invalid},
		{"version missing", `{"id":1,"method":"M"}`, fault("1", "-32600")},
		{"version wrong", `{"jsonrpc":"aaa","id":1,"method":"M"}`, fault("1", "-32600")},
		{"id an object", `{"jsonrpc":"2.0","id":{},"method":"M"}`, invalid},
		{"params a string", `{"jsonrpc":"2.0","id":1,"method":"M","params":"p"}`, fault("1", "-32602")},
		{"params an array", `{"jsonrpc":"2.0","id":1,"method":"M","params":[{}]}`, fault("1", "-32602")},
		{"old method name", `{"jsonrpc":"2.0","id":1,"method":"thing/do","params":{}}`, ok("1", "thing/do {}")},

		{"empty", ``, parseError},
		{"blank", " \n", parseError},
		{"no JSON", `hello`, parseError},
		{"two documents", `{"jsonrpc":"2.0","id":1,"method":"M"}{}`, parseError},
		{"text behind", `{"jsonrpc":"2.0","id":1,"method":"M"} x`, parseError},
		{"array with text behind", `[] x`, parseError},
		{"array cut off", `[`, parseError},
		{"bad UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", parseError},
		{"bad UTF-8 in params", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"M\",\"params\":{\"a\":\"\xc3\x28\"}}", parseError},
		{"half a surrogate", `{"jsonrpc":"2.0","id":1,"method":"M","params":{"a":"\ud800"}}`, parseError},
		{"id twice", `{"jsonrpc":"2.0","id":1,"id":2,"method":"M"}`, parseError},
		{"name twice deep inside", `{"jsonrpc":"2.0","id":1,"method":"M","params":{"a":[{"b":1,"\u0062":2}]}}`, parseError},
		{"name twice in an unknown member", `{"jsonrpc":"2.0","id":1,"method":"M","x":{"b":1,"b":2}}`, parseError},
		{"member name no string", `{1:2}`, parseError},
		{"trailing comma", `{"jsonrpc":"2.0","id":1,"method":"M",}`, parseError},
		{"depth 64", deep(62), ok("1", `M {"a":`+strings.Repeat("[", 62)+strings.Repeat("]", 62)+`}`)},
		{"depth 65", deep(63), parseError},
		{"depth 10000", deep(10000), parseError},
		{"batch", `[{"jsonrpc":"2.0","id":1,"method":"M"}]`, invalid},
		{"string", `"M"`, invalid},
		{"null", `null`, invalid},
		{"number", `1`, invalid},
		{"version a number", `{"jsonrpc":2.0,"id":1,"method":"M"}`, fault("1", "-32600")},
		{"method missing", `{"jsonrpc":"2.0","id":1}`, fault("1", "-32600")},
		{"method empty", `{"jsonrpc":"2.0","id":1,"method":""}`, fault("1", "-32600")},
		{"method a number", `{"jsonrpc":"2.0","id":1,"method":7}`, fault("1", "-32600")},
		{"id null", `{"jsonrpc":"2.0","id":null,"method":"M"}`, invalid},
		{"id an array", `{"jsonrpc":"2.0","id":[1],"method":"M"}`, invalid},
		{"id true", `{"jsonrpc":"2.0","id":true,"method":"M"}`, invalid},
		{"id too long", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1023) + `","method":"M"}`, invalid},
		{"not an envelope", `{}`, invalid},
		{"no id, no method", `{"jsonrpc":"2.0"}`, invalid},
		{"no id, bad params", `{"jsonrpc":"2.0","method":"M","params":[]}`, fault("null", "-32602")},

		{"notification", `{"jsonrpc":"2.0","method":"M","params":{}}`, ""},
		{"no params", `{"jsonrpc":"2.0","id":1,"method":"M"}`, ok("1", "M none")},
		{"params null", `{"jsonrpc":"2.0","id":1,"method":"M","params":null}`, ok("1", "M none")},
		{"blanks and order", " {\n\t\"params\" : { \"a\" : 1 } , \"method\":\"M\", \"id\" : 7 , \"jsonrpc\":\"2.0\" }\r\n", ok("7", `M { "a" : 1 }`)},
		{"unknown members", `{"jsonrpc":"2.0","id":1,"method":"M","A2A-Version":"0.3"}`, ok("1", "M none")},
		{"escaped names", `{"\u006asonrpc":"2.\u0030","id":1,"m\u0065thod":"\u004d"}`, ok("1", "M none")},
		{"longest id", `{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 1022) + `","method":"M"}`, ok(`"`+strings.Repeat("x", 1022)+`"`, "M none")},
	}
	for _, id := range []string{`9007199254740993`, `"a"`, `1.0`, `1e2`, `"\u0061"`, `-0`, `""`, `"Ω😀"`, `0`, `1e999`} {
		tests = append(tests, struct{ name, body, want string }{
			"id " + id, `{"jsonrpc":"2.0","id":` + id + `,"method":"M"}`, ok(id, "M none"),
		})
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ask(tt.body); got != tt.want {
				t.Errorf("answer\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestFaultsNameTheMemberAndRepeatNothing(t *testing.T) {
	const secret = "s3cret"
	tests := []struct{ body, field string }{
		{`{"jsonrpc":"` + secret + `","id":1,"method":"M"}`, "jsonrpc"},
		{`{"jsonrpc":"2.0","id":["` + secret + `"],"method":"M"}`, "id"},
		{`{"jsonrpc":"2.0","id":1,"method":["` + secret + `"]}`, "method"},
		{`{"jsonrpc":"2.0","id":1,"method":"M","params":"` + secret + `"}`, "params"},
		{`{"jsonrpc":"2.0","id":1,"method":"M","params":{"` + secret + `":1,"` + secret + `":2}}`, ""},
		{`{"` + secret + `":` + secret + `}`, ""},
		{`["` + secret + `"]`, ""},
	}
	for _, tt := range tests {
		_, fault := jsonrpc.ParseRequest([]byte(tt.body))
		if fault == nil {
			t.Errorf("%s: no fault", tt.body)
			continue
		}
		if fault.Field != tt.field {
			t.Errorf("%s: field %q, want %q", tt.body, fault.Field, tt.field)
		}
		if fault.Message == "" || strings.Contains(fault.Message, secret) {
			t.Errorf("%s: message %q", tt.body, fault.Message)
		}
	}
}

func TestParamsAreASliceOfTheBody(t *testing.T) {
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"M","params":{"a":1},"z":[1,2,3]}`)
	before := bytes.Clone(body)
	req, fault := jsonrpc.ParseRequest(body)
	if fault != nil {
		t.Fatal(fault.Message)
	}
	if diff := cmp.Diff(string(before), string(body)); diff != "" {
		t.Errorf("parsing changed the body:\n%s", diff)
	}
	at := bytes.Index(body, []byte(`{"a"`))
	if &req.Params[0] != &body[at] {
		t.Error("params were copied")
	}
	if cap(req.Params) != len(req.Params) {
		t.Error("appending to params would write into the body")
	}
}

// REQ-RPC-01: what we send is read back as a request.
func TestAppendRequest(t *testing.T) {
	tests := []struct{ id, method, params, want string }{
		{"r-1", "GetTask", `{"id":"t-1"}`, `{"jsonrpc":"2.0","id":"r-1","method":"GetTask","params":{"id":"t-1"}}`},
		{`a"b`, "GetExtendedAgentCard", "", `{"jsonrpc":"2.0","id":"a\"b","method":"GetExtendedAgentCard"}`},
		{"\xff", "M", "", `{"jsonrpc":"2.0","id":"�","method":"M"}`},
	}
	for _, tt := range tests {
		got := jsonrpc.AppendRequest([]byte("x"), tt.id, tt.method, []byte(tt.params))
		if diff := cmp.Diff("x"+tt.want, string(got)); diff != "" {
			t.Errorf("AppendRequest(%q) (-want +got):\n%s", tt.id, diff)
		}
		if _, fault := jsonrpc.ParseRequest(got[1:]); fault != nil {
			t.Errorf("AppendRequest(%q) is not read back: %s", tt.id, fault.Message)
		}
	}
}

package jsonrpc_test

import (
	"bytes"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/legation/legation/internal/jsonrpc"
)

func FuzzEnvelope(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"parts":[{"text":"Ω"}]}}}`,
		`{"jsonrpc":"2.0","id":"\u0061","method":"GetTask","params":null}`,
		`{"jsonrpc":"2.0","method":"M"}`,
		`{"jsonrpc":"2.0","id":1,"result":{"task":{}}}`,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"m"}}`,
		`[]`, ``, `{`, `{"id":1,"id":1}`, `[[[[[[`, `"\`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		before := bytes.Clone(body)
		req, fault := jsonrpc.ParseRequest(body)
		resp, err := jsonrpc.ParseResponse(body)
		if !bytes.Equal(before, body) {
			t.Fatal("parsing changed the body")
		}
		sound := jsontext.Value(body).IsValid()
		switch {
		case fault != nil:
			if fault.ID != nil && !fault.ID.Valid() {
				t.Errorf("a fault echoes the id %s", fault.ID)
			}
			if !sound && fault.Code != jsonrpc.CodeParseError {
				t.Errorf("not JSON, and the fault is %d", fault.Code)
			}
		case !sound || req.Method == "" || req.HasID != req.ID.Valid():
			t.Errorf("accepted %+v", req)
		case req.HasID && !bytes.Contains(body, req.ID):
			t.Errorf("id %s is not a part of the body", req.ID)
		}
		if err == nil && (!sound || resp.HasResult && resp.Error != nil) {
			t.Errorf("accepted %+v", resp)
		}
		if fault == nil && req.HasID {
			answer := result(req.ID, `{}`)
			if _, err := jsonrpc.ParseResponse(answer); err != nil {
				t.Errorf("answer %s: %v", answer, err)
			}
		}
	})
}

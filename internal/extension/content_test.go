package extension_test

import (
	"strings"
	"testing"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/extension"
)

func metadata(value string) a2a.Struct {
	return a2a.Struct(`{"other":{"maxTokens":7},"` + extension.TokenBudget + `":` + value + `}`)
}

// REQ-EXT-14
func TestTokens(t *testing.T) {
	for value, want := range map[string]int64{
		`{"maxTokens":1}`:                  1,
		`{"maxTokens":9007199254740991}`:   1<<53 - 1,
		`{"maxTokens":1000.0}`:             1000,
		`{"maxTokens":1e3}`:                1000,
		`{"maxTokens":5,"later":true}`:     5,
		`{"maxTokens":0}`:                  -1,
		`{"maxTokens":-1}`:                 -1,
		`{"maxTokens":1.5}`:                -1,
		`{"maxTokens":0.9999999999}`:       -1,
		`{"maxTokens":9007199254740992}`:   -1,
		`{"maxTokens":9007199254740991.5}`: -1,
		`{"maxTokens":1e400}`:              -1,
		`{"maxTokens":"1000"}`:             -1,
		`{"maxTokens":null}`:               -1,
		`{"maxTokens":true}`:               -1,
		`{"maxTokens":[1]}`:                -1,
		`{"maxtokens":1}`:                  -1,
		`{"max_tokens":1}`:                 -1,
		`{}`:                               -1,
		`null`:                             -1,
		`[]`:                               -1,
		`1000`:                             -1,
		`"` + strings.Repeat("s3cret", 1000) + `"`:        -1,
		`{"maxTokens":` + strings.Repeat("9", 5000) + `}`: -1,
	} {
		got, err := extension.Tokens(metadata(value))
		if want > 0 && (got != want || err != nil) || want < 0 && (got != 0 || err == nil) {
			t.Errorf("%.60s: Tokens() = %d, %v, want %d", value, got, err, want)
		}
		if err != nil && (!strings.Contains(err.Error(), extension.TokenBudget+`"].maxTokens`) || strings.Contains(err.Error(), "s3cret")) {
			t.Errorf("%.60s: error %v", value, err)
		}
	}
	for _, m := range []a2a.Struct{nil, a2a.Struct(`{}`), a2a.Struct(`{"maxTokens":5}`), a2a.Struct(`{"` + extension.TokenBudget + `2":{}}`)} {
		if got, err := extension.Tokens(m); got != 0 || err != nil {
			t.Errorf("%s: Tokens() = %d, %v, want none", m, got, err)
		}
	}
}

func FuzzTokens(f *testing.F) {
	f.Add(`{"maxTokens":1}`)
	f.Add(`{"maxTokens":1e3}`)
	f.Fuzz(func(t *testing.T, value string) {
		n, err := extension.Tokens(metadata(value))
		if n < 0 || n > extension.MaxTokens || err != nil && n != 0 {
			t.Fatalf("Tokens() = %d, %v", n, err)
		}
		if n == 0 {
			return
		}
		var m a2a.Message
		if err := extension.SetTokens(&m, n); err != nil {
			t.Fatal(err)
		}
		if again, err := extension.Tokens(m.Metadata); again != n || err != nil {
			t.Fatalf("%d became %d, %v", n, again, err)
		}
	})
}

func TestSetTokens(t *testing.T) {
	var m a2a.Message
	for _, n := range []int64{0, -5, extension.MaxTokens + 1} {
		if err := extension.SetTokens(&m, n); err == nil || m.Metadata != nil || m.Extensions != nil {
			t.Errorf("SetTokens(%d) = %v", n, err)
		}
	}
	for _, n := range []int64{1, 700, extension.MaxTokens} {
		if err := extension.SetTokens(&m, n); err != nil {
			t.Fatal(err)
		}
		if got, err := extension.Tokens(m.Metadata); got != n || err != nil {
			t.Errorf("Tokens() = %d, %v, want %d", got, err, n)
		}
	}
	if len(m.Extensions) != 1 || m.Extensions[0] != extension.TokenBudget {
		t.Errorf("extensions %q", m.Extensions)
	}
	broken := a2a.Message{Metadata: a2a.Struct(`[`)}
	if err := extension.SetTokens(&broken, 5); err == nil {
		t.Error("metadata that are no object took a budget")
	}
}

func TestRetryParams(t *testing.T) {
	for window, want := range map[time.Duration]string{
		720 * time.Hour: `{"window":"720h"}`, 90 * time.Minute: `{"window":"1h30m"}`,
		90 * time.Second: `{"window":"1m30s"}`, 10 * time.Minute: `{"window":"10m"}`, 1500 * time.Millisecond: `{"window":"1.5s"}`,
	} {
		params := extension.RetryParams(window)
		if params.String() != want {
			t.Errorf("RetryParams(%v) = %s, want %s", window, params, want)
		}
		if got, err := extension.RetryWindow(params); got != window || err != nil {
			t.Errorf("RetryWindow(%s) = %v, %v", params, got, err)
		}
	}
	for _, bad := range []a2a.Struct{nil, a2a.Struct(`{}`), a2a.Struct(`{"window":"0s"}`), a2a.Struct(`{"window":"-1h"}`), a2a.Struct(`{"window":1}`), a2a.Struct(`{"window":"1 h"}`)} {
		if got, err := extension.RetryWindow(bad); got != 0 || err == nil {
			t.Errorf("RetryWindow(%s) = %v, %v, want an error", bad, got, err)
		}
	}
}

package credential_test

import (
	"bufio"
	"bytes"
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/legation/legation/internal/credential"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/vault"
)

// Whatever a secret is, it arrives as one header that says what was meant, or
// not at all.
func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"abc", "abc\n", "a b", "a\r\nX-Evil: 1", "\xff", ""} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, secret string) {
		keeper := credential.New(vaultFunc(func(context.Context, vault.Reference, vault.Use) (vault.Value, error) {
			return vault.NewValue([]byte(secret)), nil
		}), noClients, credential.Config{})
		for _, spec := range []registry.Credential{{APIKey: &registry.HeaderKey{Header: "Authorization"}}, {Bearer: &registry.Bearer{}}} {
			source, err := keeper.For("partner", 1, "https://a.example", spec, nil)
			if err != nil {
				t.Fatal(err)
			}
			headers, err := source.Headers(t.Context(), "alice", false)
			if err != nil {
				continue
			}
			var wire bytes.Buffer
			wire.WriteString("GET / HTTP/1.1\r\nHost: a\r\n")
			if err := headers.Write(&wire); err != nil {
				t.Fatal(err)
			}
			wire.WriteString("\r\n")
			got, err := http.ReadRequest(bufio.NewReader(&wire))
			if err != nil {
				t.Fatalf("%q can not be read as a header: %v", secret, err)
			}
			want := strings.TrimRight(secret, "\r\n")
			if source.Kind() == credential.Bearer {
				want = "Bearer " + want
			}
			if len(got.Header) != 1 || got.Header.Get("Authorization") != want {
				t.Errorf("arrived is %q, want %q", got.Header, want)
			}
		}
	})
}

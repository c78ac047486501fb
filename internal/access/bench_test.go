package access_test

import (
	"testing"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/quota"
)

func BenchmarkAPIKey(b *testing.B) {
	text, key := access.Issue()
	directory, err := access.NewDirectory(access.Config{})
	if err != nil {
		b.Fatal(err)
	}
	client := partner("alice", key)
	client.Limits.Requests = quota.None
	if _, omitted := directory.Set([]access.Client{client}); len(omitted) > 0 {
		b.Fatal(omitted)
	}
	attempt := bearer(text)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := directory.Authenticate(b.Context(), attempt); err != nil {
			b.Fatal(err)
		}
	}
}

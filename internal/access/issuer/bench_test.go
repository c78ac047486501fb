package issuer_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/legation/legation/internal/access"
	"github.com/legation/legation/internal/access/issuer"
	"github.com/legation/legation/internal/quota"
)

// BenchmarkToken is a token that was seen before, and one that was not.
func BenchmarkToken(b *testing.B) {
	for _, algorithm := range []string{"RS256", "ES256", "EdDSA"} {
		key := newSigner(b, "k1", algorithm)
		p := newProvider(b, key)
		directory, err := access.NewDirectory(access.Config{Tokens: newSet(b, issuer.Config{})})
		if err != nil {
			b.Fatal(err)
		}
		client := access.Client{
			Name: "alice", Enabled: true, Limits: quota.Limits{Requests: quota.None},
			Tokens: []access.OIDC{{Issuer: p.url, Audience: "legation", AuthorizedParty: "app"}},
		}
		if _, omitted := directory.Set([]access.Client{client}); len(omitted) > 0 {
			b.Fatal(omitted)
		}
		ask := func(b *testing.B, text string) {
			attempt := access.Attempt{Address: netip.MustParseAddr("192.0.2.1"), Header: map[string][]string{"Authorization": {"Bearer " + text}}}
			if _, err := directory.Authenticate(b.Context(), attempt); err != nil {
				b.Fatal(err)
			}
		}
		claims := claimsAt(time.Now(), p.url)
		b.Run(algorithm+"/again", func(b *testing.B) {
			text := key.sign(b, claims)
			b.ReportAllocs()
			for b.Loop() {
				ask(b, text)
			}
		})
		b.Run(algorithm+"/new", func(b *testing.B) {
			b.ReportAllocs()
			for i := range b.N {
				b.StopTimer()
				text := key.sign(b, with(claims, "jti", i))
				b.StartTimer()
				ask(b, text)
			}
		})
	}
}

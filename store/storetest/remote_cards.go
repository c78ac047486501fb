package storetest

import (
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/trust"
	"github.com/legation/legation/internal/work"
)

var remoteCardTests = map[string]func(*fixture){
	"a card is kept whole": func(f *fixture) {
		full, bare := f.remoteCard("full"), trust.RemoteCard{Name: "bare", State: trust.Unknown}
		f.put(full)
		f.put(bare)
		f.crash()
		f.remoteCards(bare, full)
	},

	"a card takes the place of the one before": func(f *fixture) {
		f.put(f.remoteCard("agent"))
		f.put(f.remoteCard("other"))
		next := trust.RemoteCard{
			Name: "agent", Generation: 8, State: trust.Quarantined, Reason: "malformed", Since: f.clock.Now().Truncate(time.Millisecond),
			Fault: "it is not JSON", FetchedAt: f.clock.Now().Truncate(time.Millisecond),
		}
		f.put(next)
		f.remoteCards(next, f.remoteCard("other"))
	},

	"the generation never falls": func(f *fixture) {
		card := f.remoteCard("agent")
		f.put(card)
		older := card
		older.Generation, older.State = card.Generation-1, trust.Stale
		f.put(older)
		older.Generation = card.Generation
		f.remoteCards(older)
	},

	"evidence is stored with the card it tells of": func(f *fixture) {
		card := f.remoteCard("agent")
		told := audit.Entry{Who: "legation", Party: "agent", Operation: "card verify", Outcome: audit.Done, KeyID: card.KeyID}
		if err := f.store.PutRemoteCard(f.ctx(), card, work.Effects{Audit: []audit.Entry{told}}); err != nil {
			f.Fatalf("PutRemoteCard() error = %v", err)
		}
		entries := f.audit(audit.Query{Limit: 10, Party: "agent"})
		if len(entries) != 1 || entries[0].Operation != "card verify" || entries[0].KeyID != card.KeyID {
			f.Errorf("entries = %+v, want that of the card", entries)
		}
	},

	"a card is forgotten": func(f *fixture) {
		f.put(f.remoteCard("agent"))
		f.put(f.remoteCard("other"))
		for range 2 { // the second time there is none
			if err := f.store.DeleteRemoteCard(f.ctx(), "agent"); err != nil {
				f.Fatalf("DeleteRemoteCard() error = %v", err)
			}
		}
		f.crash()
		f.remoteCards(f.remoteCard("other"))
	},
}

func (f *fixture) put(card trust.RemoteCard) {
	f.Helper()
	if err := f.store.PutRemoteCard(f.ctx(), card, none); err != nil {
		f.Fatalf("PutRemoteCard(%s) error = %v", card.Name, err)
	}
}

func (f *fixture) remoteCards(want ...trust.RemoteCard) {
	f.Helper()
	got, err := f.store.RemoteCards(f.ctx())
	if err != nil {
		f.Fatalf("RemoteCards() error = %v", err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.Errorf("RemoteCards() (-want +got):\n%s", diff)
	}
}

// remoteCard is a card with everything, the same for the same name.
func (f *fixture) remoteCard(name string) trust.RemoteCard {
	at := time.Date(2026, 3, 14, 15, 9, 26, 535_000_000, time.UTC)
	return trust.RemoteCard{
		Name: name, Generation: 7, State: trust.Trusted, Reason: "none", Since: at,
		Raw: []byte(`{"name":"` + name + `"}`), Fault: "none", Asked: "https://asked.example", URL: "https://read.example/card.json",
		ETag: `"1"`, LastModified: "Sat, 14 Mar 2026 15:09:26 GMT", MaxAge: 90 * time.Second,
		FetchedAt: at.Add(time.Second), VerifiedAt: at.Add(2 * time.Second),
		KeyID: "key-1", Algorithm: "ES256", Version: "1.0.0", Digest: "sha256:00",
		Accepted: []byte(`{"name":"accepted"}`), AcceptedDigest: "sha256:01", Route: "https://route.example",
		AcceptedAt: at.Add(3 * time.Second), AcceptedBy: "alice",
	}
}

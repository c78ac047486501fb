package trust_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/card"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// A loss of trust that could not be written down is not undone by a restart: what
// was asked before is not believed, though the card that is kept verifies.
func TestRestartAfterALossThatWasNotStored(t *testing.T) {
	k := key(t, "k")
	good := serves(signed(t, agentCard(), k))
	for name, lose := range map[string]func(w *world){
		"a card": func(w *world) {
			w.source.on(agentName, serves(signed(t, agentCard(), key(t, "other"))))
			w.refresh()
		},
		"a registration": func(w *world) {
			w.revision++
			w.docs[agentName] = registry.Document{
				Kind: registry.KindRemoteAgent, Name: agentName, Generation: w.revision, Spec: new(ready(pinned(t, key(t, "other")))),
			}
			if err := w.trySet(); err == nil {
				t.Error("Set() error = nil")
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, trust.Config{})
			w.source.on(agentName, good)
			w.register(agentName, ready(pinned(t, k)))
			w.refresh()
			before := w.trusted()
			if !w.mark.Settled() {
				t.Error("it is not marked that all is written down")
			}
			w.store.failing(errors.New("disk full"))
			lose(w)
			if w.mark.Settled() {
				t.Error("it is marked that all is written down")
			}
			w.store.failing(nil)
			w.source.on(agentName, good)
			w.restart()
			w.register(agentName, ready(pinned(t, k)))
			if after := w.trusted(); w.book.Believed(agentName, before.Generation) || after.Generation <= before.Generation {
				t.Errorf("generation = %d after %d", after.Generation, before.Generation)
			}
			if !w.mark.Settled() {
				t.Error("it is not marked that all is written down again")
			}
		})
	}
}

// Without a mark, or with one that cannot be taken away, nothing is believed that
// might not be so.
func TestRestartWithoutAMark(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.refresh()
	before := w.trusted()
	w.cfg.Settlement = nil
	w.restart()
	if w.trusted(); w.book.Valid(before) {
		t.Error("what was asked before the start is believed")
	}
	w.mark.settled, w.mark.fail = false, errors.New("read only")
	w.cfg.Settlement = &w.mark
	w.restart()
	if w.trusted(); w.mark.Settled() {
		t.Error("the mark is set")
	}
	w.mark.fail = nil
	w.refresh()
	if !w.mark.Settled() {
		t.Error("the mark is not set when it can be")
	}
}

// A route that was changed while nobody was there is another one.
func TestRestartUnderAnotherRoute(t *testing.T) {
	k := key(t, "k")
	elsewhere := func(s *registry.RemoteAgent) { s.CardURL = "https://cards.example/card.json" }
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k), elsewhere))
	w.refresh()
	before := w.trusted()
	w.revision++
	w.docs[agentName] = registry.Document{
		Kind: registry.KindRemoteAgent, Name: agentName, Generation: w.revision,
		Spec: new(ready(pinned(t, k), elsewhere, func(s *registry.RemoteAgent) { s.URL = "https://other.example" })),
	}
	w.restart()
	if w.trusted(); w.book.Valid(before) {
		t.Error("what was asked elsewhere is believed")
	}
}

// After a start every card is read within a minute, and not all at once.
func TestCardsAreReadAfterAStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := key(t, "k")
		w := newWorld(t, trust.Config{Now: time.Now})
		raw := signed(t, agentCard(), k)
		names := []registry.Name{"a", "b", "c", "d", "e", "f", "g", "h"}
		for _, name := range names {
			w.source.on(name, serves(raw))
			w.register(name, ready(pinned(t, k)))
			if _, err := w.book.RefreshNow(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		w.restart()
		start := time.Now()
		w.running()
		time.Sleep(time.Minute)
		first, last := time.Hour, time.Duration(0)
		for _, name := range names {
			times := w.source.times(name, start)
			if len(times) != 2 {
				t.Fatalf("%s was read at %v", name, times)
			}
			first, last = min(first, times[1]), max(last, times[1])
		}
		if last-first < time.Second {
			t.Errorf("all were read between %v and %v", first, last)
		}
	})
}

// Sets that come late do not undo later ones.
func TestSetsInTheWrongOrder(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.refresh()
	late := registry.Set{Revision: w.revision, Documents: []registry.Document{w.docs[agentName]}}
	w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{"k"} }))
	if err := w.book.Set(t.Context(), late); err != nil {
		t.Fatal(err)
	}
	w.untrusted(trust.Inert, trust.CodeRegistration)
}

// Another key by the same id is another key.
func TestAnotherKeyByTheSameID(t *testing.T) {
	one, two := key(t, "k"), key(t, "k")
	w := newWorld(t, trust.Config{})
	both := agentCard()
	for _, k := range []*card.PrivateKey{one, two} {
		by, _, err := a2a.Decode[a2a.AgentCard](signed(t, agentCard(), k))
		if err != nil {
			t.Fatal(err)
		}
		both.Signatures = append(both.Signatures, by.Signatures...)
	}
	w.source.on(agentName, serves(both.AppendJSON(nil)))
	w.register(agentName, ready(pinned(t, one)))
	w.refresh()
	before := w.trusted()
	w.register(agentName, ready(pinned(t, two)))
	if after := w.trusted(); w.book.Valid(before) || after.Generation <= before.Generation {
		t.Errorf("generation = %d after %d", after.Generation, before.Generation)
	}
}

// A card that asks for another credential is believed, and the agent is not used
// until the registration has it. That is no quarantine.
func TestCredentialsThatAreNotMet(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{Usable: func(c trust.Candidate) []trust.Reason {
		if c.Spec.Credential.None {
			return nil
		}
		return []trust.Reason{{Code: trust.CodeCredential, Words: "it asks for another", Next: "change it"}}
	}})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.refresh()
	before := w.trusted()
	w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) {
		s.Credential = registry.Credential{Bearer: &registry.Bearer{Secret: "x"}}
	}))
	w.untrusted(trust.Inert, trust.CodeCredential)
	if w.stored().State != trust.Trusted || w.book.Believed(agentName, before.Generation) {
		t.Errorf("the card is %s", w.stored().State)
	}
	known := w.refresh()
	if known.Card == nil || len(known.Reasons) != 1 || known.Reasons[0].Next != "change it" || known.NextRead.Sub(w.now.Now()) < 5*time.Minute {
		t.Errorf("known = %+v", known)
	}
	w.register(agentName, ready(pinned(t, k)))
	if w.trusted(); w.book.Valid(before) {
		t.Error("what was asked before is believed again")
	}
}

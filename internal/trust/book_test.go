package trust_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/trust"
)

// REQ-SIGN-14: the first card that verifies is accepted, changes of wording are
// taken and told, and changes of structure stop until a person accepts them.
// REQ-GEN-08: each is in the audit.
func TestChangesOfACard(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.untrusted(trust.Unknown, trust.CodeNeverRead)
	w.refresh()
	first := w.trusted()

	w.source.on(agentName, serves(signed(t, agentCard(described("Other words.")), k)))
	w.refresh()
	second := w.trusted()
	if !w.book.Valid(first) || second.Generation != first.Generation || second.Card.Description != "Other words." {
		t.Errorf("after other words the generation is %d, was %d; the card says %q", second.Generation, first.Generation, second.Card.Description)
	}

	more := signed(t, agentCard(described("Other words."), withSkill("more")), k)
	w.source.on(agentName, serves(more))
	known := w.refresh()
	w.untrusted(trust.Quarantined, trust.CodeStructure)
	if w.book.Valid(second) {
		t.Error("what was asked before the change is still believed")
	}
	select {
	case <-second.Withdrawn:
	default:
		t.Error("the ticket was not withdrawn")
	}
	if len(known.Drift.Structure) != 1 || !strings.Contains(known.Drift.Structure[0].Path, "more") || known.AcceptedDigest != second.Digest {
		t.Errorf("drift = %+v from %s", known.Drift, known.AcceptedDigest)
	}

	if err := w.book.Accept(t.Context(), agentName, second.Digest, "alice"); !errors.Is(err, trust.ErrOtherCard) {
		t.Errorf("Accept() of another card: error = %v, want ErrOtherCard", err)
	}
	if err := w.book.Accept(t.Context(), "nobody", known.Digest, "alice"); !errors.Is(err, trust.ErrUnknown) {
		t.Errorf("Accept() of nobody: error = %v, want ErrUnknown", err)
	}
	if err := w.book.Accept(t.Context(), agentName, strings.TrimPrefix(known.Digest, "sha256:"), "alice"); err != nil {
		t.Fatalf("Accept() error = %v", err)
	}
	third := w.trusted()
	if w.book.Valid(second) || third.Digest != known.Digest {
		t.Error("accepting a card brought back what was asked before")
	}
	if err := w.book.Accept(t.Context(), agentName, known.Digest, "alice"); !errors.Is(err, trust.ErrNothingToAccept) {
		t.Errorf("Accept() again: error = %v, want ErrNothingToAccept", err)
	}
	if known, _ := w.book.Known(agentName); known.AcceptedBy != "alice" || known.State != trust.Trusted || len(known.Reasons) > 0 {
		t.Errorf("known = %s by %s, %+v", known.State, known.AcceptedBy, known.Reasons)
	}
	want := []string{
		"legation: card verify done ", "legation: card refresh done changed", "legation: card quarantine refused structure",
		"alice: card accept done ", "legation: card verify done ",
	}
	if diff := cmp.Diff(want, w.evidence()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	if logs := w.logs.String(); strings.Contains(logs, "Other words") || !strings.Contains(logs, "reason=structure") {
		t.Errorf("logs = %s", logs)
	}
}

// A card that returns to what was accepted is trusted again by itself.
func TestRecovery(t *testing.T) {
	k, stranger := key(t, "k"), key(t, "stranger")
	for name, tt := range map[string]struct {
		raw  []byte
		code trust.Code
	}{
		"from another structure": {signed(t, agentCard(withSkill("more")), k), trust.CodeStructure},
		"from another key":       {signed(t, agentCard(), stranger), "unknown-key"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, trust.Config{})
			good := signed(t, agentCard(), k)
			w.source.on(agentName, serves(good))
			w.register(agentName, ready(pinned(t, k)))
			w.refresh()
			before := w.trusted()
			w.source.on(agentName, serves(tt.raw))
			w.refresh()
			w.untrusted(trust.Quarantined, tt.code)
			if tt.code != trust.CodeStructure {
				if err := w.book.Accept(t.Context(), agentName, w.stored().Digest, "alice"); !errors.Is(err, trust.ErrNothingToAccept) {
					t.Errorf("Accept() error = %v, want ErrNothingToAccept", err)
				}
			}
			w.source.on(agentName, serves(good))
			w.refresh()
			if after := w.trusted(); w.book.Valid(before) || after.Generation <= before.Generation {
				t.Errorf("generation = %d after %d", after.Generation, before.Generation)
			}
		})
	}
}

// That a card cannot be read ends no trust until the card is too old.
func TestUnreachable(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, fails(unreachable))
	w.register(agentName, ready(pinned(t, k), func(s *registry.RemoteAgent) { s.MaxCardAge = registry.Duration(2 * time.Hour) }))
	w.refreshFails()
	w.untrusted(trust.Unknown, trust.CodeNeverRead)
	if known, _ := w.book.Known(agentName); len(known.Reasons) != 2 || known.Reasons[1].Code != "connect" || known.Failure.Times != 1 {
		t.Errorf("reasons = %+v, failure = %+v", known.Reasons, known.Failure)
	}
	good := serves(signed(t, agentCard(), k))
	w.source.on(agentName, good)
	if known := w.refresh(); known.Failure != nil {
		t.Errorf("failure = %+v, want none", known.Failure)
	}
	before := w.trusted()

	w.source.on(agentName, fails(unreachable))
	w.now.advance(time.Hour)
	w.refreshFails()
	w.trusted()
	w.source.on(agentName, good)
	w.refresh() // found unchanged: it is young again
	w.source.on(agentName, fails(errors.New("something with a secret")))
	w.now.advance(2*time.Hour - time.Second)
	w.refreshFails()
	if got := w.trusted(); got.Generation != before.Generation || !got.Until.After(w.now.Now()) {
		t.Errorf("generation = %d, was %d", got.Generation, before.Generation)
	}
	w.now.advance(time.Second)
	w.untrusted(trust.Stale, trust.CodeTooOld)
	if w.book.Valid(before) {
		t.Error("what was asked is still believed when trust has run out")
	}
	w.source.on(agentName, good)
	w.refresh()
	if after := w.trusted(); w.book.Valid(before) || after.Generation <= before.Generation {
		t.Errorf("generation = %d after %d", after.Generation, before.Generation)
	}
	want := []string{"legation: card verify done ", "legation: card refresh failed too-old", "legation: card verify done "}
	if diff := cmp.Diff(want, w.evidence()); diff != "" {
		t.Errorf("audit (-want +got):\n%s", diff)
	}
	if strings.Contains(w.logs.String(), "secret") {
		t.Errorf("logs = %s", w.logs)
	}
}

// A card that was read in the future may be of any age.
func TestClockSetBack(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.refresh()
	w.now.advance(-4 * time.Minute)
	w.trusted()
	w.now.advance(-2 * time.Minute)
	w.untrusted(trust.Stale, trust.CodeTooOld)
}

// A change of the registration bites at once, without the network.
func TestChangesOfTheRegistration(t *testing.T) {
	first, second := key(t, "first"), key(t, "second")
	signedBoth := signed(t, agentCard(), first, second)
	begin := func(t *testing.T, spec registry.RemoteAgent, raw []byte) (*world, trust.Ticket) {
		w := newWorld(t, trust.Config{})
		w.source.on(agentName, serves(raw))
		w.register(agentName, spec)
		w.refresh()
		ticket := w.trusted()
		w.source.on(agentName, fails(unreachable))
		return w, ticket
	}
	t.Run("a key is revoked", func(t *testing.T) {
		w, before := begin(t, ready(pinned(t, first)), signed(t, agentCard(), first))
		w.register(agentName, ready(pinned(t, first, second), func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{"first"} }))
		w.untrusted(trust.Quarantined, "revoked-key")
		if w.book.Valid(before) {
			t.Error("what was asked is still believed")
		}
	})
	t.Run("the key of two that verified is revoked", func(t *testing.T) {
		w, before := begin(t, ready(pinned(t, first, second)), signedBoth)
		w.register(agentName, ready(pinned(t, first, second), func(s *registry.RemoteAgent) { s.Pin.Revoked = []string{before.KeyID} }))
		if after := w.trusted(); w.book.Valid(before) || after.KeyID == before.KeyID {
			t.Errorf("what was asked under key %s is still believed, now that it is %s", before.KeyID, after.KeyID)
		}
	})
	t.Run("a key is added", func(t *testing.T) {
		w, before := begin(t, ready(pinned(t, first)), signed(t, agentCard(), first))
		w.register(agentName, ready(pinned(t, first, second)))
		if w.trusted(); !w.book.Valid(before) {
			t.Error("a further key has ended what was under way")
		}
	})
	t.Run("the key that is missing is pinned", func(t *testing.T) {
		w, _ := begin(t, ready(pinned(t, first)), signed(t, agentCard(), first))
		w.source.on(agentName, serves(signed(t, agentCard(), second)))
		w.refresh()
		w.untrusted(trust.Quarantined, "unknown-key")
		w.source.on(agentName, fails(unreachable))
		w.register(agentName, ready(pinned(t, first, second)))
		if got := w.trusted(); got.KeyID != "second" {
			t.Errorf("key = %s, want the new one", got.KeyID)
		}
	})
	t.Run("another route", func(t *testing.T) {
		card := func(s *registry.RemoteAgent) { s.CardURL = "https://cards.example/card.json" }
		w, before := begin(t, ready(pinned(t, first), card), signed(t, agentCard(), first))
		w.register(agentName, ready(pinned(t, first), card, func(s *registry.RemoteAgent) { s.URL = "https://other.example" }))
		if w.trusted(); w.book.Valid(before) {
			t.Error("what was asked elsewhere is still believed")
		}
	})
	t.Run("the card is elsewhere", func(t *testing.T) {
		w, before := begin(t, ready(nil, func(s *registry.RemoteAgent) { s.Pin.AllowUnsigned = true }), signed(t, agentCard()))
		w.register(agentName, ready(nil, func(s *registry.RemoteAgent) {
			s.Pin.AllowUnsigned, s.CardURL = true, "https://other.example/card.json"
		}))
		w.untrusted(trust.Unknown, trust.CodeNeverRead)
		if w.book.Valid(before) {
			t.Error("what was asked is still believed")
		}
	})
	t.Run("what does not matter", func(t *testing.T) {
		w, before := begin(t, ready(pinned(t, first)), signed(t, agentCard(), first))
		w.register(agentName, ready(pinned(t, first), func(s *registry.RemoteAgent) { s.Description, s.Send = "Ours", registry.Public }))
		if got := w.trusted(); !w.book.Valid(before) || got.Registration == before.Registration || got.Spec.Send != registry.Public {
			t.Errorf("ticket = %d %s, before %d", got.Registration, got.Spec.Send, before.Registration)
		}
	})
	t.Run("removed and made anew", func(t *testing.T) {
		w, before := begin(t, ready(pinned(t, first)), signed(t, agentCard(), first))
		delete(w.docs, agentName)
		w.set()
		if _, err := w.book.Trust(agentName); !errors.Is(err, trust.ErrUnknown) || w.book.Valid(before) {
			t.Errorf("Trust() error = %v, want ErrUnknown", err)
		}
		select {
		case <-before.Withdrawn:
		default:
			t.Error("the ticket was not withdrawn")
		}
		if all, err := w.store.RemoteCards(t.Context()); err != nil || len(all) > 0 {
			t.Errorf("%d cards are kept, %v", len(all), err)
		}
		w.now.advance(time.Second)
		w.source.on(agentName, serves(signed(t, agentCard(withSkill("more")), first)))
		w.register(agentName, ready(pinned(t, first)))
		w.refresh()
		if after := w.trusted(); after.Generation <= before.Generation {
			t.Errorf("generation = %d after %d", after.Generation, before.Generation)
		}
	})
}

// What a node knew, it knows after a restart.
func TestRestart(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.refresh()
	before := w.trusted()
	w.source.on(agentName, fails(unreachable))
	w.restart()
	if after := w.trusted(); after.Generation != before.Generation || after.Digest != before.Digest {
		t.Errorf("ticket = %d %s, before %d %s", after.Generation, after.Digest, before.Generation, before.Digest)
	}
	w.now.advance(25 * time.Hour)
	w.restart()
	w.untrusted(trust.Stale, trust.CodeTooOld)
	if got := w.stored(); got.State != trust.Stale {
		t.Errorf("stored state = %s, want stale", got.State)
	}
	delete(w.docs, agentName)
	w.restart()
	w.set()
	if all, err := w.store.RemoteCards(t.Context()); err != nil || len(all) > 0 {
		t.Errorf("%d cards are kept of nobody, %v", len(all), err)
	}
}

// What another node has accepted is accepted here once it was read.
func TestReload(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.source.on(agentName, serves(signed(t, agentCard(), k)))
	w.register(agentName, ready(pinned(t, k)))
	w.refresh()
	w.source.on(agentName, serves(signed(t, agentCard(withSkill("more")), k)))
	known := w.refresh()
	here := w.book
	w.restart() // the other node
	w.now.advance(time.Second)
	if err := w.book.Accept(t.Context(), agentName, known.Digest, "alice"); err != nil {
		t.Fatal(err)
	}
	w.book = here
	w.untrusted(trust.Quarantined, trust.CodeStructure)
	for range 2 {
		if err := here.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	w.trusted()
}

// Trust that is gained waits for the store; trust that is lost does not.
func TestStoreThatFails(t *testing.T) {
	k := key(t, "k")
	broken := errors.New("disk full")
	w := newWorld(t, trust.Config{})
	good := serves(signed(t, agentCard(), k))
	w.source.on(agentName, good)
	w.register(agentName, ready(pinned(t, k)))
	w.store.failing(broken)
	w.refresh()
	w.untrusted(trust.Unknown, trust.CodeNotStored)
	w.store.failing(nil)
	w.refresh()
	before := w.trusted()

	w.store.failing(broken)
	w.source.on(agentName, serves(signed(t, agentCard())))
	w.refresh()
	w.untrusted(trust.Quarantined, "unsigned")
	w.source.on(agentName, good)
	w.refresh()
	w.untrusted(trust.Quarantined, trust.CodeNotStored)
	w.revision++
	w.docs[agentName] = registry.Document{Kind: registry.KindRemoteAgent, Name: agentName, Generation: w.revision, Spec: new(ready(pinned(t, key(t, "other"))))}
	if err := w.trySet(); !errors.Is(err, broken) {
		t.Errorf("Set() error = %v, want the store's", err)
	}
	w.untrusted(trust.Quarantined, "unknown-key")
	if w.book.Valid(before) {
		t.Error("what was asked is still believed")
	}
	w.store.failing(nil)
	w.register(agentName, ready(pinned(t, k)))
	w.trusted()
	evidence := w.evidence()
	if evidence[len(evidence)-1] != "legation: card verify done " || len(evidence) != 5 {
		t.Errorf("evidence = %q, want all five", evidence)
	}
}

// All is what is known of everybody, by name.
func TestAll(t *testing.T) {
	k := key(t, "k")
	w := newWorld(t, trust.Config{})
	w.register("b", ready(pinned(t, k)))
	w.register("a", ready(nil))
	w.register("c", registry.RemoteAgent{URL: "https://c.example"})
	var got []string
	for _, known := range w.book.All() {
		got = append(got, string(known.Name)+" "+string(known.State))
	}
	if diff := cmp.Diff([]string{"a inert", "b unknown", "c disabled"}, got); diff != "" {
		t.Errorf("All() (-want +got):\n%s", diff)
	}
	if reg, ok := w.book.Registration("c"); !ok || reg.Location() != "https://c.example" || reg.Spec.MaxCardAge == 0 {
		t.Errorf("Registration() = %+v, %v", reg, ok)
	}
}

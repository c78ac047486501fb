package trust

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/work"
)

// self is who does what nobody told us to.
const self = "legation"

// The operations that the audit names.
const (
	opVerify     = "card verify"
	opRefresh    = "card refresh"
	opQuarantine = "card quarantine"
	opAccept     = "card accept"
)

// register puts a registration in force. It reports whether there is something
// to be written down.
func (b *Book) register(e *entry, reg Registration, ready registry.State, missing []string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	first := e.reg.Spec == nil
	if !first && e.reg.Generation == reg.Generation && e.ready == ready {
		e.missing = missing
		return false
	}
	if first {
		e.reg, e.ready, e.missing = reg, ready, missing
		now := b.cfg.Now()
		e.schedule(now)
		e.soon()
		key, moved := e.kept.KeyID, e.kept.Route != "" && e.kept.Route != string(reg.Spec.URL)
		changed := b.change(e, nil)
		if e.anew || moved || key != e.kept.KeyID {
			// What was believed of another route or key, or was lost and could not
			// be written down, is not any more.
			e.rise(now)
			changed = true
		}
		return changed
	}
	// What was believed under another route or another key is not any more.
	now := b.cfg.Now()
	before, _ := e.state(now)
	key := e.verdict.thumbprint
	moved := e.reg.Spec.URL != reg.Spec.URL
	if e.reg.Generation != reg.Generation || ready == registry.Ready {
		e.readSoon()
	}
	e.reg, e.ready, e.missing = reg, ready, missing
	changed := b.change(e, nil)
	after, _ := e.state(now)
	if before == Trusted && (after == Inert || after == Disabled || after == Trusted && (moved || key != e.verdict.thumbprint)) {
		e.rise(now)
		changed = true
	}
	return changed
}

// key is the id of what a card was verified with.
func (v verdict) key() string {
	if v.verified == nil {
		return ""
	}
	return v.verified.KeyID
}

// change changes what is kept, judges it, and puts the outcome in force, in
// memory. It reports whether there is something to be written down; [Book.save]
// does that. The caller holds e.mu.
func (b *Book) change(e *entry, mutate func(kept *RemoteCard)) bool {
	now := b.cfg.Now()
	before := e.changes
	if state, reasons := e.card(now); e.kept.State == Trusted && state == Stale {
		b.tell(e, now, state, reasons) // although nobody was there to tell it
	}
	if mutate != nil {
		mutate(&e.kept)
		e.changes++
	}
	digest := e.kept.Digest
	e.verdict = b.cfg.judge(e.reg, e.kept)
	v := e.verdict.verified
	if v == nil {
		e.kept.KeyID, e.kept.Algorithm, e.kept.Version, e.kept.Digest = "", "", "", ""
	} else {
		e.kept.KeyID, e.kept.Algorithm = v.KeyID, string(v.Algorithm)
		e.kept.Version, e.kept.Digest = cut(v.Card.Version), v.Digest
		if mutate != nil {
			e.kept.VerifiedAt = stamp(now)
		}
	}
	state, reasons := e.card(now)
	if state == Trusted {
		b.accept(e, now, digest)
	}
	b.tell(e, now, state, reasons)
	return e.changes != before || e.changes != e.written
}

// accept makes a card that is trusted the one that others are compared with.
func (b *Book) accept(e *entry, now time.Time, before string) {
	v := e.verdict.verified
	route := string(e.reg.Spec.URL)
	if e.kept.AcceptedDigest == v.Digest && e.kept.Route == route && len(e.kept.Accepted) > 0 {
		return
	}
	if e.kept.State == Trusted && before != "" && before != v.Digest {
		b.log(e, slog.LevelInfo, "the card of a remote agent changed in its words", "changes", len(e.verdict.drift.Wording))
		e.note(entryOf(e, now, opRefresh, audit.Done, "changed"))
	}
	e.kept.Accepted, e.kept.AcceptedDigest, e.kept.Route = v.Canonical, v.Digest, route
	e.kept.AcceptedAt, e.kept.AcceptedBy = stamp(now), self
	e.changes++
}

// tell notes a change of the state of a card.
func (b *Book) tell(e *entry, now time.Time, state State, reasons []Reason) {
	var code Code
	if len(reasons) > 0 {
		code = reasons[0].Code
	}
	was := e.kept.State
	if was == state && (e.kept.Reason == code || state != Quarantined) {
		return
	}
	e.kept.State, e.kept.Reason, e.kept.Since = state, code, stamp(now)
	e.changes++
	if was == Trusted {
		e.durable = state // what is lost is lost at once
	}
	if was == Trusted || e.kept.Generation == 0 {
		e.rise(now)
	}
	switch state {
	case Trusted:
		b.log(e, slog.LevelInfo, "a remote agent is trusted", "was", was)
		e.note(entryOf(e, now, opVerify, audit.Done, ""))
	case Quarantined:
		b.log(e, slog.LevelWarn, "a remote agent is not trusted", "was", was, "reason", code, "why", reasons[0].Words)
		e.note(entryOf(e, now, opQuarantine, audit.Refused, code))
	default:
		b.log(e, slog.LevelWarn, "a remote agent is not trusted any more", "was", was, "reason", code)
		e.note(entryOf(e, now, opRefresh, audit.Failed, code))
	}
}

// rise begins a new generation of trust. It is made of the time, so that it goes
// on where a registration is deleted and made anew.
func (e *entry) rise(now time.Time) {
	e.kept.Generation = max(e.kept.Generation+1, now.UnixMilli())
	e.changes++
	if !e.gone {
		close(e.void)
		e.void = make(chan struct{})
	}
}

func entryOf(e *entry, now time.Time, operation string, outcome audit.Outcome, code Code) audit.Entry {
	key := e.verdict.key()
	if e.verdict.verified == nil {
		key = e.verdict.claimed
	}
	return audit.Entry{
		At: now, Who: self, Party: registry.ID{Kind: registry.KindRemoteAgent, Name: e.reg.Name}.String(), Operation: operation, Outcome: outcome, Reason: string(code),
		KeyID: key, Hash: hashOf(e.verdict, e.kept),
	}
}

// maxPending is how much evidence waits for a store that does not take it.
const maxPending = 64

func (e *entry) note(evidence audit.Entry) {
	if len(e.pending) == maxPending {
		e.pending = slices.Delete(e.pending, 0, 1)
	}
	e.pending = append(e.pending, evidence)
	e.changes++
}

// save writes down what was changed.
func (b *Book) save(ctx context.Context, e *entry) error {
	e.saving.Lock()
	defer e.saving.Unlock()
	e.mu.Lock()
	kept, upTo, pending := e.kept, e.changes, slices.Clone(e.pending)
	nothing := e.gone || upTo == e.written
	e.mu.Unlock()
	if nothing {
		return nil
	}
	b.settle()
	if err := b.store.PutRemoteCard(ctx, kept, work.Effects{Audit: pending}); err != nil {
		b.cfg.Logger.Error("the card of a remote agent could not be written down", "remoteAgent", kept.Name, "error", err)
		return fmt.Errorf("write down the card of remote agent %s: %w", kept.Name, err)
	}
	e.mu.Lock()
	e.written, e.writtenGeneration = upTo, kept.Generation
	e.pending = slices.DeleteFunc(e.pending, func(one audit.Entry) bool { return slices.Contains(pending, one) })
	if kept.Generation == e.kept.Generation {
		e.durable = kept.State // and nothing was lost meanwhile
	}
	e.mu.Unlock()
	b.settle()
	return nil
}

// forget removes what is kept of an agent that is registered no more.
func (b *Book) forget(ctx context.Context, name registry.Name, e *entry) error {
	if e != nil {
		e.saving.Lock()
		defer e.saving.Unlock()
	}
	if err := b.store.DeleteRemoteCard(ctx, string(name)); err != nil {
		return fmt.Errorf("forget the card of remote agent %s: %w", name, err)
	}
	return nil
}

func (b *Book) log(e *entry, level slog.Level, message string, args ...any) {
	args = append([]any{"remoteAgent", e.reg.Name, "generation", e.kept.Generation, "digest", e.kept.Digest}, args...)
	b.cfg.Logger.Log(context.Background(), level, message, args...)
}

// stamp is a time as it is kept.
func stamp(now time.Time) time.Time { return now.UTC().Truncate(time.Millisecond) }

package audit_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
)

var at = time.Date(2026, 1, 2, 3, 4, 5, 678_900_000, time.FixedZone("", 3600))

func TestEncode(t *testing.T) {
	e := audit.Entry{
		At: at, Who: "acme", Party: "acme", Operation: "SendMessage", Outcome: audit.Refused, Reason: "UNKNOWN_KEY",
		TaskID: "t-1", DelegationID: "d-1", KeyID: "k-1", Hash: "00ff", Count: 7,
	}
	text, err := e.Encode()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"at":"2026-01-02T02:04:05.678Z","who":"acme","party":"acme","operation":"SendMessage","outcome":"refused",` +
		`"reason":"UNKNOWN_KEY","count":7,"taskId":"t-1","delegationId":"d-1","keyId":"k-1","hash":"00ff"}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("encoded (-want +got):\n%s", diff)
	}
	got, err := audit.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	e.At = time.Date(2026, 1, 2, 2, 4, 5, 678_000_000, time.UTC)
	if diff := cmp.Diff(e, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	once := audit.Entry{At: at, Operation: "x", Outcome: audit.Done, Count: 1}
	if text, err := once.Encode(); err != nil || strings.Contains(string(text), "count") {
		t.Errorf("once is %s, %v", text, err)
	}
	for name, bad := range map[string]audit.Entry{
		"no operation": {At: at, Outcome: audit.Done},
		"no outcome":   {At: at, Operation: "apply"},
		"too large":    {At: at, Operation: strings.Repeat("x", audit.MaxBytes), Outcome: audit.Done},
		"no UTF-8":     {At: at, Operation: "\xff", Outcome: audit.Done},
	} {
		if text, err := bad.Encode(); err == nil {
			t.Errorf("%s: encoded as %.60s", name, text)
		}
	}
}

// sealed is a chain of two entries, none, and three more.
func sealed(t *testing.T) (seals []audit.Seal, entries [][][]byte) {
	t.Helper()
	var last audit.Seal
	first := int64(1)
	for _, count := range []int{2, 1, 3} {
		var group [][]byte
		for range count {
			text, err := audit.Entry{At: at, Operation: "apply", Outcome: audit.Done, Who: string(rune('a' + first))}.Encode()
			if err != nil {
				t.Fatal(err)
			}
			group = append(group, text)
			first++
		}
		last = audit.NewSeal("node", last, first-int64(count), group, at)
		seals, entries = append(seals, last), append(entries, group)
	}
	return seals, entries
}

func verify(chain *audit.Chain, seals []audit.Seal, entries [][][]byte) error {
	for i, s := range seals {
		if err := chain.Verify(s, entries[i]); err != nil {
			return err
		}
	}
	return nil
}

func TestVerify(t *testing.T) {
	seals, entries := sealed(t)
	var chain audit.Chain
	if err := verify(&chain, seals, entries); err != nil || chain.Seals != 3 || chain.Sealed != 6 || chain.Last() != seals[2] {
		t.Fatalf("verified %d seals over %d entries: %v", chain.Seals, chain.Sealed, err)
	}
	if err := verify(audit.Anchored(seals[0]), seals[1:], entries[1:]); err != nil {
		t.Errorf("behind an anchor: %v", err)
	}
}

func TestWhatWasChangedIsFound(t *testing.T) {
	for name, change := range map[string]func(seals *[]audit.Seal, entries *[][][]byte){
		"a byte of an entry":      func(_ *[]audit.Seal, e *[][][]byte) { (*e)[1][0][9] ^= 1 },
		"an entry less":           func(_ *[]audit.Seal, e *[][][]byte) { (*e)[2] = (*e)[2][:2] },
		"an entry less, and told": func(s *[]audit.Seal, e *[][][]byte) { (*e)[2] = (*e)[2][:2]; (*s)[2].Count = 2 },
		"entries exchanged":       func(_ *[]audit.Seal, e *[][][]byte) { slices.Reverse((*e)[2]) },
		"a seal less":             func(s *[]audit.Seal, e *[][][]byte) { *s, *e = slices.Delete(*s, 1, 2), slices.Delete(*e, 1, 2) },
		"the first seal less":     func(s *[]audit.Seal, e *[][][]byte) { *s, *e = (*s)[1:], (*e)[1:] },
		"another time":            func(s *[]audit.Seal, _ *[][][]byte) { (*s)[1].At = at.Add(time.Hour) },
		"another node":            func(s *[]audit.Seal, _ *[][][]byte) { (*s)[1].Node = "other" },
		"another number":          func(s *[]audit.Seal, _ *[][][]byte) { (*s)[1].First = 4 },
		"a seal made anew": func(s *[]audit.Seal, e *[][][]byte) {
			(*e)[1][0][9] ^= 1
			(*s)[1] = audit.NewSeal("node", (*s)[0], 3, (*e)[1], at)
		},
		"a boundary moved": func(s *[]audit.Seal, e *[][][]byte) {
			(*e)[0], (*e)[1] = (*e)[0][:1], [][]byte{(*e)[0][1], (*e)[1][0]}
			(*s)[0].Count, (*s)[1].First, (*s)[1].Count = 1, 2, 2
		},
	} {
		t.Run(name, func(t *testing.T) {
			seals, entries := sealed(t)
			change(&seals, &entries)
			var chain audit.Chain
			if err := verify(&chain, seals, entries); !errors.Is(err, audit.ErrBroken) {
				t.Errorf("verified: %v", err)
			}
		})
	}
}

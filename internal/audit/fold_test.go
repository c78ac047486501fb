package audit_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func second(n int) time.Time { return noon.Add(time.Duration(n) * time.Second) }

func refused(at int, who, from, reason string) audit.Entry {
	return audit.Entry{At: second(at), Who: who, From: from, Operation: "authenticate", Outcome: audit.Refused, Reason: reason}
}

func TestRepeatedRefusalsAreSummedUp(t *testing.T) {
	var f audit.Fold
	take := func(want bool, e audit.Entry) {
		t.Helper()
		if got := f.Take(e); got != want {
			t.Errorf("Take(%+v) = %v, want %v", e, got, want)
		}
	}
	due := func(at int, want ...audit.Entry) {
		t.Helper()
		if diff := cmp.Diff(want, f.Due(second(at))); diff != "" {
			t.Errorf("Due() after %d s (-want +got):\n%s", at, diff)
		}
	}
	sum := func(e audit.Entry, n int64) audit.Entry {
		e.Count = n
		return e
	}
	take(true, refused(0, "", "192.0.2.1", "a"))
	for i := range 1000 {
		take(false, refused(i/100, "", "192.0.2.1", "a"))
	}
	take(true, refused(10, "", "192.0.2.1", "b"))
	take(true, refused(10, "", "192.0.2.2", "a"))
	take(true, refused(10, "alice", "192.0.2.1", "a"))
	take(true, refused(10, "bob", "192.0.2.1", "a"))
	take(false, refused(11, "alice", "192.0.2.9", "a")) // wherever from
	done := refused(11, "alice", "", "")
	done.Outcome = audit.Done
	take(true, done)
	take(true, done)
	due(59)
	due(60, sum(refused(9, "", "192.0.2.1", "a"), 1000))
	due(75, sum(refused(11, "alice", "192.0.2.9", "a"), 1))

	take(false, refused(80, "", "192.0.2.1", "a")) // it went on: one entry a minute
	due(119)
	due(120, sum(refused(80, "", "192.0.2.1", "a"), 1))
	due(180)
	take(true, refused(181, "", "192.0.2.1", "a")) // it had ended
	take(false, refused(182, "", "192.0.2.1", "a"))
	due(-1, sum(refused(182, "", "192.0.2.1", "a"), 1)) // the clock was set back
}

// A sum says only what is true of all that it stands for.
func TestSums(t *testing.T) {
	entry := func(at int, change func(*audit.Entry)) audit.Entry {
		e := audit.Entry{
			At: second(at), From: "edge 2001:db8::1", Operation: "GetTask", Outcome: audit.Refused, Reason: "r",
			Party: "p", Agent: "a", TaskID: "t", DelegationID: "d", KeyID: "k", Hash: "h",
		}
		if change != nil {
			change(&e)
		}
		return e
	}
	for name, tt := range map[string]struct {
		others []func(*audit.Entry)
		want   audit.Entry
	}{
		"all the same": {
			[]func(*audit.Entry){nil, nil},
			entry(3, func(e *audit.Entry) { e.Count = 3 }),
		},
		"of one network": {
			[]func(*audit.Entry){func(e *audit.Entry) { e.From = "edge 2001:db8::2" }, func(e *audit.Entry) { e.From = "edge 2001:db8::3" }},
			entry(3, func(e *audit.Entry) { e.Count, e.From = 3, "edge 2001:db8::/64" }),
		},
		"about different things": {
			[]func(*audit.Entry){
				func(e *audit.Entry) { e.Agent, e.TaskID, e.DelegationID = "x", "x", "x" },
				func(e *audit.Entry) { e.Party, e.KeyID, e.Hash, e.Count = "x", "x", "x", 5 },
			},
			audit.Entry{At: second(3), From: "edge 2001:db8::1", Operation: "GetTask", Outcome: audit.Refused, Reason: "r", Count: 7},
		},
	} {
		var f audit.Fold
		f.Take(entry(0, nil))
		f.Take(entry(1, nil))
		for i, change := range tt.others {
			if f.Take(entry(i+2, change)) {
				t.Errorf("%s: entry %d stands by itself", name, i)
			}
		}
		if diff := cmp.Diff([]audit.Entry{tt.want}, f.Rest()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if rest := f.Rest(); len(rest) > 0 || !f.Take(entry(9, nil)) {
			t.Errorf("%s: it does not begin anew", name)
		}
	}
}

// However many parties are refused, and however often, what is written is
// bounded, nothing is uncounted, and those that are known still have room.
func TestAFloodIsBounded(t *testing.T) {
	var f audit.Fold
	var written, counted int64
	for minute := range 3 {
		var now int64
		for i := range 5000 {
			for range 2 {
				if f.Take(refused(60*minute, "", fmt.Sprintf("198.51.%d.%d", i/250, i%250), "a")) {
					now++
					counted++
				}
			}
		}
		for i := range 50 {
			e := refused(60*minute, fmt.Sprint("client-", i), "192.0.2.1", "a")
			if standing := f.Take(e); standing {
				now++
				counted++
			} else if minute == 0 {
				t.Errorf("there is no room for %s", e.Who)
			}
		}
		for _, e := range f.Due(second(60*minute + 60)) {
			now++
			counted += e.Count
		}
		if now > 1025 {
			t.Errorf("minute %d has %d entries", minute, now)
		}
		written += now
	}
	rest := f.Rest()
	for _, e := range rest {
		counted += max(e.Count, 1)
	}
	if counted != 3*(10_000+50) {
		t.Errorf("%d refusals are counted, want %d", counted, 3*(10_000+50))
	}
	if written == 0 {
		t.Error("nothing is written")
	}

	f.Drop(refused(0, "alice", "", "a"))
	f.Drop(refused(1, "", "192.0.2.1", "b"))
	want := []audit.Entry{{
		At: second(1), Who: "legation", Operation: "audit", Outcome: audit.Failed, Reason: audit.ReasonNotRecorded, Count: 2,
	}}
	if diff := cmp.Diff(want, f.Due(second(61))); diff != "" {
		t.Errorf("what was dropped (-want +got):\n%s", diff)
	}
}

package audit

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
	"time"
)

const (
	foldFor  = time.Minute
	maxFolds = 512 // parties with their reasons at a time

	// maxStrangers leaves room for those that are known.
	maxStrangers = maxFolds * 3 / 4
)

// Fold joins what is refused again and again: of one party, operation and reason
// the first refusal stands by itself, and what follows becomes one entry a minute
// that says how many. So a minute makes 2*512 entries at most, whatever is
// refused; what is beyond that is one entry with the number.
//
// The party is who was refused or, if that is not known, the address, a /64 of
// IPv6. The zero value is ready to use, by one goroutine at a time.
type Fold struct {
	all       map[folding]*folded
	strangers int    // how many of them are not known
	beyond    folded // what there was no room for
}

// folding is what refusals have in common.
type folding struct{ who, operation, reason string }

// stranger begins what stands for somebody who is not known, and no name.
const stranger = " "

// folded is what came after an entry that stands by itself.
type folded struct {
	since time.Time
	entry Entry // its count is zero if nothing came
}

// ReasonNotRecorded is the reason of the entry that says how many there was no
// room for.
const ReasonNotRecorded = "refusals_not_recorded"

// Take takes an entry, and reports whether it is to be written down as it is.
// Otherwise it is part of one that comes later.
func (f *Fold) Take(e Entry) (written bool) {
	if e.Outcome != Refused {
		return true
	}
	key := folding{e.Who, e.Operation, e.Reason}
	if e.Who == "" {
		key.who = stranger + network(e.From)
	}
	if was, known := f.all[key]; known {
		was.entry = join(was.entry, e)
		return false
	}
	if len(f.all) >= maxFolds || e.Who == "" && f.strangers >= maxStrangers {
		f.Drop(e)
		return false
	}
	if f.all == nil {
		f.all = map[folding]*folded{}
	}
	f.all[key] = &folded{since: e.At}
	if e.Who == "" {
		f.strangers++
	}
	return true
}

// Drop counts an entry that is not written down.
func (f *Fold) Drop(e Entry) {
	if f.beyond.entry.Count == 0 {
		f.beyond.since = e.At
	}
	f.beyond.entry = Entry{
		At: e.At, Who: "legation", Operation: "audit", Outcome: Failed, Reason: ReasonNotRecorded,
		Count: f.beyond.entry.Count + e.times(),
	}
}

// join is an entry that stands for two. Of what they do not have in common it
// says nothing, and of the address the network.
func join(sum, e Entry) Entry {
	if sum.Count == 0 {
		e.Count = e.times()
		return e
	}
	same := func(is *string, other string) {
		if *is != other {
			*is = ""
		}
	}
	if sum.From != e.From {
		sum.From = network(sum.From)
		same(&sum.From, network(e.From))
	}
	same(&sum.Party, e.Party)
	same(&sum.Agent, e.Agent)
	same(&sum.TaskID, e.TaskID)
	same(&sum.DelegationID, e.DelegationID)
	same(&sum.KeyID, e.KeyID)
	same(&sum.Hash, e.Hash)
	sum.At, sum.Count = e.At, sum.Count+e.times()
	return sum
}

// network is where a refusal came from as one party has it: an address of IPv4,
// a /64 of IPv6. A name in front of it stays.
func network(from string) string {
	at := strings.LastIndexByte(from, ' ') + 1
	address, err := netip.ParseAddr(from[at:])
	if err != nil || address.Is4() || address.Is4In6() {
		return from
	}
	prefix, err := address.WithZone("").Prefix(64)
	if err != nil {
		return from
	}
	return from[:at] + prefix.String()
}

// Due returns the entries whose minute is over.
func (f *Fold) Due(now time.Time) []Entry {
	return f.take(func(since time.Time) bool {
		return now.Before(since) || !now.Before(since.Add(foldFor)) // clocks are set back
	}, now)
}

// Rest returns all there is, and begins anew.
func (f *Fold) Rest() []Entry {
	due := f.take(func(time.Time) bool { return true }, time.Time{})
	*f = Fold{}
	return due
}

func (f *Fold) take(over func(since time.Time) bool, now time.Time) []Entry {
	var due []Entry
	for key, one := range f.all {
		switch {
		case !over(one.since):
		case one.entry.Count > 0:
			due = append(due, one.entry)
			one.since, one.entry = now, Entry{}
		default:
			delete(f.all, key)
			if strings.HasPrefix(key.who, stranger) {
				f.strangers--
			}
		}
	}
	if f.beyond.entry.Count > 0 && over(f.beyond.since) {
		due = append(due, f.beyond.entry)
		f.beyond = folded{}
	}
	slices.SortFunc(due, func(a, b Entry) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Who, b.Who), cmp.Compare(a.From, b.From), cmp.Compare(a.Reason, b.Reason))
	})
	return due
}

package storetest

import (
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/legation/legation/internal/audit"
	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/work"
)

var peopleTests = map[string]func(*fixture){
	"people are kept as they are, by name": func(f *fixture) {
		b := f.person("b", people.Viewer)
		b.NotAfter = b.CreatedAt.Add(time.Hour)
		a := f.person("a", people.Admin)
		f.changePeople(people.Change{Put: &b})
		f.changePeople(people.Change{Put: &a})
		f.crash()
		f.people(a, b)
	},

	"a person takes the place of the one that had the name": func(f *fixture) {
		f.changePeople(people.Change{Put: new(f.person("a", people.Admin))})
		f.changePeople(people.Change{Put: new(f.person("b", people.Viewer))})
		again := f.person("b", people.Operator)
		again.Token = people.Token{ID: "another", SHA256: [32]byte{9}}
		f.changePeople(people.Change{Put: &again})
		f.people(f.person("a", people.Admin), again)
	},

	"who was removed is gone": func(f *fixture) {
		a := f.person("a", people.Admin)
		f.changePeople(people.Change{Put: &a})
		f.changePeople(people.Change{Put: new(f.person("b", people.Viewer))})
		f.changePeople(people.Change{Remove: "b"})
		f.crash()
		f.people(a)
		f.fails("ChangePeople() again", f.store.ChangePeople(f.ctx(), f.change(people.Change{Remove: "b"}), none), people.ErrNotFound)
	},

	"a refused change leaves everything, and nothing of what travels with it": func(f *fixture) {
		a := f.person("a", people.Admin)
		f.changePeople(people.Change{Put: &a})
		told := work.Effects{Audit: []audit.Entry{{Operation: "person remove", Outcome: audit.Done}}}
		f.fails("ChangePeople()", f.store.ChangePeople(f.ctx(), f.change(people.Change{Remove: "a"}), told), people.ErrLastAdmin)
		demoted := f.person("a", people.Viewer)
		f.fails("ChangePeople()", f.store.ChangePeople(f.ctx(), f.change(people.Change{Put: &demoted}), told), people.ErrLastAdmin)
		f.people(a)
		if entries := f.audit(audit.Query{Limit: 10}); len(entries) != 0 {
			f.Errorf("the audit tells of changes that were refused: %+v", entries)
		}
		b := f.person("b", people.Admin)
		f.changePeople(people.Change{Put: &b})
		if err := f.store.ChangePeople(f.ctx(), f.change(people.Change{Remove: "a"}), told); err != nil {
			f.Fatal(err)
		}
		f.people(b)
		if entries := f.audit(audit.Query{Limit: 10}); len(entries) != 1 {
			f.Errorf("%d entries in the audit, want that of the change", len(entries))
		}
	},

	"of two administrators that remove each other one stays": func(f *fixture) {
		f.changePeople(people.Change{Put: new(f.person("a", people.Admin))})
		f.changePeople(people.Change{Put: new(f.person("b", people.Admin))})
		var refused atomic.Int64
		var all sync.WaitGroup
		for _, name := range []string{"a", "b"} {
			change := f.change(people.Change{Remove: name})
			all.Go(func() {
				if err := f.store.ChangePeople(f.ctx(), change, none); errors.Is(err, people.ErrLastAdmin) {
					refused.Add(1)
				} else if err != nil {
					f.Errorf("ChangePeople() error = %v", err)
				}
			})
		}
		all.Wait()
		left, err := f.store.People(f.ctx())
		if err != nil || len(left) != 1 || refused.Load() != 1 {
			f.Errorf("%d people are left and %d changes were refused, error %v, want 1 and 1", len(left), refused.Load(), err)
		}
	},
}

func (f *fixture) person(name string, role people.Role) people.Person {
	return people.Person{
		Name: name, Role: role, Author: "root", CreatedAt: f.clock.Now(),
		Token: people.Token{ID: "id-" + name, SHA256: [32]byte([]byte(strings.Repeat(name, 32)))},
	}
}

func (f *fixture) change(c people.Change) people.Change {
	c.At = f.clock.Now()
	return c
}

// changePeople makes a change that must be accepted.
func (f *fixture) changePeople(c people.Change) {
	f.Helper()
	if err := f.store.ChangePeople(f.ctx(), f.change(c), none); err != nil {
		f.Fatalf("ChangePeople() error = %v", err)
	}
}

// people makes sure that there are these and no others.
func (f *fixture) people(want ...people.Person) {
	f.Helper()
	got, err := f.store.People(f.ctx())
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		f.Errorf("People() error %v (-want +got):\n%s", err, diff)
	}
}

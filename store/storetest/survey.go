package storetest

import (
	"context"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/task"
)

// Surveyor is what those who look after an installation ask a store for.
type Surveyor interface {
	// Survey reads a page of the tasks of all owners, newest first by when they
	// were stored. It looks at task.MaxSurveyScan tasks at most.
	Survey(ctx context.Context, query task.Survey) (task.SurveyPage, error)

	// Owners finds the tasks of an id, which each owner may have one of, oldest
	// first.
	Owners(ctx context.Context, id a2a.TaskID) ([]task.Surveyed, error)
}

var surveyTests = map[string]func(*fixture){
	"tasks of all owners, the newest first": func(f *fixture) {
		var all []task.Record
		for _, owner := range []task.Owner{alice, bob, other, alice} {
			record, fence := f.working(owner)
			f.clock.advance(time.Second)
			all = append(all, f.append(fence, f.chunks(record, "a secret content")))
		}
		all[0] = f.canceled(all[0]) // a change of status does not move it
		slices.Reverse(all)
		f.surveys(task.Survey{Limit: 10}, all)
		f.surveys(task.Survey{Limit: 1}, all)
		f.surveys(task.Survey{Limit: 2}, all)
		f.crash()
		f.surveys(task.Survey{Limit: 3}, all)
	},

	"a survey of nothing is empty": func(f *fixture) {
		f.surveys(task.Survey{Limit: 10}, nil)
		f.ended(alice, a2a.TaskStateCompleted)
		f.surveys(task.Survey{Limit: 10, Before: 1}, nil)
		f.surveys(task.Survey{Limit: 10, Agent: "none"}, nil)
		f.surveys(task.Survey{Limit: 10, State: "TASK_STATE_FROM_ANOTHER_VERSION"}, nil)
	},

	"surveys agree with a plain filter": func(f *fixture) {
		owners := []task.Owner{alice, bob, other}
		rapid.Check(f.T, func(r *rapid.T) {
			owner := rapid.SampledFrom(owners).Draw(r, "owner")
			for range rapid.IntRange(0, 3).Draw(r, "more") {
				f.ended(owner, rapid.SampledFrom([]a2a.TaskState{a2a.TaskStateCompleted, a2a.TaskStateFailed}).Draw(r, "state"))
			}
			everything, err := f.store.Survey(f.ctx(), task.Survey{Limit: task.MaxSurvey})
			if err != nil {
				r.Fatal(err)
			}
			query := task.Survey{
				Agent:  rapid.SampledFrom([]string{"", "", alice.Agent, other.Agent}).Draw(r, "agent"),
				Caller: rapid.SampledFrom([]string{"", "", alice.Caller, bob.Caller}).Draw(r, "caller"),
				State:  rapid.SampledFrom([]a2a.TaskState{"", a2a.TaskStateCompleted, a2a.TaskStateWorking}).Draw(r, "of state"),
				Limit:  rapid.IntRange(1, 4).Draw(r, "limit"),
			}
			var want []task.Surveyed
			for _, one := range everything.Tasks {
				if (query.Agent == "" || query.Agent == one.Owner.Agent) && (query.Caller == "" || query.Caller == one.Owner.Caller) &&
					(query.State == "" || query.State == one.State) {
					want = append(want, one)
				}
			}
			if diff := cmp.Diff(want, f.surveyed(query)); diff != "" {
				r.Errorf("Survey(%+v) (-want +got):\n%s", query, diff)
			}
		})
	},

	"several owners may have a task of one id": func(f *fixture) {
		mine := f.ended(alice, a2a.TaskStateCompleted)
		theirs := f.fresh(bob, generous)
		theirs.Record.ID = mine.ID
		found := f.owners(mine.ID)
		if len(found) != 1 || found[0].Owner != alice || found[0].State != a2a.TaskStateCompleted || found[0].Last != mine.Last {
			f.Errorf("Owners() = %+v, want the task of alice", found)
		}
		f.create(theirs)
		found = f.owners(mine.ID)
		if len(found) != 2 || found[0].Owner != alice || found[1].Owner != bob {
			f.Errorf("Owners() = %+v, want both", found)
		}
		if found := f.owners("unknown"); len(found) != 0 {
			f.Errorf("Owners() of an unknown id = %+v", found)
		}
	},
}

func (f *fixture) canceled(r task.Record) task.Record {
	f.Helper()
	record, err := f.store.Cancel(f.ctx(), r.Owner, r.ID, f.clock.Now(), none)
	if err != nil {
		f.Fatalf("Cancel() error = %v", err)
	}
	return record
}

func (f *fixture) owners(id a2a.TaskID) []task.Surveyed {
	f.Helper()
	found, err := f.store.Owners(f.ctx(), id)
	if err != nil {
		f.Fatalf("Owners() error = %v", err)
	}
	return found
}

// surveys reads all pages of a query and compares them.
func (f *fixture) surveys(query task.Survey, want []task.Record) {
	f.Helper()
	got := f.surveyed(query)
	for i := range got {
		got[i].Number = 0
	}
	var surveyed []task.Surveyed
	for _, r := range want {
		surveyed = append(surveyed, task.Surveyed{
			Owner: r.Owner, ID: r.ID, ContextID: r.ContextID, Skill: r.Skill, State: r.State,
			StatusAt: r.StatusAt, CreatedAt: r.CreatedAt, Turn: r.Turn.Number, Last: r.Last,
		})
	}
	if diff := cmp.Diff(surveyed, got); diff != "" {
		f.Errorf("Survey(%+v) (-want +got):\n%s", query, diff)
	}
}

// surveyed is what all pages of a query have, newest first.
func (f *fixture) surveyed(query task.Survey) (all []task.Surveyed) {
	f.Helper()
	for range 1000 {
		page, err := f.store.Survey(f.ctx(), query)
		if err != nil || len(page.Tasks) > query.Limit {
			f.Fatalf("Survey(%+v) = %d tasks, error %v", query, len(page.Tasks), err)
		}
		for _, one := range page.Tasks {
			if query.Before > 0 && one.Number >= query.Before || one.Number < 1 || len(all) > 0 && one.Number >= all[len(all)-1].Number {
				f.Fatalf("Survey(%+v) has number %d after %d", query, one.Number, len(all))
			}
			all = append(all, one)
		}
		if page.Next == 0 {
			return all
		}
		if query.Before > 0 && page.Next >= query.Before {
			f.Fatalf("Survey(%+v) goes on at %d", query, page.Next)
		}
		query.Before = page.Next
	}
	f.Fatal("Survey() does not end")
	return nil
}

package storetest

import (
	"crypto/sha256"
	"errors"
	"fmt"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/legation/legation/a2a"
	"github.com/legation/legation/internal/work"
	"github.com/legation/legation/task"
)

var (
	alice = task.Owner{Agent: "default", Caller: "alice"}
	bob   = task.Owner{Agent: "default", Caller: "bob"}
	other = task.Owner{Agent: "other", Caller: "alice"} // another agent's alice
)

// generous limits claim at once.
var generous = task.Admission{Claim: true, Lease: lease, PerCaller: 1000, Queue: 1000}

// queued makes a run wait for a claim.
var queued = task.Admission{Lease: lease, PerCaller: 1000, Queue: 1000}

func key(owner task.Owner, message *a2a.Message) task.MessageKey {
	return task.MessageKey{Owner: owner, ID: message.MessageID, Hash: sha256.Sum256(message.AppendJSON(nil))}
}

func question(text string) *a2a.Message {
	return a2a.NewMessage(a2a.RoleUser, a2a.TextPart(text))
}

// fresh is a task that can be created, in a context of its own unless one is
// named.
func (f *fixture) fresh(owner task.Owner, admission task.Admission, inContext ...a2a.ContextID) task.NewTask {
	message := question("how are things?")
	context := a2a.ContextID(a2a.NewID())
	if len(inContext) > 0 {
		context = inContext[0]
	}
	metadata, err := a2a.NewStruct(map[string]any{"trace": 7})
	if err != nil {
		f.Fatal(err)
	}
	record, event := task.NewRecord(task.Record{
		Owner: owner, ID: a2a.TaskID(a2a.NewID()), ContextID: context, Skill: "talk",
		Turn:     task.Turn{Metadata: metadata, AcceptedOutputModes: []string{"text/plain", "application/json"}},
		Document: task.Document{Metadata: []byte(`{"kept":true}`)},
	}, message, f.clock.Now())
	return task.NewTask{
		Record: record, Event: event, Message: key(owner, message), Admission: admission,
		NewContext: len(inContext) == 0,
	}
}

// create stores a task that must be accepted as new.
func (f *fixture) create(created task.NewTask) task.Accepted {
	f.Helper()
	accepted, err := f.store.Create(f.ctx(), created, none)
	if err != nil || accepted.Joined {
		f.Fatalf("Create() = joined %v, error %v, want a new task", accepted.Joined, err)
	}
	return accepted
}

// working is a task whose run is held, and the right to write about it.
func (f *fixture) working(owner task.Owner, inContext ...a2a.ContextID) (task.Record, work.Fence) {
	f.Helper()
	accepted := f.create(f.fresh(owner, generous, inContext...))
	if accepted.Work == nil {
		f.Fatal("Create() did not claim the run")
	}
	return accepted.Record, accepted.Work.Fence
}

// status is the batch with which a run goes to a state.
func (f *fixture) status(r task.Record, state a2a.TaskState, then task.Then) task.Batch {
	at := f.clock.Now()
	status := a2a.TaskStatus{State: state, Timestamp: at}
	if state.Interrupted() {
		status.Message = a2a.NewMessage(a2a.RoleAgent, a2a.TextPart("which one?"))
		status.Message.TaskID, status.Message.ContextID = r.ID, r.ContextID
	}
	update := a2a.StreamResponse{Payload: &a2a.TaskStatusUpdateEvent{TaskID: r.ID, ContextID: r.ContextID, Status: status}}
	batch := task.Batch{Record: r, Then: then}
	batch.Record.State, batch.Record.StatusAt, batch.Record.Last = state, at, r.Last+1
	batch.Record.Status = status.AppendJSON(nil)
	if state.Terminal() || state.Interrupted() {
		batch.Record.Settled = batch.Record.Last
	}
	batch.Events = []task.Event{{Number: batch.Record.Last, State: state, Body: update.AppendJSON(nil)}}
	return batch
}

// chunks is the batch with which a run puts out an artifact in pieces.
func (f *fixture) chunks(r task.Record, texts ...string) task.Batch {
	batch := task.Batch{Record: r}
	var whole a2a.Artifact
	whole.ArtifactID = "result"
	for _, text := range texts {
		part := a2a.TextPart(text)
		whole.Parts = append(whole.Parts, part)
		update := a2a.StreamResponse{Payload: &a2a.TaskArtifactUpdateEvent{
			TaskID: r.ID, ContextID: r.ContextID, Append: true,
			Artifact: a2a.Artifact{ArtifactID: "result", Parts: []a2a.Part{part}},
		}}
		batch.Record.Last++
		batch.Events = append(batch.Events, task.Event{Number: batch.Record.Last, Body: update.AppendJSON(nil)})
	}
	batch.Record.Artifacts = append(whole.AppendJSON([]byte{'['}), ']')
	return batch
}

// append stores a batch that must be accepted and returns the task after it.
func (f *fixture) append(fence work.Fence, batch task.Batch) task.Record {
	f.Helper()
	if err := f.store.Append(f.ctx(), fence, batch, none); err != nil {
		f.Fatalf("Append() error = %v", err)
	}
	return batch.Record
}

// asking is a task that waits for its caller.
func (f *fixture) asking(owner task.Owner) task.Record {
	f.Helper()
	record, fence := f.working(owner)
	return f.append(fence, f.status(record, a2a.TaskStateInputRequired, task.End))
}

// ended is a task in a terminal state.
func (f *fixture) ended(owner task.Owner, state a2a.TaskState, inContext ...a2a.ContextID) task.Record {
	f.Helper()
	record, fence := f.working(owner, inContext...)
	return f.append(fence, f.status(record, state, task.End))
}

// answer is a message to a task that asked.
func (f *fixture) answer(r task.Record, admission task.Admission) task.Continuation {
	message := question("that one")
	message.TaskID = r.ID
	return task.Continuation{
		Message: key(r.Owner, message), TaskID: r.ID, Admission: admission,
		Input: task.Input{Message: message, At: f.clock.Now()},
	}
}

// claim takes claimable runs.
func (f *fixture) claim(limit, perGroup int) []work.Item {
	f.Helper()
	items, err := f.store.Claim(f.ctx(), work.Query{Kind: work.KindRun, Limit: limit, PerGroup: perGroup, Lease: lease})
	if err != nil {
		f.Fatalf("Claim() error = %v", err)
	}
	return items
}

// claimOne takes the only claimable run, which must be the task's.
func (f *fixture) claimOne(id a2a.TaskID) work.Item {
	f.Helper()
	items := f.claim(10, 10)
	if len(items) != 1 || items[0].Key != (work.Key{Kind: work.KindRun, ID: string(id)}) {
		f.Fatalf("Claim() = %v, want the run of task %s", items, id)
	}
	return items[0]
}

// claimNone makes sure that nothing is claimable.
func (f *fixture) claimNone() {
	f.Helper()
	if items := f.claim(10, 10); len(items) != 0 {
		f.Fatalf("Claim() = %v, want nothing", items)
	}
}

func ids(items []work.Item) []string {
	var found []string
	for _, item := range items {
		found = append(found, item.ID)
	}
	return found
}

// stored makes sure that a task is stored like this.
func (f *fixture) stored(want task.Record) {
	f.Helper()
	got, err := f.store.Task(f.ctx(), want.Owner, want.ID)
	if err != nil {
		f.Fatalf("Task(%s) error = %v", want.ID, err)
	}
	f.same(want, got)
}

func (f *fixture) same(want, got task.Record) {
	f.Helper()
	if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
		f.Errorf("task %s (-want +got):\n%s", want.ID, diff)
	}
}

// events reads all events of a task above a number.
func (f *fixture) events(r task.Record, after int64) []task.Event {
	f.Helper()
	var all []task.Event
	for {
		some, err := f.store.Events(f.ctx(), r.Owner, r.ID, after)
		if err != nil {
			f.Fatalf("Events(%s, %d) error = %v", r.ID, after, err)
		}
		if len(some) == 0 {
			return all
		}
		all = append(all, some...)
		after = some[len(some)-1].Number
	}
}

// total is how many tasks of an owner a query finds.
func (f *fixture) total(owner task.Owner, query task.Query) int64 {
	f.Helper()
	query.Limit = 1
	page, err := f.store.List(f.ctx(), owner, query)
	if err != nil {
		f.Fatalf("List() error = %v", err)
	}
	return page.Total
}

func (f *fixture) fails(what string, got, want error) {
	f.Helper()
	if !errors.Is(got, want) {
		f.Errorf("%s error = %v, want %v", what, got, want)
	}
}

// signaled reports whether a wake-up waits on a channel.
func signaled(wake <-chan struct{}) bool {
	select {
	case <-wake:
		return true
	default:
		return false
	}
}

func runOf(id a2a.TaskID) work.Key { return work.Key{Kind: work.KindRun, ID: string(id)} }

func numbered(prefix string, n int) string { return fmt.Sprintf("%s%05d", prefix, n) }

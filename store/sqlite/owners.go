package sqlite

import (
	"sync"

	"github.com/legation/legation/task"
)

// owners are the numbers of all owners. They are few and never removed, so all
// are kept in memory.
type owners struct {
	mu      sync.RWMutex
	numbers map[task.Owner]int64
	names   map[int64]task.Owner
	last    int64
}

func newOwners() *owners {
	return &owners{numbers: map[task.Owner]int64{}, names: map[int64]task.Owner{}}
}

func (o *owners) number(owner task.Owner) (int64, bool) {
	o.mu.RLock()
	defer o.mu.RUnlock()
	n, ok := o.numbers[owner]
	return n, ok
}

func (o *owners) name(n int64) task.Owner {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return o.names[n]
}

func (o *owners) add(owner task.Owner, n int64) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.numbers[owner], o.names[n] = n, owner
	o.last = max(o.last, n)
}

func (o *owners) remove(owner task.Owner) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.names, o.numbers[owner])
	delete(o.numbers, owner)
}

func (c *connection) loadOwners(into *owners) error {
	return c.each("SELECT n, agent, caller FROM owners", nil, func(r row) (bool, error) {
		into.add(task.Owner{Agent: r.text(1), Caller: r.text(2)}, r.int(0))
		return true, nil
	})
}

// owner is the number of an owner, which is stored if it is new.
func (t *tx) owner(owner task.Owner) (int64, error) {
	if n, ok := t.store.owners.number(owner); ok {
		return n, nil
	}
	n := t.store.owners.last + 1 // only the writer adds
	if _, err := t.exec("INSERT INTO owners (n, agent, caller) VALUES (?1, ?2, ?3)", n, owner.Agent, owner.Caller); err != nil {
		return 0, err
	}
	t.store.owners.add(owner, n)
	t.undo(func() { t.store.owners.remove(owner) })
	return n, nil
}

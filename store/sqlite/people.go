package sqlite

import (
	"context"
	"time"

	"github.com/legation/legation/internal/people"
	"github.com/legation/legation/internal/work"
)

const allPeople = "SELECT name, role, author, created_ms, not_after_ms, token_id, token_sha256 FROM people ORDER BY name"

// People returns everybody who may administer.
func (s *Store) People(ctx context.Context) (all []people.Person, err error) {
	err = s.read(ctx, func(r *reader) error {
		all, err = r.people()
		return err
	})
	return all, err
}

func (c *connection) people() (all []people.Person, err error) {
	err = c.each(allPeople, nil, func(r row) (bool, error) {
		p := people.Person{
			Name: r.text(0), Role: people.Role(r.text(1)), Author: r.text(2), CreatedAt: time.UnixMilli(r.int(3)).UTC(),
			Token: people.Token{ID: r.text(5)},
		}
		if end := r.int(4); end != 0 {
			p.NotAfter = time.UnixMilli(end).UTC()
		}
		// A hash of another length is none of ours, and then nobody's token fits.
		if hash := r.bytes(6); len(hash) == len(p.Token.SHA256) {
			copy(p.Token.SHA256[:], hash)
		}
		all = append(all, p)
		return true, nil
	})
	return all, err
}

// ChangePeople adds, replaces or removes a person.
func (s *Store) ChangePeople(ctx context.Context, change people.Change, effects work.Effects) error {
	return s.write(ctx, func(t *tx) error {
		before, err := t.people()
		if err != nil {
			t.broken = err
			return err
		}
		if _, err := change.Apply(before); err != nil {
			return err
		}
		if p := change.Put; p != nil {
			err = t.putPerson(*p)
		} else {
			_, err = t.exec("DELETE FROM people WHERE name = ?1", change.Remove)
		}
		if err != nil {
			return err
		}
		return t.effect(effects)
	})
}

func (t *tx) putPerson(p people.Person) error {
	const put = `INSERT OR REPLACE INTO people (name, role, author, created_ms, not_after_ms, token_id, token_sha256)
		VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)`
	var end any
	if !p.NotAfter.IsZero() {
		end = p.NotAfter.UnixMilli()
	}
	_, err := t.exec(put, p.Name, string(p.Role), p.Author, p.CreatedAt.UnixMilli(), end, p.Token.ID, p.Token.SHA256[:])
	return err
}

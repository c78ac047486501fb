package sqlite

import (
	"context"
	"fmt"
	"slices"

	"github.com/legation/legation/internal/registry"
	"github.com/legation/legation/internal/work"
)

const registryRevision = "SELECT value FROM meta WHERE name = 'registry_revision'"

// Registry returns what is registered.
func (s *Store) Registry(ctx context.Context) (registry.Set, error) {
	var revision int64
	var stored []registry.Stored
	err := s.read(ctx, func(r *reader) error {
		return r.snapshot(func() error {
			found, _, err := r.one(registryRevision)
			if err != nil {
				return err
			}
			revision = found.int(0)
			const text = "SELECT generation, published, kind, name, body FROM documents"
			return r.each(text, nil, func(found row) (bool, error) {
				stored = append(stored, registry.Stored{
					Generation: found.int(0), Published: found.int(1) == 1,
					ID:   registry.ID{Kind: registry.Kind(found.text(2)), Name: registry.Name(found.text(3))},
					Text: slices.Clone(found.bytes(4)),
				})
				return true, nil
			})
		})
	})
	if err != nil {
		return registry.Set{}, err
	}
	return registry.Restore(revision, stored), nil
}

// Commit carries out a plan of the registry.
func (s *Store) Commit(ctx context.Context, plan registry.Plan, effects work.Effects) error {
	if plan.Revision < plan.Base || plan.Changed() && plan.Revision == plan.Base {
		return fmt.Errorf("a plan of the registry leads from revision %d to %d", plan.Base, plan.Revision)
	}
	// Encoded here, so that the writer is not kept waiting.
	bodies := make([][]byte, len(plan.Changes))
	for i, change := range plan.Changes {
		if change.Action == registry.Create || change.Action == registry.Update {
			bodies[i] = registry.EncodeJSON(*change.After)
		}
	}
	return s.write(ctx, func(t *tx) error { return t.carryOut(plan, bodies, effects) })
}

func (t *tx) carryOut(plan registry.Plan, bodies [][]byte, effects work.Effects) error {
	found, _, err := t.one(registryRevision)
	if err != nil {
		return err
	}
	if found.int(0) != plan.Base {
		return registry.ErrConflict
	}
	if err := t.checkQuota(effects); err != nil {
		return err
	}
	for i, change := range plan.Changes {
		if err := t.changeDocument(change, bodies[i]); err != nil {
			return fmt.Errorf("%s %s: %w", change.Action, change.ID, err)
		}
	}
	if _, err := t.exec("UPDATE meta SET value = ?1 WHERE name = 'registry_revision'", plan.Revision); err != nil {
		return err
	}
	return t.effect(effects)
}

func (t *tx) changeDocument(change registry.Change, body []byte) error {
	kind, name := string(change.ID.Kind), string(change.ID.Name)
	switch change.Action {
	case registry.Create, registry.Update:
		published := int64(0)
		if change.After.Published {
			published = 1
		}
		const put = `INSERT INTO documents (kind, name, generation, published, body) VALUES (?1, ?2, ?3, ?4, ?5)
			ON CONFLICT (kind, name) DO UPDATE SET generation = ?3, published = ?4, body = ?5`
		_, err := t.exec(put, kind, name, change.After.Generation, published, body)
		return err
	case registry.Delete:
		_, err := t.exec("DELETE FROM documents WHERE kind = ?1 AND name = ?2", kind, name)
		return err
	}
	return nil
}

-- +goose Up

-- Tasks are found by their context's id itself, and a context has a row, for its
-- counters, only from its second task on: most have one task.
DROP INDEX tasks_context;
ALTER TABLE tasks DROP COLUMN context;
CREATE INDEX tasks_context ON tasks (owner, context_id, state, status_ms, id);
ALTER TABLE contexts DROP COLUMN n;

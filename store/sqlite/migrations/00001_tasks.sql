-- +goose Up

-- Small facts about the store itself.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value ANY NOT NULL
) STRICT, WITHOUT ROWID;

-- Who tasks belong to, and how many of them are in each state.
CREATE TABLE owners (
    n              INTEGER PRIMARY KEY,
    submitted      INTEGER NOT NULL DEFAULT 0,
    working        INTEGER NOT NULL DEFAULT 0,
    completed      INTEGER NOT NULL DEFAULT 0,
    failed         INTEGER NOT NULL DEFAULT 0,
    canceled       INTEGER NOT NULL DEFAULT 0,
    input_required INTEGER NOT NULL DEFAULT 0,
    rejected       INTEGER NOT NULL DEFAULT 0,
    auth_required  INTEGER NOT NULL DEFAULT 0,
    agent          TEXT NOT NULL,
    caller         TEXT NOT NULL,
    UNIQUE (agent, caller)
) STRICT;

-- The contexts of an owner, and how many of their tasks are in each state.
CREATE TABLE contexts (
    owner          INTEGER NOT NULL,
    id             TEXT NOT NULL,
    n              INTEGER NOT NULL,
    submitted      INTEGER NOT NULL DEFAULT 0,
    working        INTEGER NOT NULL DEFAULT 0,
    completed      INTEGER NOT NULL DEFAULT 0,
    failed         INTEGER NOT NULL DEFAULT 0,
    canceled       INTEGER NOT NULL DEFAULT 0,
    input_required INTEGER NOT NULL DEFAULT 0,
    rejected       INTEGER NOT NULL DEFAULT 0,
    auth_required  INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

-- The current form of each task. Large columns come last, so that a read that
-- does not want them does not load them. State is the number of the state in
-- the protocol's TaskState.
CREATE TABLE tasks (
    n             INTEGER PRIMARY KEY,
    owner         INTEGER NOT NULL,
    context       INTEGER NOT NULL,
    state         INTEGER NOT NULL,
    status_ms     INTEGER NOT NULL,
    created_ms    INTEGER NOT NULL,
    last          INTEGER NOT NULL,
    settled       INTEGER NOT NULL,
    turn          INTEGER NOT NULL,
    id            TEXT NOT NULL,
    context_id    TEXT NOT NULL,
    skill         TEXT NOT NULL,
    turn_modes    TEXT,
    turn_metadata BLOB,
    status        BLOB,
    metadata      BLOB,
    history       BLOB,
    artifacts     BLOB
) STRICT;

-- With the owner, so that another owner's task costs what an absent one does.
CREATE UNIQUE INDEX tasks_id ON tasks (id, owner);
CREATE INDEX tasks_owner ON tasks (owner, state, status_ms, id);
CREATE INDEX tasks_context ON tasks (context, state, status_ms, id);

-- One row for each appended batch of events. The key is the task's n times
-- 2^24 plus the number of the last event of the batch.
CREATE TABLE events (
    key  INTEGER PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;

-- Messages that were accepted, and the task they went to.
CREATE TABLE messages (
    owner INTEGER NOT NULL,
    id    TEXT NOT NULL,
    task  INTEGER NOT NULL,
    hash  BLOB NOT NULL,
    PRIMARY KEY (owner, id)
) STRICT, WITHOUT ROWID;

-- What is to be done: 0 ready, 1 held, 2 suspended. Queued orders ready rows;
-- due is when a suspended row becomes ready by itself.
CREATE TABLE work (
    kind    TEXT NOT NULL,
    id      TEXT NOT NULL,
    status  INTEGER NOT NULL,
    woken   INTEGER NOT NULL DEFAULT 0,
    attempt INTEGER NOT NULL,
    queued  INTEGER NOT NULL,
    due_ms  INTEGER,
    grp     TEXT NOT NULL,
    PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX work_ready ON work (kind, queued) WHERE status = 0;
CREATE INDEX work_due ON work (kind, due_ms) WHERE status = 2;

-- Since when an agent's card is what it is.
CREATE TABLE cards (
    agent    TEXT PRIMARY KEY,
    since_ms INTEGER NOT NULL,
    digest   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

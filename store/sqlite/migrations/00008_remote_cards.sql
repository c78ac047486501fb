-- +goose Up

-- The cards of remote agents: as they were last read, and as they were last
-- accepted.
CREATE TABLE remote_cards (
    n               INTEGER PRIMARY KEY,
    generation      INTEGER NOT NULL,
    since_ms        INTEGER NOT NULL,
    max_age_ms      INTEGER NOT NULL,
    fetched_ms      INTEGER NOT NULL,
    verified_ms     INTEGER NOT NULL,
    accepted_ms     INTEGER NOT NULL,
    name            TEXT NOT NULL UNIQUE,
    state           TEXT NOT NULL,
    reason          TEXT NOT NULL,
    fault           TEXT NOT NULL,
    asked           TEXT NOT NULL,
    url             TEXT NOT NULL,
    etag            TEXT NOT NULL,
    last_modified   TEXT NOT NULL,
    key_id          TEXT NOT NULL,
    algorithm       TEXT NOT NULL,
    version         TEXT NOT NULL,
    digest          TEXT NOT NULL,
    accepted_digest TEXT NOT NULL,
    accepted_by     TEXT NOT NULL,
    route           TEXT NOT NULL,
    raw             BLOB NOT NULL,
    accepted        BLOB NOT NULL
) STRICT;

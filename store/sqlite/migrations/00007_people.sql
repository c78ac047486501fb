-- +goose Up

-- Who may administer, and the hash of the token that each is known by.
CREATE TABLE people (
    name         TEXT PRIMARY KEY,
    created_ms   INTEGER NOT NULL,
    not_after_ms INTEGER,
    role         TEXT NOT NULL,
    author       TEXT NOT NULL,
    token_id     TEXT NOT NULL UNIQUE,
    token_sha256 BLOB NOT NULL
) STRICT, WITHOUT ROWID;

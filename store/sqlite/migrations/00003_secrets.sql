-- +goose Up

-- The versions of secrets. One without a value is deleted, and is kept so that
-- its number is not used again, until room is needed.
CREATE TABLE secrets (
    n            INTEGER PRIMARY KEY,
    version      INTEGER NOT NULL CHECK (version > 0),
    created_ms   INTEGER NOT NULL,
    used_ms      INTEGER,
    name         TEXT NOT NULL,
    author       TEXT NOT NULL,
    value_sealed BLOB,
    UNIQUE (name, version)
) STRICT;

-- Deleted ones, which make room.
CREATE INDEX secrets_deleted ON secrets (n) WHERE value_sealed IS NULL;

-- Which master key an envelope is sealed with. Every column with envelopes ends
-- in _sealed, has an index like this one, and is in the list in seals.go.
CREATE INDEX secrets_value_sealed ON secrets (substr(value_sealed, 2, 8)) WHERE value_sealed IS NOT NULL;

-- What secrets were opened for. Rows are not changed.
CREATE TABLE secret_uses (
    n       INTEGER PRIMARY KEY,
    at_ms   INTEGER NOT NULL,
    version INTEGER NOT NULL,
    secret  TEXT NOT NULL,
    who     TEXT NOT NULL,
    purpose TEXT NOT NULL,
    party   TEXT NOT NULL,
    host    TEXT NOT NULL
) STRICT;

CREATE INDEX secret_uses_secret ON secret_uses (secret, n);

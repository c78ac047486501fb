-- +goose Up

-- What happened, as encoded entries, in order.
CREATE TABLE audit (
    n     INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    body  BLOB NOT NULL
) STRICT;

-- Each seal covers the entries of one commit and the seal before it. The oldest
-- one may be an anchor, whose entries retention has removed.
CREATE TABLE audit_seals (
    n        INTEGER PRIMARY KEY,
    first    INTEGER NOT NULL,
    count    INTEGER NOT NULL,
    at_ms    INTEGER NOT NULL,
    previous BLOB NOT NULL,
    hash     BLOB NOT NULL
) STRICT;

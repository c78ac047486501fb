-- +goose Up

-- What is registered, as encoded documents. A generation is the revision of the
-- registry that last changed the document. Published ones are the command
-- line's.
CREATE TABLE documents (
    n          INTEGER PRIMARY KEY,
    generation INTEGER NOT NULL CHECK (generation > 0),
    published  INTEGER NOT NULL CHECK (published IN (0, 1)),
    kind       TEXT NOT NULL,
    name       TEXT NOT NULL,
    body       BLOB NOT NULL,
    UNIQUE (kind, name)
) STRICT;

-- Counts the changes of the registry.
INSERT INTO meta (name, value) VALUES ('registry_revision', 0);

-- +goose Up

-- What a caller has used of a day, which is the number of days since 1970 in
-- UTC. Cost is in millionths.
CREATE TABLE quota_days (
    day    INTEGER NOT NULL,
    tasks  INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost   INTEGER NOT NULL,
    caller TEXT NOT NULL,
    PRIMARY KEY (caller, day)
) STRICT, WITHOUT ROWID;

-- What is held for turns under way, of the day in which they were admitted.
CREATE TABLE quota_holds (
    id     TEXT PRIMARY KEY,
    day    INTEGER NOT NULL,
    tasks  INTEGER NOT NULL,
    tokens INTEGER NOT NULL,
    cost   INTEGER NOT NULL,
    caller TEXT NOT NULL
) STRICT, WITHOUT ROWID;

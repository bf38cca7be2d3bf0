-- The processes that serve this store, and the things of which only one of them may have each.

-- +goose Up
CREATE TABLE nodes (
    instance TEXT NOT NULL PRIMARY KEY,
    holder   TEXT NOT NULL,
    version  TEXT NOT NULL,
    started  BIGINT NOT NULL,
    expires  BIGINT NOT NULL
);

-- A free seat keeps its row, because generations never start again.
CREATE TABLE seats (
    name       TEXT NOT NULL PRIMARY KEY,
    generation BIGINT NOT NULL,
    token      TEXT NOT NULL, -- empty: free
    instance   TEXT NOT NULL,
    holder     TEXT NOT NULL,
    ttl        BIGINT NOT NULL,
    expires    BIGINT NOT NULL
);

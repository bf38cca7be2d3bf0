-- The processes that serve this store, and the things of which only one of them may have each.

-- +goose Up
CREATE TABLE nodes (
    instance TEXT NOT NULL PRIMARY KEY,
    holder   TEXT NOT NULL,
    version  TEXT NOT NULL,
    started  {int}   NOT NULL,
    expires  {int}   NOT NULL
){tight};

-- A free seat keeps its row, because generations never start again.
CREATE TABLE seats (
    name       TEXT NOT NULL PRIMARY KEY,
    generation {int}   NOT NULL,
    token      TEXT NOT NULL, -- empty: free
    instance   TEXT NOT NULL,
    holder     TEXT NOT NULL,
    ttl        {int}   NOT NULL,
    expires    {int}   NOT NULL
){tight};

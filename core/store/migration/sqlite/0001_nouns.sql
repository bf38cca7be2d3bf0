-- Times are unix milliseconds, 0 is "never". Structures that are only carried are JSON. Small tables that are always
-- read by their key have no rowid: one tree instead of two.

-- +goose Up
CREATE TABLE conversations (
    id          TEXT    NOT NULL PRIMARY KEY,
    key         TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    title       TEXT    NOT NULL DEFAULT '',
    surface     TEXT    NOT NULL DEFAULT '',
    grouped     INTEGER NOT NULL DEFAULT 0,
    model       TEXT    NOT NULL DEFAULT '',
    busy        TEXT    NOT NULL DEFAULT '',
    route       TEXT    NOT NULL DEFAULT '',
    approved    TEXT    NOT NULL DEFAULT '',
    created     INTEGER NOT NULL,
    updated     INTEGER NOT NULL,
    session     TEXT    NOT NULL,                -- newest segment; its row is made by the first turn
    history     INTEGER NOT NULL DEFAULT 0,      -- version of the transcript
    events      INTEGER NOT NULL DEFAULT 0,      -- last reserved event number
    turns       INTEGER NOT NULL DEFAULT 0,
    calls       INTEGER NOT NULL DEFAULT 0,
    input       INTEGER NOT NULL DEFAULT 0,
    output      INTEGER NOT NULL DEFAULT 0,
    cache_read  INTEGER NOT NULL DEFAULT 0,
    cache_write INTEGER NOT NULL DEFAULT 0,
    reasoning   INTEGER NOT NULL DEFAULT 0,
    cost        REAL    NOT NULL DEFAULT 0,
    estimated   INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;
CREATE INDEX conversations_owner ON conversations (owner);

CREATE TABLE keys (
    key          TEXT NOT NULL PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations (id)
) WITHOUT ROWID;
CREATE INDEX keys_conversation ON keys (conversation);

CREATE TABLE sessions (
    id            TEXT    NOT NULL PRIMARY KEY,
    conversation  TEXT    NOT NULL REFERENCES conversations (id),
    parent        TEXT    NOT NULL DEFAULT '',
    reason        TEXT    NOT NULL DEFAULT '',
    system_prompt TEXT    NOT NULL,
    model         TEXT    NOT NULL DEFAULT '',
    created       INTEGER NOT NULL
);
CREATE INDEX sessions_conversation ON sessions (conversation);

-- n is the order of birth; seq is the order of running, which a retry inherits and a move permutes.
CREATE TABLE admissions (
    n            INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    conversation TEXT    REFERENCES conversations (id), -- null: an update without a place
    seq          INTEGER NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('queued', 'started', 'unknown', 'terminal')),
    open         INTEGER NOT NULL, -- not terminal
    by_id        TEXT    NOT NULL,
    caps         INTEGER NOT NULL,
    admin        INTEGER NOT NULL,
    submission   TEXT    NOT NULL,
    raw          BLOB,
    routed       INTEGER NOT NULL,            -- an answer is owed to a chat
    joins        TEXT    NOT NULL DEFAULT '', -- 'part' or 'album:ID': more may join while it waits
    hold         INTEGER NOT NULL DEFAULT 0,
    turn         TEXT    NOT NULL DEFAULT '',
    generation   INTEGER NOT NULL DEFAULT 0,
    retry_of     TEXT    NOT NULL DEFAULT '',
    resume       INTEGER NOT NULL DEFAULT 0,
    result       TEXT    NOT NULL DEFAULT '',
    reason       TEXT    NOT NULL DEFAULT '',
    outcome      TEXT    NOT NULL DEFAULT '',
    trimmed      INTEGER NOT NULL DEFAULT 0,
    created      INTEGER NOT NULL,
    claimed      INTEGER NOT NULL DEFAULT 0,
    settled      INTEGER NOT NULL DEFAULT 0,
    CHECK ((open = 1) = (status <> 'terminal'))
);
-- A partial index leads with the column of its condition: the planner prefers it then to a longer one.
CREATE INDEX admissions_open ON admissions (open, conversation, seq) WHERE open = 1;
CREATE INDEX admissions_conversation ON admissions (conversation);
CREATE UNIQUE INDEX admissions_retry ON admissions (retry_of) WHERE retry_of <> '';

-- The dedupe: every accepted input has its row here; a part that joined an admission keeps its own name as an alias.
CREATE TABLE requests (
    principal TEXT    NOT NULL,
    source    TEXT    NOT NULL,
    request   TEXT    NOT NULL,
    admission TEXT    NOT NULL,
    digest    BLOB    NOT NULL,
    piece     TEXT    NOT NULL DEFAULT '', -- what this input added to a row that others join
    gone      INTEGER NOT NULL DEFAULT 0,  -- deleted by its author while it waited
    edited    INTEGER NOT NULL DEFAULT 0,  -- platform time of the newest edit
    PRIMARY KEY (principal, source, request)
) WITHOUT ROWID;
CREATE INDEX requests_pieces ON requests (admission) WHERE piece <> '';

-- Why an unknown row was settled, by whom.
CREATE TABLE resolutions (
    admission TEXT    NOT NULL PRIMARY KEY,
    by_id     TEXT    NOT NULL,
    why       TEXT    NOT NULL,
    retry     TEXT    NOT NULL,
    at        INTEGER NOT NULL
) WITHOUT ROWID;

-- Counters of the conservation invariant: accepted, and terminal rows by result.
CREATE TABLE tally (
    name TEXT    NOT NULL PRIMARY KEY,
    n    INTEGER NOT NULL
) WITHOUT ROWID;

-- A released lease keeps its row, because generations never start again.
CREATE TABLE leases (
    conversation TEXT    NOT NULL PRIMARY KEY REFERENCES conversations (id),
    generation   INTEGER NOT NULL,
    token        TEXT    NOT NULL, -- empty: free
    turn         TEXT    NOT NULL,
    holder       TEXT    NOT NULL,
    ttl          INTEGER NOT NULL,
    acquired     INTEGER NOT NULL,
    expires      INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE messages (
    id           INTEGER PRIMARY KEY,
    conversation TEXT    NOT NULL REFERENCES conversations (id),
    session      TEXT    NOT NULL,
    admission    TEXT    NOT NULL DEFAULT '',
    turn         TEXT    NOT NULL DEFAULT '',
    role         TEXT    NOT NULL,
    content      TEXT    NOT NULL DEFAULT '',
    api_content  TEXT    NOT NULL DEFAULT '',
    reasoning    TEXT    NOT NULL DEFAULT '',
    calls        TEXT    NOT NULL DEFAULT '',
    call_id      TEXT    NOT NULL DEFAULT '',
    attachment   TEXT    NOT NULL DEFAULT '',
    synthetic    INTEGER NOT NULL DEFAULT 0,
    superseded   INTEGER NOT NULL DEFAULT 0,
    interim      INTEGER NOT NULL DEFAULT 0,
    at           INTEGER NOT NULL
);
CREATE UNIQUE INDEX messages_user ON messages (admission) WHERE role = 'user' AND admission <> '';
CREATE INDEX messages_session ON messages (session);
CREATE INDEX messages_conversation ON messages (conversation);

CREATE TABLE calls (
    conversation TEXT    NOT NULL REFERENCES conversations (id),
    id           TEXT    NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    place        INTEGER NOT NULL,
    name         TEXT    NOT NULL,
    args         TEXT    NOT NULL,
    effect       TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    recorded     INTEGER NOT NULL,
    changed      INTEGER NOT NULL,
    PRIMARY KEY (conversation, id)
) WITHOUT ROWID;

CREATE TABLE events (
    conversation TEXT    NOT NULL REFERENCES conversations (id),
    seq          INTEGER NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    at           INTEGER NOT NULL,
    PRIMARY KEY (conversation, seq)
) WITHOUT ROWID;

-- due is when the row may be taken by the outbox worker; null: it waits for nobody (finished, or live without a deadline).
CREATE TABLE deliveries (
    n            INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    conversation TEXT    NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    target       TEXT    NOT NULL, -- platform, chat and thread of route: order is kept per target
    route        TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    buttons      TEXT    NOT NULL,
    media        TEXT    NOT NULL,
    question     TEXT    NOT NULL,
    parts        TEXT    NOT NULL,
    attempts     INTEGER NOT NULL,
    not_before   INTEGER NOT NULL,
    live_until   INTEGER NOT NULL,
    due          INTEGER,
    error        TEXT    NOT NULL,
    created      INTEGER NOT NULL,
    done         INTEGER NOT NULL
);
CREATE INDEX deliveries_admission ON deliveries (admission) WHERE admission <> '';
CREATE INDEX deliveries_question ON deliveries (question) WHERE question <> '';
CREATE INDEX deliveries_due ON deliveries (due) WHERE due IS NOT NULL;
CREATE INDEX deliveries_target ON deliveries (target, n) WHERE due IS NOT NULL;
CREATE INDEX deliveries_state ON deliveries (state);

CREATE TABLE questions (
    n            INTEGER PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    conversation TEXT    NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    call         TEXT    NOT NULL,
    ask          TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    answer       TEXT    NOT NULL,
    by_id        TEXT    NOT NULL,
    by_name      TEXT    NOT NULL,
    for_id       TEXT    NOT NULL,
    deadline     INTEGER NOT NULL,
    created      INTEGER NOT NULL,
    answered     INTEGER NOT NULL
);
CREATE INDEX questions_open ON questions (state) WHERE state = 'open';
CREATE INDEX questions_admission ON questions (conversation, admission);

CREATE TABLE cursors (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE grants (
    person  TEXT    NOT NULL PRIMARY KEY,
    name    TEXT    NOT NULL,
    admin   INTEGER NOT NULL,
    home    TEXT    NOT NULL,
    code    TEXT    NOT NULL,
    allowed INTEGER NOT NULL,
    owner   INTEGER NOT NULL,
    created INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE facts (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE probe (
    id INTEGER PRIMARY KEY,
    at INTEGER NOT NULL
);

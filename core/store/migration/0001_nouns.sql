-- Times are unix milliseconds, 0 is "never". Structures that are only carried are JSON in texts, which are given back byte
-- for byte. {Words} are what databases say differently; see dialect.go. Small tables that are always read by their key are
-- one tree instead of two ({tight}); rows that change often leave room in their page ({roomy}).

-- +goose Up
CREATE TABLE conversations (
    id          TEXT    NOT NULL PRIMARY KEY,
    key         TEXT    NOT NULL,
    owner       TEXT    NOT NULL,
    title       TEXT    NOT NULL DEFAULT '',
    surface     TEXT    NOT NULL DEFAULT '',
    grouped     {int}   NOT NULL DEFAULT 0,
    model       TEXT    NOT NULL DEFAULT '',
    busy        TEXT    NOT NULL DEFAULT '',
    route       TEXT    NOT NULL DEFAULT '',
    approved    TEXT    NOT NULL DEFAULT '',
    created     {int}   NOT NULL,
    updated     {int}   NOT NULL,
    session     TEXT    NOT NULL,                -- newest segment; its row is made by the first turn
    history     {int}   NOT NULL DEFAULT 0,      -- version of the transcript
    events      {int}   NOT NULL DEFAULT 0,      -- last reserved event number
    turns       {int}   NOT NULL DEFAULT 0,
    calls       {int}   NOT NULL DEFAULT 0,
    input       {int}   NOT NULL DEFAULT 0,
    output      {int}   NOT NULL DEFAULT 0,
    cache_read  {int}   NOT NULL DEFAULT 0,
    cache_write {int}   NOT NULL DEFAULT 0,
    reasoning   {int}   NOT NULL DEFAULT 0,
    cost        {real}  NOT NULL DEFAULT 0,
    estimated   {int}   NOT NULL DEFAULT 0
){tight}{roomy};
CREATE INDEX conversations_owner ON conversations (owner);

CREATE TABLE keys (
    key          TEXT{exact} NOT NULL PRIMARY KEY,
    conversation TEXT NOT NULL REFERENCES conversations (id)
){tight};
CREATE INDEX keys_conversation ON keys (conversation);

CREATE TABLE sessions (
    id            TEXT    NOT NULL PRIMARY KEY,
    conversation  TEXT    NOT NULL REFERENCES conversations (id),
    parent        TEXT    NOT NULL DEFAULT '',
    reason        TEXT    NOT NULL DEFAULT '',
    system_prompt TEXT    NOT NULL,
    model         TEXT    NOT NULL DEFAULT '',
    created       {int}   NOT NULL
);
CREATE INDEX sessions_conversation ON sessions (conversation);

{sequence}
-- n is the order of birth; seq is the order of running, which a retry inherits and a move permutes.
CREATE TABLE admissions (
    n            {serial} PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    conversation TEXT    REFERENCES conversations (id), -- null: an update without a place
    seq          {int}   NOT NULL,
    status       TEXT    NOT NULL CHECK (status IN ('queued', 'started', 'unknown', 'terminal')),
    open         {int}   NOT NULL, -- not terminal
    by_id        TEXT    NOT NULL,
    caps         {int}   NOT NULL,
    admin        {int}   NOT NULL,
    submission   TEXT    NOT NULL,
    raw          {bytes},
    routed       {int}   NOT NULL,            -- an answer is owed to a chat
    joins        TEXT    NOT NULL DEFAULT '', -- 'part' or 'album:ID': more may join while it waits
    hold         {int}   NOT NULL DEFAULT 0,
    turn         TEXT    NOT NULL DEFAULT '',
    generation   {int}   NOT NULL DEFAULT 0,
    retry_of     TEXT    NOT NULL DEFAULT '',
    resume       {int}   NOT NULL DEFAULT 0,
    result       TEXT    NOT NULL DEFAULT '',
    reason       TEXT    NOT NULL DEFAULT '',
    outcome      TEXT    NOT NULL DEFAULT '',
    trimmed      {int}   NOT NULL DEFAULT 0,
    created      {int}   NOT NULL,
    claimed      {int}   NOT NULL DEFAULT 0,
    settled      {int}   NOT NULL DEFAULT 0,
    CHECK ((open = 1) = (status <> 'terminal'))
){roomy};
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
    digest    {bytes}    NOT NULL,
    piece     TEXT    NOT NULL DEFAULT '', -- what this input added to a row that others join
    gone      {int}   NOT NULL DEFAULT 0,  -- deleted by its author while it waited
    edited    {int}   NOT NULL DEFAULT 0,  -- platform time of the newest edit
    PRIMARY KEY (principal, source, request)
){tight};
CREATE INDEX requests_pieces ON requests (admission) WHERE piece <> '';

-- Why an unknown row was settled, by whom.
CREATE TABLE resolutions (
    admission TEXT    NOT NULL PRIMARY KEY,
    by_id     TEXT    NOT NULL,
    why       TEXT    NOT NULL,
    retry     TEXT    NOT NULL,
    at        {int}   NOT NULL
){tight};

-- Counters of the conservation invariant: accepted, and terminal rows by result.
CREATE TABLE tally (
    name TEXT    NOT NULL PRIMARY KEY,
    n    {int}   NOT NULL
){tight};

-- A released lease keeps its row, because generations never start again.
CREATE TABLE leases (
    conversation TEXT    NOT NULL PRIMARY KEY REFERENCES conversations (id),
    generation   {int}   NOT NULL,
    token        TEXT    NOT NULL, -- empty: free
    turn         TEXT    NOT NULL,
    holder       TEXT    NOT NULL,
    ttl          {int}   NOT NULL,
    acquired     {int}   NOT NULL,
    expires      {int}   NOT NULL
){tight}{roomy};

CREATE TABLE messages (
    id           {serial} PRIMARY KEY,
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
    synthetic    {int}   NOT NULL DEFAULT 0,
    superseded   {int}   NOT NULL DEFAULT 0,
    interim      {int}   NOT NULL DEFAULT 0,
    at           {int}   NOT NULL
);
CREATE UNIQUE INDEX messages_user ON messages (admission) WHERE role = 'user' AND admission <> '';
CREATE INDEX messages_session ON messages (session);
CREATE INDEX messages_conversation ON messages (conversation);

CREATE TABLE calls (
    conversation TEXT    NOT NULL REFERENCES conversations (id),
    id           TEXT    NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    place        {int}   NOT NULL,
    name         TEXT    NOT NULL,
    args         TEXT    NOT NULL,
    effect       TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    recorded     {int}   NOT NULL,
    changed      {int}   NOT NULL,
    PRIMARY KEY (conversation, id)
){tight};

CREATE TABLE events (
    conversation TEXT    NOT NULL REFERENCES conversations (id),
    seq          {int}   NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    body         TEXT    NOT NULL,
    at           {int}   NOT NULL,
    PRIMARY KEY (conversation, seq)
){tight};

-- due is when the row may be taken by the outbox worker; null: it waits for nobody (finished, or live without a deadline).
CREATE TABLE deliveries (
    n            {serial} PRIMARY KEY,
    id           TEXT    NOT NULL UNIQUE,
    conversation TEXT    NOT NULL,
    admission    TEXT    NOT NULL,
    turn         TEXT    NOT NULL,
    kind         TEXT    NOT NULL,
    state        TEXT    NOT NULL,
    target       TEXT{exact} NOT NULL, -- platform, chat and thread of route: order is kept per target
    route        TEXT    NOT NULL,
    text         TEXT    NOT NULL,
    buttons      TEXT    NOT NULL,
    media        TEXT    NOT NULL,
    question     TEXT    NOT NULL,
    parts        TEXT    NOT NULL,
    attempts     {int}   NOT NULL,
    not_before   {int}   NOT NULL,
    live_until   {int}   NOT NULL,
    due          {int},
    error        TEXT    NOT NULL,
    created      {int}   NOT NULL,
    done         {int}   NOT NULL
){roomy};
CREATE INDEX deliveries_admission ON deliveries (admission) WHERE admission <> '';
CREATE INDEX deliveries_question ON deliveries (question) WHERE question <> '';
CREATE INDEX deliveries_due ON deliveries (due) WHERE due IS NOT NULL;
CREATE INDEX deliveries_target ON deliveries (target, n) WHERE due IS NOT NULL;
CREATE INDEX deliveries_state ON deliveries (state);

CREATE TABLE questions (
    n            {serial} PRIMARY KEY,
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
    deadline     {int}   NOT NULL,
    created      {int}   NOT NULL,
    answered     {int}   NOT NULL
);
CREATE INDEX questions_open ON questions (state) WHERE state = 'open';
CREATE INDEX questions_admission ON questions (conversation, admission);

CREATE TABLE cursors (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
){tight};

CREATE TABLE grants (
    person  TEXT    NOT NULL PRIMARY KEY,
    name    TEXT    NOT NULL,
    admin   {int}   NOT NULL,
    home    TEXT    NOT NULL,
    code    TEXT    NOT NULL,
    allowed {int}   NOT NULL,
    owner   {int}   NOT NULL,
    created {int}   NOT NULL
){tight};

CREATE TABLE facts (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
){tight};

CREATE TABLE probe (
    id {serial} PRIMARY KEY,
    at {int}   NOT NULL
);

-- Version 1. Ids are 16 bytes in the order of ULIDs, hashes 32 bytes, times microseconds since 1970.
-- A lease lies in the row of what it is on, so that one guarded statement checks it and writes.

CREATE TABLE plans (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    name       TEXT UNIQUE,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL CHECK (version >= 1),
    undo_of    BLOB,                -- no reference: the undone plan may be removed
    roots      TEXT NOT NULL,       -- JSON
    detail     TEXT NOT NULL,       -- JSON
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    owner      TEXT,
    epoch      INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER,
    CHECK ((owner IS NULL) = (expires_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX plans_by_age ON plans (created_at, id);

CREATE TABLE nodes (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    plan       BLOB NOT NULL REFERENCES plans (id),
    name       TEXT NOT NULL,
    state      TEXT NOT NULL,
    version    INTEGER NOT NULL CHECK (version >= 1),
    detail     TEXT NOT NULL,       -- JSON
    changed_by TEXT NOT NULL,
    changed_at INTEGER NOT NULL,
    owner      TEXT,
    epoch      INTEGER NOT NULL DEFAULT 0,
    expires_at INTEGER,
    UNIQUE (plan, name),
    CHECK ((owner IS NULL) = (expires_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE TABLE changesets (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    plan       BLOB NOT NULL REFERENCES plans (id),
    node       BLOB REFERENCES nodes (id),
    actor      TEXT NOT NULL,
    status     TEXT NOT NULL CHECK (status IN ('open', 'sealed', 'abandoned')),
    entries    INTEGER NOT NULL DEFAULT 0 CHECK (entries >= 0),
    digest     BLOB NOT NULL DEFAULT (zeroblob(32)) CHECK (length(digest) = 32),
    first_id   INTEGER NOT NULL DEFAULT 0,  -- of its entries
    last_id    INTEGER NOT NULL DEFAULT 0,
    started_at INTEGER NOT NULL,
    ended_at   INTEGER,
    reason     TEXT,
    owner      TEXT,
    epoch      INTEGER NOT NULL,
    expires_at INTEGER,
    CHECK ((owner IS NULL) = (expires_at IS NULL)),
    CHECK ((status = 'open') = (ended_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX changesets_of_plan ON changesets (plan, started_at, id);
CREATE INDEX changesets_of_node ON changesets (node) WHERE node IS NOT NULL;

-- In the order in which they were recorded, whoever recorded them: what is written together lies together, at the end of the table. No
-- reference to the changeset is declared: the transaction that records has its row in hand.
CREATE TABLE entries (
    id          INTEGER PRIMARY KEY,
    changeset   BLOB NOT NULL,
    sequence    INTEGER NOT NULL CHECK (sequence >= 1),
    request     BLOB,               -- in the first entry of a recording
    at          INTEGER NOT NULL,
    before_blob BLOB,
    after_blob  BLOB,
    form        TEXT NOT NULL       -- JSON: [root, path, operation, before, after, tool]; of contents [kind, bytes, mode]
) STRICT;

-- By blocks of 512 entries. An index by changeset alone would have a page of its own for each of many that are recorded into at the same
-- time; here they share those of the block. A changeset's row says between which ids, and so in which blocks, its entries are.
CREATE INDEX entries_of_changeset ON entries (id >> 9, changeset, sequence);

-- Finds what a request recorded, so that asking again records nothing. Ids grow with time, so new ones come to the end.
CREATE UNIQUE INDEX entries_of_request ON entries (request, changeset) WHERE request IS NOT NULL;

-- A content of one chunk is in its row; of a longer one the chunks are in blob_chunks under its upload id.
-- Entries refer to contents by hash. No reference is declared: it would need two indices on every entry. The check is made in the
-- transaction that records, and collecting looks at all entries in the transaction that removes; writers come one after the other.
CREATE TABLE blobs (
    number     INTEGER PRIMARY KEY,
    hash       BLOB NOT NULL UNIQUE CHECK (length(hash) = 32),
    bytes      INTEGER NOT NULL,
    chunks     INTEGER NOT NULL CHECK (chunks >= 1),
    codec      INTEGER,             -- 0 plain, 1 zstd; of a content of one chunk
    data       BLOB,
    upload     BLOB,                -- of a longer one
    touched_at INTEGER NOT NULL,
    CHECK ((data IS NULL) = (codec IS NULL)),
    CHECK ((data IS NULL) = (upload IS NOT NULL))
) STRICT;

CREATE TABLE uploads (
    id         BLOB PRIMARY KEY CHECK (length(id) = 16),
    touched_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE blob_chunks (
    upload BLOB NOT NULL,
    number INTEGER NOT NULL CHECK (number >= 0),
    bytes  INTEGER NOT NULL,
    codec  INTEGER NOT NULL,
    data   BLOB NOT NULL,
    UNIQUE (upload, number)
) STRICT;

-- The plan of a chain may be gone: its audit stays.
CREATE TABLE audit (
    plan     BLOB NOT NULL,
    sequence INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    request  BLOB,
    kind     TEXT NOT NULL,
    who      TEXT NOT NULL,
    body     TEXT NOT NULL,
    previous BLOB NOT NULL,
    hash     BLOB NOT NULL,
    PRIMARY KEY (plan, sequence)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX audit_of_request ON audit (request) WHERE request IS NOT NULL;

CREATE TABLE audit_heads (
    plan     BLOB PRIMARY KEY,
    sequence INTEGER NOT NULL,
    hash     BLOB NOT NULL
) STRICT, WITHOUT ROWID;

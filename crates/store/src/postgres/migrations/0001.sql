-- Version 1. Ids are ULIDs as uuid, which have the same order; hashes 32 bytes; times by the server's clock. JSON is text: jsonb would
-- not keep the letters that were hashed.
-- A lease lies in the row of what it is on, so that one guarded statement checks it and writes.

CREATE TABLE plans (
    id         uuid PRIMARY KEY,
    name       text UNIQUE,
    state      text NOT NULL,
    version    bigint NOT NULL CHECK (version >= 1),
    undo_of    uuid,                -- no reference: the undone plan may be removed
    roots      text NOT NULL,       -- JSON
    detail     text NOT NULL,       -- JSON
    created_by text NOT NULL,
    created_at timestamptz NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    owner      text,
    epoch      bigint NOT NULL DEFAULT 0,
    expires_at timestamptz,
    CHECK ((owner IS NULL) = (expires_at IS NULL))
);

CREATE INDEX plans_by_age ON plans (created_at, id);

CREATE TABLE nodes (
    id         uuid PRIMARY KEY,
    plan       uuid NOT NULL REFERENCES plans (id),
    name       text NOT NULL,
    state      text NOT NULL,
    version    bigint NOT NULL CHECK (version >= 1),
    detail     text NOT NULL,       -- JSON
    changed_by text NOT NULL,
    changed_at timestamptz NOT NULL,
    owner      text,
    epoch      bigint NOT NULL DEFAULT 0,
    expires_at timestamptz,
    UNIQUE (plan, name),
    CHECK ((owner IS NULL) = (expires_at IS NULL))
);

-- Room in each page: a changeset's row is written anew with each recording, and then stays in its page without touching an index.
CREATE TABLE changesets (
    id         uuid PRIMARY KEY,
    plan       uuid NOT NULL REFERENCES plans (id),
    node       uuid REFERENCES nodes (id),
    actor      text NOT NULL,
    status     text NOT NULL CHECK (status IN ('open', 'sealed', 'abandoned')),
    entries    bigint NOT NULL DEFAULT 0 CHECK (entries >= 0),
    digest     bytea NOT NULL CHECK (length(digest) = 32),
    started_at timestamptz NOT NULL,
    ended_at   timestamptz,
    reason     bytea,               -- UTF-8; text could not hold every character
    owner      text,
    epoch      bigint NOT NULL,
    expires_at timestamptz,
    CHECK ((owner IS NULL) = (expires_at IS NULL)),
    CHECK ((status = 'open') = (ended_at IS NULL))
) WITH (fillfactor = 50);

CREATE INDEX changesets_of_plan ON changesets (plan, started_at, id);
CREATE INDEX changesets_of_node ON changesets (node) WHERE node IS NOT NULL;

-- No reference to the changeset is declared: the transaction that records has its row locked.
CREATE TABLE entries (
    changeset   uuid NOT NULL,
    sequence    bigint NOT NULL CHECK (sequence >= 1),
    request     uuid,               -- in the first entry of a recording
    at          timestamptz NOT NULL,
    before_blob bytea,
    after_blob  bytea,
    form        text NOT NULL,      -- JSON: [root, path, operation, before, after, tool]; of contents [kind, bytes, mode]
    PRIMARY KEY (changeset, sequence)
);

-- Finds what a request recorded, so that asking again records nothing.
CREATE UNIQUE INDEX entries_of_request ON entries (request, changeset) WHERE request IS NOT NULL;

-- A content of one chunk is in its row; of a longer one the chunks are in blob_chunks under its upload id.
-- Entries refer to contents by hash. No reference is declared: it would need two indices on every entry. Who records holds a shared lock
-- on the rows of the contents, and who removes takes an exclusive one before it looks at the entries.
CREATE TABLE blobs (
    hash       bytea PRIMARY KEY CHECK (length(hash) = 32),
    bytes      bigint NOT NULL,
    chunks     bigint NOT NULL CHECK (chunks >= 1),
    codec      smallint,            -- 0 plain, 1 zstd; of a content of one chunk
    data       bytea,
    upload     uuid,                -- of a longer one
    touched_at timestamptz NOT NULL,
    CHECK ((data IS NULL) = (codec IS NULL)),
    CHECK ((data IS NULL) = (upload IS NOT NULL))
);

-- It is compressed already.
ALTER TABLE blobs ALTER COLUMN data SET STORAGE EXTERNAL;

CREATE TABLE uploads (
    id         uuid PRIMARY KEY,
    touched_at timestamptz NOT NULL
);

CREATE TABLE blob_chunks (
    upload uuid NOT NULL,
    number bigint NOT NULL CHECK (number >= 0),
    bytes  bigint NOT NULL,
    codec  smallint NOT NULL,
    data   bytea NOT NULL,
    PRIMARY KEY (upload, number)
);

ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;

-- The plan of a chain may be gone: its audit stays.
CREATE TABLE audit (
    plan     uuid NOT NULL,
    sequence bigint NOT NULL,
    at       timestamptz NOT NULL,
    request  uuid,
    kind     text NOT NULL,
    who      text NOT NULL,
    body     text NOT NULL,
    previous bytea NOT NULL,
    hash     bytea NOT NULL,
    PRIMARY KEY (plan, sequence)
);

CREATE UNIQUE INDEX audit_of_request ON audit (request) WHERE request IS NOT NULL;

CREATE TABLE audit_heads (
    plan     uuid PRIMARY KEY,
    sequence bigint NOT NULL,
    hash     bytea NOT NULL
);

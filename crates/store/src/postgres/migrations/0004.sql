-- Version 4. The rules of changesets and entries are constraints again, and `record` locks the rows of changesets by id, as all others do.

ALTER TABLE changesets
    ADD CONSTRAINT changesets_status_check CHECK (status IN ('open', 'sealed', 'abandoned')),
    ADD CONSTRAINT changesets_entries_check CHECK (entries >= 0),
    ADD CONSTRAINT changesets_digest_check CHECK (length(digest) = 32),
    ADD CONSTRAINT changesets_lease_check CHECK ((owner IS NULL) = (expires_at IS NULL)),
    ADD CONSTRAINT changesets_end_check CHECK ((status = 'open') = (ended_at IS NULL));
ALTER TABLE entries ADD CONSTRAINT entries_sequence_check CHECK (sequence >= 1);

-- Nothing is changed when a changeset is not as it was known, a content is not there, or the caller's clock is not near the server's. The
-- answer is false, or an error where something has to be taken back; the caller looks at what is there then.
CREATE OR REPLACE FUNCTION record(
    moment timestamptz,
    -- Changesets, by id: as they are known, and what they become.
    ids uuid[], epochs bigint[], old_counts bigint[], old_digests bytea[], new_counts bigint[], new_digests bytea[],
    -- Entries.
    changesets uuid[], sequences bigint[], requests uuid[], befores bytea[], afters bytea[], forms text[],
    -- Contents that must be there afterwards, and those of them that are brought.
    hashes bytea[], lengths bigint[], new_hashes bytea[], new_lengths bigint[], new_codecs smallint[], new_contents bytea[]
) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    rows bigint;
BEGIN
    IF clock_timestamp() NOT BETWEEN moment - interval '1 second' AND moment + interval '1 second' THEN
        RETURN false;
    END IF;
    -- What is asked for most is one statement.
    IF cardinality(ids) = 1 AND cardinality(forms) = 1 AND cardinality(hashes) = 0 THEN
        WITH target AS (
            UPDATE agents.changesets AS c SET entries = new_counts[1], digest = new_digests[1]
            WHERE c.id = ids[1] AND c.epoch = epochs[1] AND c.status = 'open' AND c.entries = old_counts[1]
              AND c.digest = old_digests[1]
            RETURNING c.id)
        INSERT INTO agents.entries (changeset, sequence, request, at, before_blob, after_blob, form)
        SELECT t.id, sequences[1], requests[1], moment, befores[1], afters[1], forms[1] FROM target AS t;
        RETURN FOUND;
    END IF;
    -- Locked by id first: the update alone would lock rows in the order in which it comes upon them.
    PERFORM FROM agents.changesets AS c WHERE c.id = ANY (ids) ORDER BY c.id FOR NO KEY UPDATE;
    -- The ids are sorted, so `width_bucket` finds their places. A digest is of all entries: where it is the same, so is their count.
    UPDATE agents.changesets AS c
    SET entries = new_counts[width_bucket(c.id, ids)], digest = new_digests[width_bucket(c.id, ids)]
    WHERE c.id = ANY (ids) AND c.status = 'open'
      AND c.epoch = epochs[width_bucket(c.id, ids)]
      AND c.digest = old_digests[width_bucket(c.id, ids)];
    GET DIAGNOSTICS rows = ROW_COUNT;
    IF rows <> cardinality(ids) THEN
        RAISE EXCEPTION 'a changeset is not as it was known: what is there will be looked at';
    END IF;
    IF cardinality(new_hashes) > 0 THEN
        INSERT INTO agents.blobs (hash, bytes, chunks, codec, data, touched_at)
        SELECT n.hash, n.bytes, 1, n.codec, n.data, moment
        FROM unnest(new_hashes, new_lengths, new_codecs, new_contents) AS n (hash, bytes, codec, data)
        ON CONFLICT (hash) DO NOTHING;
    END IF;
    IF cardinality(hashes) > 0 THEN
        PERFORM FROM agents.blobs AS b JOIN unnest(hashes, lengths) AS n (hash, bytes) ON b.hash = n.hash AND b.bytes = n.bytes
            ORDER BY b.hash FOR KEY SHARE OF b;
        GET DIAGNOSTICS rows = ROW_COUNT;
        IF rows <> cardinality(hashes) THEN
            RAISE EXCEPTION 'a content is not as it was known: what is there will be looked at';
        END IF;
    END IF;
    INSERT INTO agents.entries (changeset, sequence, request, at, before_blob, after_blob, form)
    SELECT unnest(changesets), unnest(sequences), unnest(requests), moment, unnest(befores), unnest(afters), unnest(forms);
    RETURN true;
END
$$;

-- Version 2. Recordings into changesets whose rows the caller knows: all of them or none, in one call. The server keeps the plans of
-- what is in a function, so that a call costs no planning although nothing is prepared.
--
-- Nothing is changed and the answer is false when a changeset is not as it was known, a content is not there, or the caller's clock is
-- not near the server's. Locks are taken in the order that all keep: changesets by id, then contents by hash.

CREATE FUNCTION record(
    moment timestamptz,
    -- Changesets: as they are known, and what they become.
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
    PERFORM FROM agents.changesets AS c
        JOIN unnest(ids, epochs, old_counts, old_digests) AS k (id, epoch, entries, digest)
          ON c.id = k.id AND c.epoch = k.epoch AND c.entries = k.entries AND c.digest = k.digest
        WHERE c.status = 'open'
        ORDER BY c.id FOR NO KEY UPDATE OF c;
    GET DIAGNOSTICS rows = ROW_COUNT;
    IF rows <> cardinality(ids) THEN
        RETURN false;
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
            RETURN false;
        END IF;
    END IF;
    UPDATE agents.changesets AS c SET entries = k.entries, digest = k.digest
    FROM unnest(ids, new_counts, new_digests) AS k (id, entries, digest)
    WHERE c.id = k.id;
    INSERT INTO agents.entries (changeset, sequence, request, at, before_blob, after_blob, form)
    SELECT n.changeset, n.sequence, n.request, moment, n.before_blob, n.after_blob, n.form
    FROM unnest(changesets, sequences, requests, befores, afters, forms)
        AS n (changeset, sequence, request, before_blob, after_blob, form);
    RETURN true;
END
$$;

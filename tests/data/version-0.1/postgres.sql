--
-- PostgreSQL database dump
--


-- Dumped from database version 15.18 (Debian 15.18-0+deb12u1)
-- Dumped by pg_dump version 15.18 (Debian 15.18-0+deb12u1)

SET statement_timeout = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET client_encoding = 'UTF8';
SET standard_conforming_strings = on;
SELECT pg_catalog.set_config('search_path', '', false);
SET check_function_bodies = false;
SET xmloption = content;
SET client_min_messages = warning;
SET row_security = off;

--
-- Name: agents; Type: SCHEMA; Schema: -; Owner: -
--

CREATE SCHEMA agents;


--
-- Name: record(timestamp with time zone, uuid[], bigint[], bigint[], bytea[], bigint[], bytea[], uuid[], bigint[], uuid[], bytea[], bytea[], text[], bytea[], bigint[], bytea[], bigint[], smallint[], bytea[]); Type: FUNCTION; Schema: agents; Owner: -
--

CREATE FUNCTION agents.record(moment timestamp with time zone, ids uuid[], epochs bigint[], old_counts bigint[], old_digests bytea[], new_counts bigint[], new_digests bytea[], changesets uuid[], sequences bigint[], requests uuid[], befores bytea[], afters bytea[], forms text[], hashes bytea[], lengths bigint[], new_hashes bytea[], new_lengths bigint[], new_codecs smallint[], new_contents bytea[]) RETURNS boolean
    LANGUAGE plpgsql
    AS $$
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


SET default_tablespace = '';

SET default_table_access_method = heap;

--
-- Name: audit; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.audit (
    plan uuid NOT NULL,
    sequence bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    request uuid,
    kind text NOT NULL,
    who text NOT NULL,
    body text NOT NULL,
    previous bytea NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: audit_heads; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.audit_heads (
    plan uuid NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL
);


--
-- Name: blob_chunks; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.blob_chunks (
    upload uuid NOT NULL,
    number bigint NOT NULL,
    bytes bigint NOT NULL,
    codec smallint NOT NULL,
    data bytea NOT NULL,
    CONSTRAINT blob_chunks_number_check CHECK ((number >= 0))
);
ALTER TABLE ONLY agents.blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;


--
-- Name: blobs; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.blobs (
    hash bytea NOT NULL,
    bytes bigint NOT NULL,
    chunks bigint NOT NULL,
    codec smallint,
    data bytea,
    upload uuid,
    touched_at timestamp with time zone NOT NULL,
    CONSTRAINT blobs_check CHECK (((data IS NULL) = (codec IS NULL))),
    CONSTRAINT blobs_check1 CHECK (((data IS NULL) = (upload IS NOT NULL))),
    CONSTRAINT blobs_chunks_check CHECK ((chunks >= 1)),
    CONSTRAINT blobs_hash_check CHECK ((length(hash) = 32))
);
ALTER TABLE ONLY agents.blobs ALTER COLUMN data SET STORAGE EXTERNAL;


--
-- Name: changesets; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.changesets (
    id uuid NOT NULL,
    plan uuid NOT NULL,
    node uuid,
    actor text NOT NULL,
    status text NOT NULL,
    entries bigint DEFAULT 0 NOT NULL,
    digest bytea NOT NULL,
    started_at timestamp with time zone NOT NULL,
    ended_at timestamp with time zone,
    reason bytea,
    owner text,
    epoch bigint NOT NULL,
    expires_at timestamp with time zone
)
WITH (fillfactor='50');


--
-- Name: entries; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.entries (
    changeset uuid NOT NULL,
    sequence bigint NOT NULL,
    request uuid,
    at timestamp with time zone NOT NULL,
    before_blob bytea,
    after_blob bytea,
    form text NOT NULL
);


--
-- Name: nodes; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.nodes (
    id uuid NOT NULL,
    plan uuid NOT NULL,
    name text NOT NULL,
    state text NOT NULL,
    version bigint NOT NULL,
    detail text NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    owner text,
    epoch bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT nodes_check CHECK (((owner IS NULL) = (expires_at IS NULL))),
    CONSTRAINT nodes_version_check CHECK ((version >= 1))
);


--
-- Name: plans; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.plans (
    id uuid NOT NULL,
    name text,
    state text NOT NULL,
    version bigint NOT NULL,
    undo_of uuid,
    roots text NOT NULL,
    detail text NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone NOT NULL,
    changed_by text NOT NULL,
    changed_at timestamp with time zone NOT NULL,
    owner text,
    epoch bigint DEFAULT 0 NOT NULL,
    expires_at timestamp with time zone,
    CONSTRAINT plans_check CHECK (((owner IS NULL) = (expires_at IS NULL))),
    CONSTRAINT plans_version_check CHECK ((version >= 1))
);


--
-- Name: uploads; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.uploads (
    id uuid NOT NULL,
    touched_at timestamp with time zone NOT NULL
);


--
-- Name: versions; Type: TABLE; Schema: agents; Owner: -
--

CREATE TABLE agents.versions (
    version bigint NOT NULL
);


--
-- Data for Name: audit; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.audit (plan, sequence, at, request, kind, who, body, previous, hash) FROM stdin;
01a1ed1b-2205-11f3-274f-413e47cdac19	1	2026-11-18 05:22:20.805252+00	\N	plan.created	ana	{"name":"queued","roots":["/tmp/agents-0.1-postgres/roots/queued"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xfb16ef4d5f51acbd0c12390587854eb3e027f59acaf6312046534dae23d45ec9
01a1ed1b-2217-2264-69d4-8972d11f9117	1	2026-11-18 05:22:20.823673+00	\N	plan.created	ana	{"name":"running","roots":["/tmp/agents-0.1-postgres/roots/running"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x296879717e8d6e775388cb14af899ffc8ca2668813ea7549c9f1b1ff5ac4fe92
01a1ed1b-2217-2264-69d4-8972d11f9117	2	2026-11-18 05:22:20.852465+00	01a1ed1b-2234-b437-8538-80f0b5a887a1	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHP8GQ49J6KN49EB8HZ48Q","to":"running","version":2}	\\x296879717e8d6e775388cb14af899ffc8ca2668813ea7549c9f1b1ff5ac4fe92	\\xae13dcb52a67f4ca1dcd94bc8a1b76534dc1282117e411169d066d6c3e0fce20
01a1ed1b-2217-2264-69d4-8972d11f9117	3	2026-11-18 05:22:20.867811+00	\N	changeset.started	ana	{"changeset":"01M7PHP8HK1JYW6VAFD9MQ5C3Y","node":null,"owner":"process 7 (148137/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP8HH39BDQV5GMYJF9J1N"}	\\xae13dcb52a67f4ca1dcd94bc8a1b76534dc1282117e411169d066d6c3e0fce20	\\x76547214215e742d961ed4afa02d1ae721f4182ab5dcad4a56a5a64ad0693992
01a1ed1b-229d-6763-725f-736c276c2f27	1	2026-11-18 05:22:20.958022+00	\N	plan.created	ana	{"name":"ready","roots":["/tmp/agents-0.1-postgres/roots/ready"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x9ac40f1ff57aaf179531f7ef0b7054de88e94f0c81e17db25c8a8d649f036181
01a1ed1b-229d-6763-725f-736c276c2f27	2	2026-11-18 05:22:20.988653+00	01a1ed1b-22bc-cf59-aa0c-7af6b33fe619	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHP8MXCXHQ4QVKDGKPRBS7","to":"running","version":2}	\\x9ac40f1ff57aaf179531f7ef0b7054de88e94f0c81e17db25c8a8d649f036181	\\xfe342a51cf77f8e4164f2d7ff3ed5f97f9e9c3ba609337b6beb77a182a9fad1e
01a1ed1b-229d-6763-725f-736c276c2f27	3	2026-11-18 05:22:20.997168+00	\N	changeset.started	ana	{"changeset":"01M7PHP8NV1DYM8K54F1TN7TYK","node":null,"owner":"process 13 (148151/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP8NSKRV7W26VC6FTTJ2A"}	\\xfe342a51cf77f8e4164f2d7ff3ed5f97f9e9c3ba609337b6beb77a182a9fad1e	\\xb98f5e0a6929ad6259afe2db42ead8dfbb40af3d532d0b232ffd9eadaaf08d39
01a1ed1b-229d-6763-725f-736c276c2f27	4	2026-11-18 05:22:21.097453+00	\N	changeset.sealed	ana	{"changeset":"01M7PHP8NV1DYM8K54F1TN7TYK","digest":"8a472c84cb3c08b92c1e37663f57203a7415de958bc5c8b659a9cc1ef95a25f0","entries":2,"reason":null}	\\xb98f5e0a6929ad6259afe2db42ead8dfbb40af3d532d0b232ffd9eadaaf08d39	\\xa781fb64d86e6e3f0726e104d2e25a52d38a48ac443236fc270a8e9be8c105db
01a1ed1b-229d-6763-725f-736c276c2f27	5	2026-11-18 05:22:21.10106+00	01a1ed1b-232c-9b57-1aa1-9a17f4ceeef6	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHP8MXCXHQ4QVKDGKPRBS7","to":"ready","version":3}	\\xa781fb64d86e6e3f0726e104d2e25a52d38a48ac443236fc270a8e9be8c105db	\\xd777dc70a7b25a0532c760d7aad9ec72a31cc5dbcb8a1ea140e946a9e904ecd7
01a1ed1b-229d-6763-725f-736c276c2f27	6	2026-11-18 05:22:21.117777+00	01a1ed1b-233d-26aa-226d-1922eb885e32	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHP8MXCXHQ4QVKDGKPRBS7","to":"running","version":4}	\\xd777dc70a7b25a0532c760d7aad9ec72a31cc5dbcb8a1ea140e946a9e904ecd7	\\xb82f3d11bc643c21b603ee299c3b28fda79d5114781f77312eca69121930cf68
01a1ed1b-229d-6763-725f-736c276c2f27	7	2026-11-18 05:22:21.121035+00	\N	changeset.started	bob	{"changeset":"01M7PHP8SX4TN24V8S4BNRGQHH","node":null,"owner":"process 19 (148165/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP8SRY43C7C4E9XJZ6KDG"}	\\xb82f3d11bc643c21b603ee299c3b28fda79d5114781f77312eca69121930cf68	\\x4bbd35049fcfd961b3acfba70080bccaf1b46978cda5b26e27f5744cfb43df4e
01a1ed1b-229d-6763-725f-736c276c2f27	8	2026-11-18 05:22:21.225367+00	\N	changeset.sealed	bob	{"changeset":"01M7PHP8SX4TN24V8S4BNRGQHH","digest":"682a83775be5a69937c821316269f617a29dd14aa83c51330a33f8a03ea58d97","entries":3,"reason":null}	\\x4bbd35049fcfd961b3acfba70080bccaf1b46978cda5b26e27f5744cfb43df4e	\\x2bddc3cb33cfbec32487476aedfd43761210726eca58beffadbfa83a7391c381
01a1ed1b-229d-6763-725f-736c276c2f27	9	2026-11-18 05:22:21.244998+00	01a1ed1b-23bc-ecd6-c76b-c20115366867	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHP8MXCXHQ4QVKDGKPRBS7","to":"ready","version":5}	\\x2bddc3cb33cfbec32487476aedfd43761210726eca58beffadbfa83a7391c381	\\xe7fc16f052e363abce0dd57b85946879601c02e7cc9c0875d43357867468a227
01a1ed1b-229d-6763-725f-736c276c2f27	10	2026-11-18 05:22:21.269186+00	01a1ed1b-23d5-0ff0-ab86-0aae1a3cbdf0	plan.step	carl	{"from":"ready","note":null,"plan":"01M7PHP8MXCXHQ4QVKDGKPRBS7","to":"running","version":6}	\\xe7fc16f052e363abce0dd57b85946879601c02e7cc9c0875d43357867468a227	\\x5bb7412fd0295727da073bad03e3adbce285e2105483bcc267f890cb03264d72
01a1ed1b-229d-6763-725f-736c276c2f27	11	2026-11-18 05:22:21.277316+00	\N	changeset.started	carl	{"changeset":"01M7PHP8YM87JQA7FN1TFHMSZ7","node":null,"owner":"process 28 (148179/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP8YF4P1B3Q1JPX4JMS0H"}	\\x5bb7412fd0295727da073bad03e3adbce285e2105483bcc267f890cb03264d72	\\x793232adb55826514d8c1c214051f7a9d0c25b21e53f37ebbaf53e47d711abf2
01a1ed1b-229d-6763-725f-736c276c2f27	12	2026-11-18 05:22:21.714861+00	\N	changeset.sealed	carl	{"changeset":"01M7PHP8YM87JQA7FN1TFHMSZ7","digest":"fd1e921e6d403b0e3bafe9c8834c58812e779397706b8a7382f89e63e37aeba7","entries":4,"reason":null}	\\x793232adb55826514d8c1c214051f7a9d0c25b21e53f37ebbaf53e47d711abf2	\\xbe3328e9b6e6d82ec4b0012ff7c518777c672fac6efce821283a2780a99300d6
01a1ed1b-229d-6763-725f-736c276c2f27	13	2026-11-18 05:22:21.718808+00	01a1ed1b-2596-6a85-094a-3210df15e37e	plan.step	carl	{"from":"running","note":null,"plan":"01M7PHP8MXCXHQ4QVKDGKPRBS7","to":"ready","version":7}	\\xbe3328e9b6e6d82ec4b0012ff7c518777c672fac6efce821283a2780a99300d6	\\x6ce95e0567047a276b4c3ff09e6db8e5550098617d36e6e1736083a9bb367f35
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	1	2026-11-18 05:22:21.747086+00	\N	plan.created	ana	{"name":"clash","roots":["/tmp/agents-0.1-postgres/roots/clash"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x4826f9d9bf6337cf1fc9f407d98e0705659a3f1c10d94610add1e6dbcf6ad503
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	2	2026-11-18 05:22:21.774229+00	01a1ed1b-25ce-7dcd-aec9-e3a7b3c37069	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHP9DJGZ9YKP0JFD9NQZ98","to":"running","version":2}	\\x4826f9d9bf6337cf1fc9f407d98e0705659a3f1c10d94610add1e6dbcf6ad503	\\x922bc74d0ab30bccbb085ca6cbb68b4704155a8dd83d294648e08a08302cefef
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	3	2026-11-18 05:22:21.777004+00	\N	changeset.started	ana	{"changeset":"01M7PHP9EDM6ZDMNQEJ71ZWGF4","node":null,"owner":"process 42 (148230/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP9E6GTH6VFCC4X9VYV4B"}	\\x922bc74d0ab30bccbb085ca6cbb68b4704155a8dd83d294648e08a08302cefef	\\x219ee3e5e7f06067fa0c120cba90c3b85d9d85625d8fe26781dab3721456a2b5
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	4	2026-11-18 05:22:21.877369+00	\N	changeset.sealed	ana	{"changeset":"01M7PHP9EDM6ZDMNQEJ71ZWGF4","digest":"91d692ccf24a9d82e6d9e3713221afb21630c793cace02350f9c6711d60b9645","entries":1,"reason":null}	\\x219ee3e5e7f06067fa0c120cba90c3b85d9d85625d8fe26781dab3721456a2b5	\\x421f8fbe68529770c007bb5700801a7e9d88218980e6bd7bc35173699763b9f1
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	5	2026-11-18 05:22:21.890537+00	01a1ed1b-2642-e2c5-69b8-d0b8c102e4f1	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHP9DJGZ9YKP0JFD9NQZ98","to":"ready","version":3}	\\x421f8fbe68529770c007bb5700801a7e9d88218980e6bd7bc35173699763b9f1	\\x1ba8de9b55fb0e3640fff2c6e5df696496b6b0d09a67d4807dbbf582c3796b22
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	6	2026-11-18 05:22:21.920524+00	01a1ed1b-2660-42c6-50d1-efe7649e7d0a	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHP9DJGZ9YKP0JFD9NQZ98","to":"running","version":4}	\\x1ba8de9b55fb0e3640fff2c6e5df696496b6b0d09a67d4807dbbf582c3796b22	\\x5f6dfaa77dfecf5452248d337eadb34e450ee61b164197dc17c3142c479fcd6e
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	7	2026-11-18 05:22:21.925029+00	\N	changeset.started	bob	{"changeset":"01M7PHP9JZQFC4YVKXGYB3SA51","node":null,"owner":"process 47 (148244/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP9JVJ00NAN1FP2ZQR758"}	\\x5f6dfaa77dfecf5452248d337eadb34e450ee61b164197dc17c3142c479fcd6e	\\x924a1296c6567a7c2cac95e6574bbca0507742e9a27fdd7e77a164742df27aea
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	8	2026-11-18 05:22:21.97737+00	\N	changeset.sealed	bob	{"changeset":"01M7PHP9JZQFC4YVKXGYB3SA51","digest":"fb5bf5205ae851b17bfd4ccd7e835e7840761396025d16d40b8d0112288c8fb3","entries":1,"reason":null}	\\x924a1296c6567a7c2cac95e6574bbca0507742e9a27fdd7e77a164742df27aea	\\xfe37fad62f2a497b8d8b56f0640a54a37a203a17f38f98d13f731d81115571ae
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	9	2026-11-18 05:22:21.981087+00	01a1ed1b-269d-00a5-f068-cfbd7d1bc597	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHP9DJGZ9YKP0JFD9NQZ98","to":"ready","version":5}	\\xfe37fad62f2a497b8d8b56f0640a54a37a203a17f38f98d13f731d81115571ae	\\xe44a5423ef0ca62d43f8a93034db3f2ec49be88caf414f1269eeb61272aa679c
01a1ed1b-26ae-e538-6782-92485a62c93d	1	2026-11-18 05:22:21.998366+00	\N	plan.created	ana	{"name":"resolved","roots":["/tmp/agents-0.1-postgres/roots/resolved"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xb600c65f3b0e0ecd75da00d6e22b0ac6f3712afaeda96bd9d8bac37f03f92c97
01a1ed1b-26ae-e538-6782-92485a62c93d	2	2026-11-18 05:22:22.031695+00	01a1ed1b-26cf-d8fa-d591-049b899a3b1e	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHP9NEWMW6F0MJ91D65J9X","to":"running","version":2}	\\xb600c65f3b0e0ecd75da00d6e22b0ac6f3712afaeda96bd9d8bac37f03f92c97	\\x4187a881a584cb632f60088a113af1ea47e8d058995cb4ac4c248a67b29af17a
01a1ed1b-26ae-e538-6782-92485a62c93d	3	2026-11-18 05:22:22.034708+00	\N	changeset.started	ana	{"changeset":"01M7PHP9PE8Y236W5DFQENYF2V","node":null,"owner":"process 54 (148256/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP9PDNTSJQDCNE442SX3Y"}	\\x4187a881a584cb632f60088a113af1ea47e8d058995cb4ac4c248a67b29af17a	\\x9f8e4e9436b1b5c36df8655c811a0025c73dff8a3f4d54da3c3d7bac33d947ca
01a1ed1b-26ae-e538-6782-92485a62c93d	4	2026-11-18 05:22:22.11331+00	\N	changeset.sealed	ana	{"changeset":"01M7PHP9PE8Y236W5DFQENYF2V","digest":"7dad34498ea746eedd57da0f10585da6411c3fd76c6e059bd6384361339ec740","entries":1,"reason":null}	\\x9f8e4e9436b1b5c36df8655c811a0025c73dff8a3f4d54da3c3d7bac33d947ca	\\x5c0fe4da5763ec8b50c3161de2540af860248668297d4251851661be537d7320
01a1ed1b-26ae-e538-6782-92485a62c93d	5	2026-11-18 05:22:22.121082+00	01a1ed1b-2729-a90c-d875-35d20081f3de	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHP9NEWMW6F0MJ91D65J9X","to":"ready","version":3}	\\x5c0fe4da5763ec8b50c3161de2540af860248668297d4251851661be537d7320	\\x60ea0db1a05ad0ad5c22d7a75ff2c98bce8df8176240b6f6c05ca8a0adeb3cdf
01a1ed1b-26ae-e538-6782-92485a62c93d	6	2026-11-18 05:22:22.138912+00	01a1ed1b-273a-114c-15b0-d100c960023c	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHP9NEWMW6F0MJ91D65J9X","to":"running","version":4}	\\x60ea0db1a05ad0ad5c22d7a75ff2c98bce8df8176240b6f6c05ca8a0adeb3cdf	\\xd5f115a023c7eb80744501148c235f796615bc78fc9649c5988d7b87dcfe51ae
01a1ed1b-26ae-e538-6782-92485a62c93d	7	2026-11-18 05:22:22.145078+00	\N	changeset.started	bob	{"changeset":"01M7PHP9ST2561BC6H034P00HV","node":null,"owner":"process 59 (148267/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP9SPNVZ0JBMNK89H64ZZ"}	\\xd5f115a023c7eb80744501148c235f796615bc78fc9649c5988d7b87dcfe51ae	\\x912938669e316085280cee64062df2ef79557b6552ee4e6bc2b7395b2ef7623a
01a1ed1b-26ae-e538-6782-92485a62c93d	8	2026-11-18 05:22:22.189306+00	\N	changeset.sealed	bob	{"changeset":"01M7PHP9ST2561BC6H034P00HV","digest":"51f6b7a20166ad1077ee21bbc23636720011bbdd79021fe30a00e0b176764981","entries":1,"reason":null}	\\x912938669e316085280cee64062df2ef79557b6552ee4e6bc2b7395b2ef7623a	\\x34282a0a1f6498f4081c6cbd6e520f25ec2ec7aa81017e3987a36798b03cb7d1
01a1ed1b-26ae-e538-6782-92485a62c93d	9	2026-11-18 05:22:22.192999+00	01a1ed1b-2770-a347-d605-c152ebf7cb0b	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHP9NEWMW6F0MJ91D65J9X","to":"ready","version":5}	\\x34282a0a1f6498f4081c6cbd6e520f25ec2ec7aa81017e3987a36798b03cb7d1	\\xff02bddb92cb1371ce5c658c560c0bc0e45e1613a54ea041cc1e17053aac030b
01a1ed1b-26ae-e538-6782-92485a62c93d	10	2026-11-18 05:22:22.239475+00	\N	changeset.started	ana	{"changeset":"01M7PHP9WZHWDTN3YGY9BT6CXA","node":null,"owner":"process 64 (148274/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP9W54VMX2QPM610NPKHE"}	\\xff02bddb92cb1371ce5c658c560c0bc0e45e1613a54ea041cc1e17053aac030b	\\xd2765311eddbca59f87d527bbdec814d8b2ac27cd2991c99f2581cd52315fc74
01a1ed1b-26ae-e538-6782-92485a62c93d	11	2026-11-18 05:22:22.248767+00	\N	changeset.sealed	ana	{"changeset":"01M7PHP9WZHWDTN3YGY9BT6CXA","digest":"32146bbf3f80db9f0cfc179cd5ebe56f062193e774db4ddfc74cf56be3ffdb2b","entries":1,"reason":null}	\\xd2765311eddbca59f87d527bbdec814d8b2ac27cd2991c99f2581cd52315fc74	\\x282133bddb8c8835685446ba60941e69c12bd25669074a7e7095f9c82c1b6f9a
01a1ed1b-26ae-e538-6782-92485a62c93d	12	2026-11-18 05:22:22.25244+00	01a1ed1b-27ac-a14b-87cf-26ee5e927962	plan.resolved	ana	{"from":"ready","note":{"conflicts":0,"path":"text.txt","root":"/tmp/agents-0.1-postgres/roots/resolved","take":{"actor":"bob"}},"plan":"01M7PHP9NEWMW6F0MJ91D65J9X","to":"ready","version":6}	\\x282133bddb8c8835685446ba60941e69c12bd25669074a7e7095f9c82c1b6f9a	\\x004d07b500136d75b232873a81096aaba9b8d05d198088709266b2c04df38846
01a1ed1b-27c1-881a-f82c-e5d0228406c6	1	2026-11-18 05:22:22.273419+00	\N	plan.created	ana	{"name":"partly","roots":["/tmp/agents-0.1-postgres/roots/partly"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x56771f568040dfb69264813a49162f1b0e9e2a047f77018ff8def743c880c78e
01a1ed1b-27c1-881a-f82c-e5d0228406c6	2	2026-11-18 05:22:22.328888+00	01a1ed1b-27f8-32e4-b471-aff5dadbf5bb	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHP9Y1H0DFGB75T0H881P6","to":"running","version":2}	\\x56771f568040dfb69264813a49162f1b0e9e2a047f77018ff8def743c880c78e	\\x6123a3290af1068618c9af23c9cd964c114f2a3b427b637bc0f6b525d59f50ce
01a1ed1b-27c1-881a-f82c-e5d0228406c6	3	2026-11-18 05:22:22.333207+00	\N	changeset.started	ana	{"changeset":"01M7PHP9ZFVZNP1FM3FMYHJG90","node":null,"owner":"process 67 (148284/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHP9Z3HY587BXJV35R6C7N"}	\\x6123a3290af1068618c9af23c9cd964c114f2a3b427b637bc0f6b525d59f50ce	\\xf98fc50a9e7a1904e8d5013ba58df71505d2ecdc5f2f1dadf78df4c3d8af36d5
01a1ed1b-27c1-881a-f82c-e5d0228406c6	4	2026-11-18 05:22:22.453401+00	\N	changeset.sealed	ana	{"changeset":"01M7PHP9ZFVZNP1FM3FMYHJG90","digest":"d1b494a5230575ad43f52f4f24c411fdfaa708100f82df6b31903a039f8d17d8","entries":2,"reason":null}	\\xf98fc50a9e7a1904e8d5013ba58df71505d2ecdc5f2f1dadf78df4c3d8af36d5	\\xd4d5fdeab64d40e7ff111b67ae5a528f41b543952e45b2895ce27560732b7f4b
01a1ed1b-27c1-881a-f82c-e5d0228406c6	5	2026-11-18 05:22:22.457113+00	01a1ed1b-2879-d8c9-e2a4-88f9827daf4b	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHP9Y1H0DFGB75T0H881P6","to":"ready","version":3}	\\xd4d5fdeab64d40e7ff111b67ae5a528f41b543952e45b2895ce27560732b7f4b	\\xacccab7e1b726677831a2c2c845a6e720fdca8e1d4be18fa39e3001a8f8d3fc7
01a1ed1b-27c1-881a-f82c-e5d0228406c6	6	2026-11-18 05:22:22.476019+00	01a1ed1b-288b-cb43-5724-aeb5712867f3	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHP9Y1H0DFGB75T0H881P6","to":"running","version":4}	\\xacccab7e1b726677831a2c2c845a6e720fdca8e1d4be18fa39e3001a8f8d3fc7	\\x48e4dd7ed316adc333d1069c5865e7e517f46e6e86d7d96e7f39dc0746cced31
01a1ed1b-27c1-881a-f82c-e5d0228406c6	7	2026-11-18 05:22:22.481124+00	\N	changeset.started	bob	{"changeset":"01M7PHPA4BSD1NE95EPNRJGSZJ","node":null,"owner":"process 73 (148301/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPA49ZYTAXKCJBT6B6FSF"}	\\x48e4dd7ed316adc333d1069c5865e7e517f46e6e86d7d96e7f39dc0746cced31	\\x28d3da20027e2c16501e5b7978c42cc1106bb7f777b368d87853fd4d12080115
01a1ed1b-27c1-881a-f82c-e5d0228406c6	8	2026-11-18 05:22:22.606256+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPA4BSD1NE95EPNRJGSZJ","digest":"98f57ec1279904a60775c1f0246567ff02a6171a682fd809baaf03c90496185e","entries":3,"reason":null}	\\x28d3da20027e2c16501e5b7978c42cc1106bb7f777b368d87853fd4d12080115	\\x0c641bce9b28ac87f92c92679fcfafe59cdd36713dcd7e0c47423fa926e26d10
01a1ed1b-27c1-881a-f82c-e5d0228406c6	9	2026-11-18 05:22:22.609045+00	01a1ed1b-2910-dab0-af34-9cee9a0164b8	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHP9Y1H0DFGB75T0H881P6","to":"ready","version":5}	\\x0c641bce9b28ac87f92c92679fcfafe59cdd36713dcd7e0c47423fa926e26d10	\\x7f688dcacb153742b634799cf2fbebff62bd0496004738c1cb757e0632518120
01a1ed1b-27c1-881a-f82c-e5d0228406c6	10	2026-11-18 05:22:22.643361+00	01a1ed1b-2933-fa35-6905-243921cc9f7a	plan.applying	ana	{"from":"ready","note":{"files":3,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"688f75818b5058bd8c88db111d4b6e7a"},"plan":"01M7PHP9Y1H0DFGB75T0H881P6","to":"applying","version":6}	\\x7f688dcacb153742b634799cf2fbebff62bd0496004738c1cb757e0632518120	\\x380fe6abb9ceec3709b2ea540e679151ba1ceb47b13ae691657a226265d71b13
01a1ed1b-27c1-881a-f82c-e5d0228406c6	11	2026-11-18 05:22:22.646896+00	\N	changeset.started	ana	{"changeset":"01M7PHPA9KZ8TPJ19474GWS7VS","node":null,"owner":"process 82 (148316/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPA91M95V4T76DJ37ZMVM"}	\\x380fe6abb9ceec3709b2ea540e679151ba1ceb47b13ae691657a226265d71b13	\\x541faeba29f0281cfc9df81ebfd4967a3c8bfe8e2e3a98fbddda348b9aa12302
01a1ed1b-27c1-881a-f82c-e5d0228406c6	12	2026-11-18 05:22:22.656745+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPA9KZ8TPJ19474GWS7VS","digest":"e2ac26a82b66266634bce13b44150e939b4c53d096b0fa2e2a48f331a890f350","entries":3,"reason":"what an apply changes, written down before it begins"}	\\x541faeba29f0281cfc9df81ebfd4967a3c8bfe8e2e3a98fbddda348b9aa12302	\\x2911861666d347639bbeb69e44e9ee2ab65881a5c81880a5c84d771ec41f110d
01a1ed1b-27c1-881a-f82c-e5d0228406c6	13	2026-11-18 05:22:22.678716+00	01a1ed1b-2956-1ccc-f89a-b58b461508e4	plan.applied	ana	{"from":"applying","note":{"files":3,"kept":[],"transaction":"688f75818b5058bd8c88db111d4b6e7a"},"plan":"01M7PHP9Y1H0DFGB75T0H881P6","to":"ready","version":7}	\\x2911861666d347639bbeb69e44e9ee2ab65881a5c81880a5c84d771ec41f110d	\\x745173817bc3e7c6b7e800726a117313b9a11522e9a61aed7a7adb54285faccc
01a1ed1b-296a-a01e-82df-750466b733bc	1	2026-11-18 05:22:22.698799+00	\N	plan.created	ana	{"name":"applied","roots":["/tmp/agents-0.1-postgres/roots/applied"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x147aef91437e3de12e6bd26fd3c21c286e9fb1c4358cad7670278cc4e84e8715
01a1ed1b-296a-a01e-82df-750466b733bc	2	2026-11-18 05:22:22.710322+00	01a1ed1b-2976-3cd7-7d8c-8b0f1af6f012	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPABAM0F85QVN0HKBECXW","to":"running","version":2}	\\x147aef91437e3de12e6bd26fd3c21c286e9fb1c4358cad7670278cc4e84e8715	\\xeb1fb76ac06ca4d04e0b6a9ae10c331eee70f67c1f9708449a0a3320d07454e5
01a1ed1b-296a-a01e-82df-750466b733bc	3	2026-11-18 05:22:22.711568+00	\N	changeset.started	ana	{"changeset":"01M7PHPABNRGTZNZY46D22NZRC","node":null,"owner":"process 85 (148325/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPABMKHJ0BS6JSPTSFVCZ"}	\\xeb1fb76ac06ca4d04e0b6a9ae10c331eee70f67c1f9708449a0a3320d07454e5	\\x1ca317471177ae7738ffa16abe1c3cd5247a59822df82658d112153df9e6b597
01a1ed1b-296a-a01e-82df-750466b733bc	4	2026-11-18 05:22:22.801558+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPABNRGTZNZY46D22NZRC","digest":"69dd257dc40898871d96794f2e787ecb07c0392ab813aa5fabbfd8daa36c0384","entries":2,"reason":null}	\\x1ca317471177ae7738ffa16abe1c3cd5247a59822df82658d112153df9e6b597	\\x700c06f68031ecd6960d52d0aff1d7a04c4ea0de8693fc0e74782439682db860
01a1ed1b-296a-a01e-82df-750466b733bc	5	2026-11-18 05:22:22.809089+00	01a1ed1b-29d8-0e6c-3ab6-dce18b618cef	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPABAM0F85QVN0HKBECXW","to":"ready","version":3}	\\x700c06f68031ecd6960d52d0aff1d7a04c4ea0de8693fc0e74782439682db860	\\xbec88270dee621bcc8aecaa87e6dc17fa8e44700f48939df368f9a2f9670000e
01a1ed1b-296a-a01e-82df-750466b733bc	6	2026-11-18 05:22:22.837786+00	01a1ed1b-29f5-1817-7122-c087cfa1ee9f	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPABAM0F85QVN0HKBECXW","to":"running","version":4}	\\xbec88270dee621bcc8aecaa87e6dc17fa8e44700f48939df368f9a2f9670000e	\\x71b7ea80972a3b90b6882f7ec247440e1b7440db91b32ebbc9ea2e77ac436aae
01a1ed1b-296a-a01e-82df-750466b733bc	7	2026-11-18 05:22:22.8412+00	\N	changeset.started	bob	{"changeset":"01M7PHPAFMVTHJ2TEA11ZM84DF","node":null,"owner":"process 91 (148336/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPAFB4Q340T29CX1AFE3C"}	\\x71b7ea80972a3b90b6882f7ec247440e1b7440db91b32ebbc9ea2e77ac436aae	\\x87247909daaf88470b06593759da02308dc6bffc46c75233a4010edc831fd901
01a1ed1b-296a-a01e-82df-750466b733bc	8	2026-11-18 05:22:22.977384+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPAFMVTHJ2TEA11ZM84DF","digest":"5afc53cc25a5a2a049e184b745cee85e61cff8949dafaa02d498860d579cb06f","entries":3,"reason":null}	\\x87247909daaf88470b06593759da02308dc6bffc46c75233a4010edc831fd901	\\xd9ff9bae4c57858838f40bfd052d1c5d577a39e4ad73f99ad79d4ef1d09def5f
01a1ed1b-296a-a01e-82df-750466b733bc	9	2026-11-18 05:22:22.981052+00	01a1ed1b-2a84-b70d-b1da-287ba94cc81e	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPABAM0F85QVN0HKBECXW","to":"ready","version":5}	\\xd9ff9bae4c57858838f40bfd052d1c5d577a39e4ad73f99ad79d4ef1d09def5f	\\x70dccb726215aef5d0a9862e9435914aeea7c1261527a3dc1f20e571254dfa29
01a1ed1b-296a-a01e-82df-750466b733bc	10	2026-11-18 05:22:23.03025+00	01a1ed1b-2ab6-2f31-0f48-5470eadc84f0	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"2c74882cf3a63fe3063b755a969dc9dc"},"plan":"01M7PHPABAM0F85QVN0HKBECXW","to":"applying","version":6}	\\x70dccb726215aef5d0a9862e9435914aeea7c1261527a3dc1f20e571254dfa29	\\x16777cfda676cafc7f4985e153f357f8b8acfca8e33785dece6a4e980fd38e10
01a1ed1b-296a-a01e-82df-750466b733bc	11	2026-11-18 05:22:23.033202+00	\N	changeset.started	ana	{"changeset":"01M7PHPANP5WRGYJ2ME3NDS17F","node":null,"owner":"process 100 (148353/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPAMJ71DFZTJ9YK0JYQST"}	\\x16777cfda676cafc7f4985e153f357f8b8acfca8e33785dece6a4e980fd38e10	\\x2b662dbcf9a0d6ab7d135fc97be3f2b0c0ae38be7033fe70a9e8144fe62c7f1c
01a1ed1b-296a-a01e-82df-750466b733bc	12	2026-11-18 05:22:23.040759+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPANP5WRGYJ2ME3NDS17F","digest":"e87aca8064fd47fc8d23264671a16e14601c438c935f655d045d7e22c8f5aad9","entries":5,"reason":"what an apply changes, written down before it begins"}	\\x2b662dbcf9a0d6ab7d135fc97be3f2b0c0ae38be7033fe70a9e8144fe62c7f1c	\\xf57dbbb109301baf7650c961a1366c25280852ac0367e4814e0a4ea685c8e75e
01a1ed1b-296a-a01e-82df-750466b733bc	13	2026-11-18 05:22:23.087044+00	01a1ed1b-2aee-c52f-5458-40c11b8f9e8a	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"2c74882cf3a63fe3063b755a969dc9dc"},"plan":"01M7PHPABAM0F85QVN0HKBECXW","to":"applied","version":7}	\\xf57dbbb109301baf7650c961a1366c25280852ac0367e4814e0a4ea685c8e75e	\\xc6a159438bb0ba3d2aaa8cb004c101795ad556ccadf140bf722ea4d324b8bad4
01a1ed1b-2b0b-37a1-23eb-7cd721369193	1	2026-11-18 05:22:23.115308+00	\N	plan.created	ana	{"name":"undone","roots":["/tmp/agents-0.1-postgres/roots/undone"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x540a6c9c65373118696b314706e848e2eb2fa7d74c7fa7203d8d396259f4a394
01a1ed1b-2b0b-37a1-23eb-7cd721369193	2	2026-11-18 05:22:23.140069+00	01a1ed1b-2b24-b175-60d7-2d40a54b05d4	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"running","version":2}	\\x540a6c9c65373118696b314706e848e2eb2fa7d74c7fa7203d8d396259f4a394	\\xdfad6ddea36ffe313ae055ff858301bf1fdcb1ec977c79169b845b163909608d
01a1ed1b-2b0b-37a1-23eb-7cd721369193	3	2026-11-18 05:22:23.145117+00	\N	changeset.started	ana	{"changeset":"01M7PHPAS3JV3PCTBV4TZ0ZXFV","node":null,"owner":"process 103 (148366/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPAS1ZA3E2JYJ9FB74QB3"}	\\xdfad6ddea36ffe313ae055ff858301bf1fdcb1ec977c79169b845b163909608d	\\xd668f79e4f94c69ece756576fc68be8789ed0c2e32e6569c6ab397948b3cc329
01a1ed1b-2b0b-37a1-23eb-7cd721369193	4	2026-11-18 05:22:23.265454+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPAS3JV3PCTBV4TZ0ZXFV","digest":"ad1abbbe852a62f7b219662f03b3c06e6b01f393ec54f4df2465c5aab9578f01","entries":2,"reason":null}	\\xd668f79e4f94c69ece756576fc68be8789ed0c2e32e6569c6ab397948b3cc329	\\x19654c6e3e2a5e0b3684815b469e143675ffca5fdb506dff89263727a1eb24f1
01a1ed1b-2b0b-37a1-23eb-7cd721369193	5	2026-11-18 05:22:23.273034+00	01a1ed1b-2ba8-dbfb-f1d1-fd15dd395477	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"ready","version":3}	\\x19654c6e3e2a5e0b3684815b469e143675ffca5fdb506dff89263727a1eb24f1	\\x1d959e9b6f89c41181f06ae5eef9c2427ff95b012408673be6ebfd9ba84d845d
01a1ed1b-2b0b-37a1-23eb-7cd721369193	6	2026-11-18 05:22:23.309257+00	01a1ed1b-2bcd-6139-0476-9ae88c7cf34e	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"running","version":4}	\\x1d959e9b6f89c41181f06ae5eef9c2427ff95b012408673be6ebfd9ba84d845d	\\xa195e6b94166be662d57e6272116b7d97b86dc30c792568ae7c9612301c1a189
01a1ed1b-2b0b-37a1-23eb-7cd721369193	7	2026-11-18 05:22:23.32042+00	\N	changeset.started	bob	{"changeset":"01M7PHPAYC9JDTB7AZYSVR1HZ4","node":null,"owner":"process 109 (148383/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPAY9C05X5PJ89CS21NAR"}	\\xa195e6b94166be662d57e6272116b7d97b86dc30c792568ae7c9612301c1a189	\\xd53f225fb246d3a041819d046631172bfa207d1475c6323c340eb5686421fefb
01a1ed1b-2b0b-37a1-23eb-7cd721369193	8	2026-11-18 05:22:23.48947+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPAYC9JDTB7AZYSVR1HZ4","digest":"01abc879105bfe2596b2f9e5e0d1b1d27e79a23e4e59b8973114151b7d727876","entries":3,"reason":null}	\\xd53f225fb246d3a041819d046631172bfa207d1475c6323c340eb5686421fefb	\\xc4f14e3d131fa81f9350f0cfdb30a4874c930270a5ff248a43cb9598d1afd4a2
01a1ed1b-2b0b-37a1-23eb-7cd721369193	9	2026-11-18 05:22:23.505087+00	01a1ed1b-2c90-e6fd-7785-1e743adf2a5f	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"ready","version":5}	\\xc4f14e3d131fa81f9350f0cfdb30a4874c930270a5ff248a43cb9598d1afd4a2	\\x36c5129464867f29c6aa8259373ff72a8d499761d55f8cafe0e6603da7878687
01a1ed1b-2b0b-37a1-23eb-7cd721369193	10	2026-11-18 05:22:23.581306+00	01a1ed1b-2cdd-e640-bc05-ea289abf2490	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"6ea6d97fcfa4f31485e08af110f68cb5"},"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"applying","version":6}	\\x36c5129464867f29c6aa8259373ff72a8d499761d55f8cafe0e6603da7878687	\\xb75877fe0fe30eed82338262a4db519844f59a8485b5743b24541d768b040df6
01a1ed1b-2b0b-37a1-23eb-7cd721369193	11	2026-11-18 05:22:23.589166+00	\N	changeset.started	ana	{"changeset":"01M7PHPB6XWS0BR1FA52DBY94F","node":null,"owner":"process 118 (148406/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPB5D8MNGXP5A4ZTS0PZH"}	\\xb75877fe0fe30eed82338262a4db519844f59a8485b5743b24541d768b040df6	\\xc6e9a77413814210123ab27d67fb249ce83ae777abe4225cd520f16558b60019
01a1ed1b-2b0b-37a1-23eb-7cd721369193	12	2026-11-18 05:22:23.608805+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPB6XWS0BR1FA52DBY94F","digest":"9841b650dd4e112d7ca7f5b46882f88c5ce96d349ebb30aecc38959ed392dd59","entries":5,"reason":"what an apply changes, written down before it begins"}	\\xc6e9a77413814210123ab27d67fb249ce83ae777abe4225cd520f16558b60019	\\xcf15cd9874725357105dbc6d4c6ed347a95b11fbdb480b51b0cc9a2141205036
01a1ed1b-2b0b-37a1-23eb-7cd721369193	13	2026-11-18 05:22:23.65478+00	01a1ed1b-2d26-074c-3e8c-5715d9fef561	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"6ea6d97fcfa4f31485e08af110f68cb5"},"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"applied","version":7}	\\xcf15cd9874725357105dbc6d4c6ed347a95b11fbdb480b51b0cc9a2141205036	\\x697580e2b7f7d3d025c6247e8478358eee47cdb97e6e548b5af860b738c954c5
01a1ed1b-2d4a-03ef-360b-19719079ea82	1	2026-11-18 05:22:23.690433+00	\N	plan.created	ana	{"name":null,"roots":["/tmp/agents-0.1-postgres/roots/undone"],"state":"queued","undo_of":"01M7PHPARB6YGJ7TVWTWGKD4CK"}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x1c3e1692942c3596f00baaf7b69e4f5a0762ca3af28d0c0b27b8db46b8d31b49
01a1ed1b-2d4a-03ef-360b-19719079ea82	2	2026-11-18 05:22:23.693529+00	01a1ed1b-2d4d-fce6-b12c-677d8717ea60	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPBAA0FQKC2RSE687KTM2","to":"running","version":2}	\\x1c3e1692942c3596f00baaf7b69e4f5a0762ca3af28d0c0b27b8db46b8d31b49	\\xd8f961593b2bdf8b1f78babf99a9465f2710dc018aa16583b511bf30ca48602e
01a1ed1b-2d4a-03ef-360b-19719079ea82	3	2026-11-18 05:22:23.697029+00	\N	changeset.started	ana	{"changeset":"01M7PHPBAC7ETRQM6W8G14HXC8","node":null,"owner":"process 119 (148421/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBA1SXTKQ7TV35PZTMAX"}	\\xd8f961593b2bdf8b1f78babf99a9465f2710dc018aa16583b511bf30ca48602e	\\x6289c3ccb3383c1563b85993be694a7d9be4cb50be7fc8f56d823c7939178ace
01a1ed1b-2d4a-03ef-360b-19719079ea82	4	2026-11-18 05:22:23.704464+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPBAC7ETRQM6W8G14HXC8","digest":"8f2b126eb6ed60b6552868879416ff4cd461a78799871e6289d1df691c5bb683","entries":5,"reason":null}	\\x6289c3ccb3383c1563b85993be694a7d9be4cb50be7fc8f56d823c7939178ace	\\xb1b9fab745f96c78bf9aeb5d6d7e951291ef5537e8d8cf83d510497d95e5841a
01a1ed1b-2d4a-03ef-360b-19719079ea82	5	2026-11-18 05:22:23.709063+00	01a1ed1b-2d5d-822b-8723-05b1f2a57189	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPBAA0FQKC2RSE687KTM2","to":"ready","version":3}	\\xb1b9fab745f96c78bf9aeb5d6d7e951291ef5537e8d8cf83d510497d95e5841a	\\x3942ea61e8023ac7c3f89a929860da504202ebdd1075d9c98cc738619c7272b0
01a1ed1b-3494-eb11-db93-983fd65d953a	2	2026-11-18 05:22:25.577101+00	01a1ed1b-34a9-de5b-a315-e0d207086f19	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPD4MXC8XQ4WR7ZB5V59T","to":"running","version":2}	\\xc8ea92199a58d924d53d1c7f84eddd0183364d73a634cea578e5514099639da0	\\x652166d857527960957341645aa6e35424342bd0ffa9b23bae875d4c4da39c5c
01a1ed1b-2d4a-03ef-360b-19719079ea82	6	2026-11-18 05:22:23.715006+00	01a1ed1b-2d62-73f6-cc61-53bc187c7683	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"ca74774219c84ecaaa94b891c1f99d92"},"plan":"01M7PHPBAA0FQKC2RSE687KTM2","to":"applying","version":4}	\\x3942ea61e8023ac7c3f89a929860da504202ebdd1075d9c98cc738619c7272b0	\\xa62adf9cb91240a8406c717ae85c238ff12318e649d15d343a9a0584cc12fd00
01a1ed1b-2b0b-37a1-23eb-7cd721369193	14	2026-11-18 05:22:23.717455+00	01a1ed1b-2d65-ab78-38bc-8981050c0edd	plan.undoing	ana	{"from":"applied","note":{"by":"01M7PHPBAA0FQKC2RSE687KTM2"},"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"applied","version":8}	\\x697580e2b7f7d3d025c6247e8478358eee47cdb97e6e548b5af860b738c954c5	\\x0c7cdcd357da22a4a8ccba66927fd9c79aeeb7fa574c3ba1c5f772ed6146fca4
01a1ed1b-2d4a-03ef-360b-19719079ea82	7	2026-11-18 05:22:23.721049+00	\N	changeset.started	ana	{"changeset":"01M7PHPBB2EFVCRRAKQGC7RXM2","node":null,"owner":"process 119 (148421/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBA1SXTKQ7TV35PZTMAX"}	\\xa62adf9cb91240a8406c717ae85c238ff12318e649d15d343a9a0584cc12fd00	\\xfb2a886a6c1c416608d4f83979b9139d85c918a56312ab6cd39c0ed6a0e4d5b8
01a1ed1b-2d4a-03ef-360b-19719079ea82	8	2026-11-18 05:22:23.732003+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPBB2EFVCRRAKQGC7RXM2","digest":"f3a8eed5209cffa7dc7417ee2676f0d6bc44ea720d636e73d8ac9e941d89e817","entries":5,"reason":"what an apply changes, written down before it begins"}	\\xfb2a886a6c1c416608d4f83979b9139d85c918a56312ab6cd39c0ed6a0e4d5b8	\\x4b6a969d1cd9961a1743b0a5861d272e7a0cb95795ad09826ebefb38416b06a5
01a1ed1b-2d4a-03ef-360b-19719079ea82	9	2026-11-18 05:22:23.788065+00	01a1ed1b-2da8-845c-56c3-79fc14fdf444	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"ca74774219c84ecaaa94b891c1f99d92"},"plan":"01M7PHPBAA0FQKC2RSE687KTM2","to":"applied","version":5}	\\x4b6a969d1cd9961a1743b0a5861d272e7a0cb95795ad09826ebefb38416b06a5	\\x6ec6ee0ceb3f4a433986eaae6d6916c7b5150e2f40f374067740b07f15cc5654
01a1ed1b-2b0b-37a1-23eb-7cd721369193	15	2026-11-18 05:22:23.793331+00	01a1ed1b-2db1-a843-c342-342680960b0a	plan.undone	ana	{"from":"applied","note":{"by":["01M7PHPBAA0FQKC2RSE687KTM2"]},"plan":"01M7PHPARB6YGJ7TVWTWGKD4CK","to":"undone","version":9}	\\x0c7cdcd357da22a4a8ccba66927fd9c79aeeb7fa574c3ba1c5f772ed6146fca4	\\xf4e7b5bbb02555877b9f3cf51ec818d934cf516667f27e5addfb6b6531ca27e1
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	1	2026-11-18 05:22:23.819344+00	\N	plan.created	ana	{"name":"redone","roots":["/tmp/agents-0.1-postgres/roots/redone"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x077a09b7887cd0b620b1aef86a8614f17ead72cdd704e6add5d8d0db0372b9b5
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	2	2026-11-18 05:22:23.83862+00	01a1ed1b-2dde-e0a1-8a67-702a92a2ac1d	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"running","version":2}	\\x077a09b7887cd0b620b1aef86a8614f17ead72cdd704e6add5d8d0db0372b9b5	\\x4798c535f9866a9f86130938465dcc43c436345a807b57928df1268465719a90
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	3	2026-11-18 05:22:23.840872+00	\N	changeset.started	ana	{"changeset":"01M7PHPBEX5GQBMPGA3QYD3F9S","node":null,"owner":"process 122 (148437/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBEWAQVJH8W845Q3Z701"}	\\x4798c535f9866a9f86130938465dcc43c436345a807b57928df1268465719a90	\\x546914a80acd1acf318a4d138bffbdeebff7d18a95e640b6f7e4549d9dd060eb
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	4	2026-11-18 05:22:23.915156+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPBEX5GQBMPGA3QYD3F9S","digest":"36d6c67ac7b8c10d955cd046a2c814e058edc29a441c949ee0de4d3017c31943","entries":2,"reason":null}	\\x546914a80acd1acf318a4d138bffbdeebff7d18a95e640b6f7e4549d9dd060eb	\\x4a430bf738ed2e17475f2edc5989c829071dff1c75168e7b4dbdb6807559a1a8
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	5	2026-11-18 05:22:23.925201+00	01a1ed1b-2e35-6f9b-d3f8-86f7c4f63c0e	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"ready","version":3}	\\x4a430bf738ed2e17475f2edc5989c829071dff1c75168e7b4dbdb6807559a1a8	\\xea9bfa1ade9cf0a08cefb028acf147a1fb860ba182c6fd4d01752e2de54a5880
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	6	2026-11-18 05:22:23.959769+00	01a1ed1b-2e57-6476-7ce3-6ca0a2ef5b61	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"running","version":4}	\\xea9bfa1ade9cf0a08cefb028acf147a1fb860ba182c6fd4d01752e2de54a5880	\\x756d7bea293d66863fce391425e7dd6dad3603b257c2f65d415bbf52aa82ff4a
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	7	2026-11-18 05:22:23.969183+00	\N	changeset.started	bob	{"changeset":"01M7PHPBJPM4PFZRVS6MT1N0RS","node":null,"owner":"process 128 (148447/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBJMA6S51JN1P2RQ57FJ"}	\\x756d7bea293d66863fce391425e7dd6dad3603b257c2f65d415bbf52aa82ff4a	\\x1326c7ae96b29613734158be03fcb1a92f69789b268c885d5da665664e9b4d74
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	8	2026-11-18 05:22:24.142121+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPBJPM4PFZRVS6MT1N0RS","digest":"ebdf92d7cb54a4dc0fffe84351d269a1f93a6902f309f1787ae3b8d8d08bbad5","entries":3,"reason":null}	\\x1326c7ae96b29613734158be03fcb1a92f69789b268c885d5da665664e9b4d74	\\xd715fe67d2dd7d57f192ded98404694256eae027da8df020688fc02c4217da16
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	9	2026-11-18 05:22:24.149045+00	01a1ed1b-2f14-6318-4fd0-6b43a249e062	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"ready","version":5}	\\xd715fe67d2dd7d57f192ded98404694256eae027da8df020688fc02c4217da16	\\x06d05e4a216d51f49d5d61d73e53a5f69661a57e158364b3439d5b5bc280411e
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	10	2026-11-18 05:22:24.222217+00	01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ad	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"babec2b2c16e9f07c5a42281f4977850"},"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"applying","version":6}	\\x06d05e4a216d51f49d5d61d73e53a5f69661a57e158364b3439d5b5bc280411e	\\x2b50e2b4ad6a4534b57faf4e0e58ca583e74c8add2a30e9f8afb7bdfbc13ae27
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	11	2026-11-18 05:22:24.237238+00	\N	changeset.started	ana	{"changeset":"01M7PHPBTY8EJFV7SBWVKPZH5C","node":null,"owner":"process 137 (148470/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBS1247VQ7TSEC6XX7RA"}	\\x2b50e2b4ad6a4534b57faf4e0e58ca583e74c8add2a30e9f8afb7bdfbc13ae27	\\x195cda93358c0d58dbb97f7a81f74780c126746fb1b227cb9ea116844160a8ca
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	12	2026-11-18 05:22:24.240687+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPBTY8EJFV7SBWVKPZH5C","digest":"958a400d3b99e11ad5973867de3d1ae0f2126bb0b887472df4f2d9fbe016a86b","entries":5,"reason":"what an apply changes, written down before it begins"}	\\x195cda93358c0d58dbb97f7a81f74780c126746fb1b227cb9ea116844160a8ca	\\x38ee8ec33c795ca2dc99f4c622cb1000b743662f99346b23dee7ad81cd262d40
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	13	2026-11-18 05:22:24.306687+00	01a1ed1b-2fb2-597a-6733-956ff1028fb9	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"babec2b2c16e9f07c5a42281f4977850"},"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"applied","version":7}	\\x38ee8ec33c795ca2dc99f4c622cb1000b743662f99346b23dee7ad81cd262d40	\\xb6a2e646ef5a1cf8f1b75eb23ae1330822a547e439ba72e64646a56aa40b6d4b
01a1ed1b-2fda-fa86-4303-54bf817496bf	1	2026-11-18 05:22:24.346479+00	\N	plan.created	ana	{"name":null,"roots":["/tmp/agents-0.1-postgres/roots/redone"],"state":"queued","undo_of":"01M7PHPBEB6NC19G6R31CZFAXH"}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xdd63311fe7962e4a034daa2e18501d0c3f857220ed56278737c9df07d43afb67
01a1ed1b-2fda-fa86-4303-54bf817496bf	2	2026-11-18 05:22:24.349545+00	01a1ed1b-2fdd-4d6e-ec55-ed00145df5cb	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPBYTZA3460TMQY0Q95NZ","to":"running","version":2}	\\xdd63311fe7962e4a034daa2e18501d0c3f857220ed56278737c9df07d43afb67	\\xddf063e2ec63ee0308f545f432d9637a63947ba38354820d2aa314acfe127eeb
01a1ed1b-2fda-fa86-4303-54bf817496bf	3	2026-11-18 05:22:24.365169+00	\N	changeset.started	ana	{"changeset":"01M7PHPBYX9NQERNFD00A5VXEA","node":null,"owner":"process 141 (148487/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBYEGB3NVCY2F5AZYF0B"}	\\xddf063e2ec63ee0308f545f432d9637a63947ba38354820d2aa314acfe127eeb	\\x5718a90d50ce7f31858fe4b968ebf4ed052cf6f0453464fc5324f9fe4511ba72
01a1ed1b-2fda-fa86-4303-54bf817496bf	4	2026-11-18 05:22:24.372783+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPBYX9NQERNFD00A5VXEA","digest":"4f620da8778a8d0ff360ca10048522bcdbd455857cb505218a0e453ffbfc4caf","entries":5,"reason":null}	\\x5718a90d50ce7f31858fe4b968ebf4ed052cf6f0453464fc5324f9fe4511ba72	\\xcf15f1b23a28b8f26591a940f6085aff2b1b144f37448aba2d06b6864459f18d
01a1ed1b-2fda-fa86-4303-54bf817496bf	5	2026-11-18 05:22:24.377136+00	01a1ed1b-2ff9-5dc6-e230-ab09c9f35b48	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPBYTZA3460TMQY0Q95NZ","to":"ready","version":3}	\\xcf15f1b23a28b8f26591a940f6085aff2b1b144f37448aba2d06b6864459f18d	\\x74e34239758b65db1947adafeedd88cb47eade4d854279755d34a8f13ed0398d
01a1ed1b-2fda-fa86-4303-54bf817496bf	6	2026-11-18 05:22:24.383171+00	01a1ed1b-2fff-9d18-187f-4ce63a152090	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"ce938c82c34574acc70cf27a1ddb6777"},"plan":"01M7PHPBYTZA3460TMQY0Q95NZ","to":"applying","version":4}	\\x74e34239758b65db1947adafeedd88cb47eade4d854279755d34a8f13ed0398d	\\xd124eab7a29d019acf3d31da67d29a36ed98be27c949eb96cdc029ffbd217610
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	14	2026-11-18 05:22:24.389491+00	01a1ed1b-3005-6275-3bf6-0e6664ec905c	plan.undoing	ana	{"from":"applied","note":{"by":"01M7PHPBYTZA3460TMQY0Q95NZ"},"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"applied","version":8}	\\xb6a2e646ef5a1cf8f1b75eb23ae1330822a547e439ba72e64646a56aa40b6d4b	\\x94849561264a0e464e74ef9fa10c9279198985544b882e2a9dd65bd3a2364dd5
01a1ed1b-2fda-fa86-4303-54bf817496bf	7	2026-11-18 05:22:24.392357+00	\N	changeset.started	ana	{"changeset":"01M7PHPBZZKMC1GZTCWRX1A84F","node":null,"owner":"process 141 (148487/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPBYEGB3NVCY2F5AZYF0B"}	\\xd124eab7a29d019acf3d31da67d29a36ed98be27c949eb96cdc029ffbd217610	\\x711c3d7189bc29a97ca13eb8adb222a73a2739173d6bf8fdbd8deb1a2d34cc16
01a1ed1b-2fda-fa86-4303-54bf817496bf	8	2026-11-18 05:22:24.400759+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPBZZKMC1GZTCWRX1A84F","digest":"a8c15f86b026cfcb0509a753aaadcc2241bf9d3eeaa2e938c2f7b72010e36f91","entries":5,"reason":"what an apply changes, written down before it begins"}	\\x711c3d7189bc29a97ca13eb8adb222a73a2739173d6bf8fdbd8deb1a2d34cc16	\\xcd824ce34780f4951309a5eb29b827911458e12e70604e74ba060186666f69b2
01a1ed1b-2fda-fa86-4303-54bf817496bf	9	2026-11-18 05:22:24.457203+00	01a1ed1b-3048-b20b-8bbd-04584ee048df	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"ce938c82c34574acc70cf27a1ddb6777"},"plan":"01M7PHPBYTZA3460TMQY0Q95NZ","to":"applied","version":5}	\\xcd824ce34780f4951309a5eb29b827911458e12e70604e74ba060186666f69b2	\\x7f33d14672c11b11cc3e04a5a784027b75220210bb956ee2000720ea054b3e34
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	15	2026-11-18 05:22:24.462733+00	01a1ed1b-304e-f0c9-720c-fe6294c7306f	plan.undone	ana	{"from":"applied","note":{"by":["01M7PHPBYTZA3460TMQY0Q95NZ"]},"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"undone","version":9}	\\x94849561264a0e464e74ef9fa10c9279198985544b882e2a9dd65bd3a2364dd5	\\x469a6fbd76723a1d06cf04dfea1219163845f8da21f739f9a217a48d042b0154
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	1	2026-11-18 05:22:24.491132+00	\N	plan.created	ana	{"name":null,"roots":["/tmp/agents-0.1-postgres/roots/redone"],"state":"queued","undo_of":"01M7PHPBYTZA3460TMQY0Q95NZ"}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x442504117949e49de854fc8d26d25770e2cd69a388387de9cce14bcda060c34a
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	2	2026-11-18 05:22:24.496532+00	01a1ed1b-3070-52b7-f277-e44299eb870e	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPC3BDDZTHF324YDFR6ZQ","to":"running","version":2}	\\x442504117949e49de854fc8d26d25770e2cd69a388387de9cce14bcda060c34a	\\x842219f08c851f30721ff1e32dd34ecd5d819ee31017f20c2863e457d1485e8c
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	3	2026-11-18 05:22:24.501039+00	\N	changeset.started	ana	{"changeset":"01M7PHPC3GAAVZ4XZ48ACYQ1RD","node":null,"owner":"process 142 (148502/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPC35B3T9Z5YERSC30BKA"}	\\x842219f08c851f30721ff1e32dd34ecd5d819ee31017f20c2863e457d1485e8c	\\x193a968dd84f201fc5a055967989dd9668fba78d0ed3ce1c26040650a0e6ddc6
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	4	2026-11-18 05:22:24.508773+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPC3GAAVZ4XZ48ACYQ1RD","digest":"7ebbee5d457e8118d52fa7ee73107f4ccd5a2d5f429e85da26d02ef6c812dd26","entries":5,"reason":null}	\\x193a968dd84f201fc5a055967989dd9668fba78d0ed3ce1c26040650a0e6ddc6	\\x76c33a678d9c1162965884dcb6fe3113a8cb5cb63c2e4db61ea2f9d4ed61621f
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	5	2026-11-18 05:22:24.513053+00	01a1ed1b-3080-11f9-ebb8-80080b507733	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPC3BDDZTHF324YDFR6ZQ","to":"ready","version":3}	\\x76c33a678d9c1162965884dcb6fe3113a8cb5cb63c2e4db61ea2f9d4ed61621f	\\xad1b2aacc0f8a94dfecbae4aef8aa9ec6711ae7c0d9e4d6d901c8be4a7b2d967
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	6	2026-11-18 05:22:24.51796+00	01a1ed1b-3085-7bcb-6687-0241910e916d	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"dea6929dea8fbe99c943534af23f7f6a"},"plan":"01M7PHPC3BDDZTHF324YDFR6ZQ","to":"applying","version":4}	\\xad1b2aacc0f8a94dfecbae4aef8aa9ec6711ae7c0d9e4d6d901c8be4a7b2d967	\\x2cec0253805f1c41640d8ad56b7b9209f86214f769c13dd47a05947b5f3f664b
01a1ed1b-2fda-fa86-4303-54bf817496bf	10	2026-11-18 05:22:24.521628+00	01a1ed1b-3089-deb0-d152-2d402b890b69	plan.undoing	ana	{"from":"applied","note":{"by":"01M7PHPC3BDDZTHF324YDFR6ZQ"},"plan":"01M7PHPBYTZA3460TMQY0Q95NZ","to":"applied","version":6}	\\x7f33d14672c11b11cc3e04a5a784027b75220210bb956ee2000720ea054b3e34	\\x725c70d6260efabe1a21a048fac3eb4b55872db4f8cc83cf009c5292c95f3086
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	16	2026-11-18 05:22:24.525241+00	01a1ed1b-308d-2331-422f-64ad74785fbf	plan.undoing	ana	{"from":"undone","note":{"by":"01M7PHPC3BDDZTHF324YDFR6ZQ"},"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"undone","version":10}	\\x469a6fbd76723a1d06cf04dfea1219163845f8da21f739f9a217a48d042b0154	\\x5a5c70b27a51dca7a8a82d9c32ba0243bf777f8609c1e2a5d7a772f846dc7d1e
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	7	2026-11-18 05:22:24.527399+00	\N	changeset.started	ana	{"changeset":"01M7PHPC45FF5PD1R2868GX4BC","node":null,"owner":"process 142 (148502/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPC35B3T9Z5YERSC30BKA"}	\\x2cec0253805f1c41640d8ad56b7b9209f86214f769c13dd47a05947b5f3f664b	\\xdc6b2188e54a20b9eaebd4df9eab5b9dbcececa64ed1df98aa6e9ea18ed941a7
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	8	2026-11-18 05:22:24.532779+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPC45FF5PD1R2868GX4BC","digest":"ef660b5b51627e6332b6dd499e43681f16414e6395030f688a14adbe337983c5","entries":5,"reason":"what an apply changes, written down before it begins"}	\\xdc6b2188e54a20b9eaebd4df9eab5b9dbcececa64ed1df98aa6e9ea18ed941a7	\\x8a7c39146372cbeecfd74d9217428b00e603e329382cdb129d7e5f47dae02726
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	9	2026-11-18 05:22:24.569195+00	01a1ed1b-30b8-206d-5273-9f748c519966	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"dea6929dea8fbe99c943534af23f7f6a"},"plan":"01M7PHPC3BDDZTHF324YDFR6ZQ","to":"applied","version":5}	\\x8a7c39146372cbeecfd74d9217428b00e603e329382cdb129d7e5f47dae02726	\\x80be6ea7df955d6b4b7e7dc2df666074cca85d9ce54343ac0af890cd3a0adc02
01a1ed1b-2fda-fa86-4303-54bf817496bf	11	2026-11-18 05:22:24.572457+00	01a1ed1b-30bc-3d10-9870-db1dbe609e83	plan.undone	ana	{"from":"applied","note":{"by":["01M7PHPC3BDDZTHF324YDFR6ZQ"]},"plan":"01M7PHPBYTZA3460TMQY0Q95NZ","to":"undone","version":7}	\\x725c70d6260efabe1a21a048fac3eb4b55872db4f8cc83cf009c5292c95f3086	\\xb435d13aded1998012791b54c79102de166d2ff2176aab39894634ec1f66d870
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	17	2026-11-18 05:22:24.581358+00	01a1ed1b-30c5-c127-18f5-769df961afee	plan.undone	ana	{"from":"undone","note":{"by":["01M7PHPC3BDDZTHF324YDFR6ZQ"]},"plan":"01M7PHPBEB6NC19G6R31CZFAXH","to":"applied","version":11}	\\x5a5c70b27a51dca7a8a82d9c32ba0243bf777f8609c1e2a5d7a772f846dc7d1e	\\xefbbc371f9a541c47bfda75df56eadff8bcfc8b0945ad40c434d38ed2470edb2
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	1	2026-11-18 05:22:24.618097+00	\N	plan.created	ana	{"name":"part-undone","roots":["/tmp/agents-0.1-postgres/roots/part-undone"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x7d7983a764b43cc99e4100de67ca16328e5288eae8ed1e73801b1bb8626eccc1
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	2	2026-11-18 05:22:24.658223+00	01a1ed1b-3112-5d42-f3b6-842600891e0d	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"running","version":2}	\\x7d7983a764b43cc99e4100de67ca16328e5288eae8ed1e73801b1bb8626eccc1	\\x043478b6258a9649aeba0fa76c861696748411f5956635535d40886b5865a2c6
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	3	2026-11-18 05:22:24.66101+00	\N	changeset.started	ana	{"changeset":"01M7PHPC8HBB5M4DXMSKVN9RHW","node":null,"owner":"process 145 (148517/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPC81QQ6PP0V06RY70AP9"}	\\x043478b6258a9649aeba0fa76c861696748411f5956635535d40886b5865a2c6	\\xad91cb9983f9dbbb380391692ad0a5a17619d0627560937a37b0229a4d98d735
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	4	2026-11-18 05:22:24.737444+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPC8HBB5M4DXMSKVN9RHW","digest":"67f769e9fc17de5fa6ebb69d2d4b87fcc52d9e260cea54c41246abcae6709c9a","entries":2,"reason":null}	\\xad91cb9983f9dbbb380391692ad0a5a17619d0627560937a37b0229a4d98d735	\\x9df9a2c6bc23a2c3f37ce3ad08236507ae8a02387b95ef43773b360eb711da89
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	5	2026-11-18 05:22:24.741024+00	01a1ed1b-3164-f9cb-0705-fb78080a0790	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"ready","version":3}	\\x9df9a2c6bc23a2c3f37ce3ad08236507ae8a02387b95ef43773b360eb711da89	\\xd5c039e02dc97a554bc8f3334350a47abb08a139c04e722f4061d0a9ab95f45f
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	6	2026-11-18 05:22:24.759991+00	01a1ed1b-3177-6fc6-d762-4ab770e5d0e0	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"running","version":4}	\\xd5c039e02dc97a554bc8f3334350a47abb08a139c04e722f4061d0a9ab95f45f	\\x308a381d7ddb67f86797e503ca4c78b5a946f5dcd2e1b7de876ca20cd28a5cba
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	7	2026-11-18 05:22:24.765069+00	\N	changeset.started	bob	{"changeset":"01M7PHPCBQDZ3DERJAPXREBM6Z","node":null,"owner":"process 151 (148529/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPCBN7QF8DJ96FMNSNFPP"}	\\x308a381d7ddb67f86797e503ca4c78b5a946f5dcd2e1b7de876ca20cd28a5cba	\\xe4f2e8ea0a5cc3a48c86da5fcd3f94e0e22a1a9fd478b01a14b94d44d838053e
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	8	2026-11-18 05:22:24.961455+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPCBQDZ3DERJAPXREBM6Z","digest":"ec7553b6a882c11cf00afc5b9caf9956eac2532331ca411854da6f52bac83a14","entries":3,"reason":null}	\\xe4f2e8ea0a5cc3a48c86da5fcd3f94e0e22a1a9fd478b01a14b94d44d838053e	\\xf2b08fcb9185cec67093f59ded256c3c60f1b5884b5d63badb37260f13a1f783
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	9	2026-11-18 05:22:24.973121+00	01a1ed1b-324d-767d-1419-686658ad56d3	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"ready","version":5}	\\xf2b08fcb9185cec67093f59ded256c3c60f1b5884b5d63badb37260f13a1f783	\\xe877958f4aba796d5a0de1fa02983fb8ec178d79364f82d99fa6a9fbbd1524ae
01a1ed1b-3494-eb11-db93-983fd65d953a	3	2026-11-18 05:22:25.580067+00	\N	changeset.started	ana	{"changeset":"01M7PHPD58XMBEZS3S523NQBH4","node":null,"owner":"process 183 (148611/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPD56QA2P47HVD37KS1ZZ"}	\\x652166d857527960957341645aa6e35424342bd0ffa9b23bae875d4c4da39c5c	\\x03587c41a63f0688aa0a3cb428d26403ef9d64fbef0595b38ff0480f412f6963
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	10	2026-11-18 05:22:25.037697+00	01a1ed1b-328d-4f81-00e0-4fe95c517fe8	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"a18a56d42af8661a48d3867a7ecafcb4"},"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"applying","version":6}	\\xe877958f4aba796d5a0de1fa02983fb8ec178d79364f82d99fa6a9fbbd1524ae	\\xa1d175811ce9b11f0a59a71c0e3b5ecf4a79ba500c495fc9b59057f0454b2c47
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	11	2026-11-18 05:22:25.045096+00	\N	changeset.started	ana	{"changeset":"01M7PHPCMD9Y0G1R2FX5E52ZZ7","node":null,"owner":"process 160 (148553/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPCK5C2JP35YNR7SSDA9S"}	\\xa1d175811ce9b11f0a59a71c0e3b5ecf4a79ba500c495fc9b59057f0454b2c47	\\xbe415e5e58fa69c6dd43f1dbaeecd9e02ed32bff5a57120346308a309cd0fb79
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	12	2026-11-18 05:22:25.056786+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPCMD9Y0G1R2FX5E52ZZ7","digest":"b3885bab16aa934b13e4afd7637e831a6412b7e571ff45dcd94cb89067fa3471","entries":5,"reason":"what an apply changes, written down before it begins"}	\\xbe415e5e58fa69c6dd43f1dbaeecd9e02ed32bff5a57120346308a309cd0fb79	\\x36cca857cc74aa0a33721042b21bbbe64b054a34809778f54f7427aca35a5db3
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	13	2026-11-18 05:22:25.099125+00	01a1ed1b-32cb-66e9-77ae-f8f4daf698f2	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"a18a56d42af8661a48d3867a7ecafcb4"},"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"applied","version":7}	\\x36cca857cc74aa0a33721042b21bbbe64b054a34809778f54f7427aca35a5db3	\\x757829d450dce716e05d0de6c22054a9b30520da49db79bd9c873f30a6bb0651
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	1	2026-11-18 05:22:25.138552+00	\N	plan.created	ana	{"name":null,"roots":["/tmp/agents-0.1-postgres/roots/part-undone"],"state":"queued","undo_of":"01M7PHPC793DF4VJTGAV60JH90"}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xe2d7e337c957350d7f5c4b9a5c9e5de6e28f31eecf402bcc102362bc018f4a73
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	2	2026-11-18 05:22:25.141614+00	01a1ed1b-32f5-e8d5-4db8-1eee27f0c0be	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPCQJ0CY8SB8V7R65TWK5","to":"running","version":2}	\\xe2d7e337c957350d7f5c4b9a5c9e5de6e28f31eecf402bcc102362bc018f4a73	\\x23b3e2b4fa213b0a00a85c30c40334b73d6fe8d5f21db6a66c7084b76681ce6b
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	3	2026-11-18 05:22:25.145029+00	\N	changeset.started	ana	{"changeset":"01M7PHPCQNX3AMVE0YXRKZ1G5X","node":null,"owner":"process 161 (148566/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPCQ6VJ7VVD3HX8YEY07X"}	\\x23b3e2b4fa213b0a00a85c30c40334b73d6fe8d5f21db6a66c7084b76681ce6b	\\xb85de9c2b12d60f2083096ace695a05783044bc39463f827a22bab759e514863
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	4	2026-11-18 05:22:25.152773+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPCQNX3AMVE0YXRKZ1G5X","digest":"75826753a14405a0234c524f5f52c3e0003b2f7a741fde42dcc87df616764e6a","entries":3,"reason":null}	\\xb85de9c2b12d60f2083096ace695a05783044bc39463f827a22bab759e514863	\\x5f46cf84c5938c0d9dfc8c93c2a542fe3047c869d1a0ed8a5b740c48280d901d
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	5	2026-11-18 05:22:25.157047+00	01a1ed1b-3304-c1c9-af7b-5b4ccc99b179	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPCQJ0CY8SB8V7R65TWK5","to":"ready","version":3}	\\x5f46cf84c5938c0d9dfc8c93c2a542fe3047c869d1a0ed8a5b740c48280d901d	\\x98fb89f7c340a9358bd2fcc16fc7fa507c619dcc5c242dc715c54da7cebfaea4
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	6	2026-11-18 05:22:25.163003+00	01a1ed1b-330a-537d-cbe9-b2a606017c40	plan.applying	ana	{"from":"ready","note":{"files":3,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"dbd973f81321c6d2a472d92da857839c"},"plan":"01M7PHPCQJ0CY8SB8V7R65TWK5","to":"applying","version":4}	\\x98fb89f7c340a9358bd2fcc16fc7fa507c619dcc5c242dc715c54da7cebfaea4	\\xdfdad50255a5f9fd82ab9342112a2ca9abd8bdccf2fa0faba58d2ba54ad8e825
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	14	2026-11-18 05:22:25.169457+00	01a1ed1b-3311-4dcf-9c41-8f6fe7d5c269	plan.undoing	ana	{"from":"applied","note":{"by":"01M7PHPCQJ0CY8SB8V7R65TWK5"},"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"applied","version":8}	\\x757829d450dce716e05d0de6c22054a9b30520da49db79bd9c873f30a6bb0651	\\xf547ba8a794666df8075a683b4ca7be290af70b3de67e4b828526ab190038a69
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	7	2026-11-18 05:22:25.173061+00	\N	changeset.started	ana	{"changeset":"01M7PHPCRAADYWQTDJMR302Z1Z","node":null,"owner":"process 161 (148566/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPCQ6VJ7VVD3HX8YEY07X"}	\\xdfdad50255a5f9fd82ab9342112a2ca9abd8bdccf2fa0faba58d2ba54ad8e825	\\x5937b2077a499b5be72b7028c4f02206fa38352c943fd7d864545b68ce9a9c93
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	8	2026-11-18 05:22:25.180765+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPCRAADYWQTDJMR302Z1Z","digest":"26f173bbeaccb0fe4b4019fcd1bbe883f1e11156933bcdd351015bdd6edcde87","entries":3,"reason":"what an apply changes, written down before it begins"}	\\x5937b2077a499b5be72b7028c4f02206fa38352c943fd7d864545b68ce9a9c93	\\x0a649143872df5bcd142df1213e0d78360d0d895fd6d8dc5e8c2a0644f21df21
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	9	2026-11-18 05:22:25.225143+00	01a1ed1b-3348-a5ab-b8bb-cdebdba1d21d	plan.applied	ana	{"from":"applying","note":{"files":3,"kept":[],"transaction":"dbd973f81321c6d2a472d92da857839c"},"plan":"01M7PHPCQJ0CY8SB8V7R65TWK5","to":"applied","version":5}	\\x0a649143872df5bcd142df1213e0d78360d0d895fd6d8dc5e8c2a0644f21df21	\\xd5ad7bfc10eb5cda335d4c2608454c253b7cd915fad03df34c68d96c709d6311
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	15	2026-11-18 05:22:25.23062+00	01a1ed1b-334e-bf2c-ff8a-a3687e647dd6	plan.undone	ana	{"from":"applied","note":{"by":["01M7PHPCQJ0CY8SB8V7R65TWK5"]},"plan":"01M7PHPC793DF4VJTGAV60JH90","to":"applied","version":9}	\\xf547ba8a794666df8075a683b4ca7be290af70b3de67e4b828526ab190038a69	\\x1839cd0edc6a1007675f34a6158521a09f6f407e5a79f8594ad594ed26d145ae
01a1ed1b-336a-0780-8914-a577a6ccb162	1	2026-11-18 05:22:25.258577+00	\N	plan.created	ana	{"name":"drifted","roots":["/tmp/agents-0.1-postgres/roots/drifted"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x748c4ede0aff52731f990aaca821ee8b31b1636a0ed83adbc83baa8e33c8ab68
01a1ed1b-336a-0780-8914-a577a6ccb162	2	2026-11-18 05:22:25.281295+00	01a1ed1b-3381-8c39-a841-fd94d61dd09b	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPCVA0Y08J555EYKCSCB2","to":"running","version":2}	\\x748c4ede0aff52731f990aaca821ee8b31b1636a0ed83adbc83baa8e33c8ab68	\\x1f4d7a2f3d151f137ea673259158f08bda87b35ef9020fc75dcd24ae7db5f756
01a1ed1b-336a-0780-8914-a577a6ccb162	3	2026-11-18 05:22:25.285112+00	\N	changeset.started	ana	{"changeset":"01M7PHPCW0NVP1NQK9RKBNCHW1","node":null,"owner":"process 164 (148581/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPCVYW3E5XYQMT8FAXS70"}	\\x1f4d7a2f3d151f137ea673259158f08bda87b35ef9020fc75dcd24ae7db5f756	\\x6841157dbd9488201601cbf86d082b660f607f3cef01ef4cac827c57dca65190
01a1ed1b-336a-0780-8914-a577a6ccb162	4	2026-11-18 05:22:25.361357+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPCW0NVP1NQK9RKBNCHW1","digest":"70866bb73f9b18c1b81e57648c07798312acbc343e7349dfa92a0ea38258e8cc","entries":2,"reason":null}	\\x6841157dbd9488201601cbf86d082b660f607f3cef01ef4cac827c57dca65190	\\x43a16af37bf625dc24b705e057427c8fa0c1082876ef62d8be702ef1663b8e86
01a1ed1b-336a-0780-8914-a577a6ccb162	5	2026-11-18 05:22:25.365111+00	01a1ed1b-33d5-2d56-2303-2e4b53fdb72c	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPCVA0Y08J555EYKCSCB2","to":"ready","version":3}	\\x43a16af37bf625dc24b705e057427c8fa0c1082876ef62d8be702ef1663b8e86	\\x3206ab1fa508200c256eee3980e63f186f8d7fe68698e29b0f40bfe02d334aec
01a1ed1b-336a-0780-8914-a577a6ccb162	6	2026-11-18 05:22:25.383421+00	01a1ed1b-33e7-2f61-ec8b-98ace5cd872c	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPCVA0Y08J555EYKCSCB2","to":"running","version":4}	\\x3206ab1fa508200c256eee3980e63f186f8d7fe68698e29b0f40bfe02d334aec	\\x0bd61aad0c05b638e550305db8c240aca0ae1c611777f7ebb2cfe47da6222277
01a1ed1b-336a-0780-8914-a577a6ccb162	7	2026-11-18 05:22:25.385014+00	\N	changeset.started	bob	{"changeset":"01M7PHPCZ629BXAHVTKZRSV6Q6","node":null,"owner":"process 170 (148591/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPCZ5VS4W5N97JVHCAXBQ"}	\\x0bd61aad0c05b638e550305db8c240aca0ae1c611777f7ebb2cfe47da6222277	\\xe6af35d1866a351305906c7a6f836ff804f51cedd6b8c705caf55c6081e7c675
01a1ed1b-336a-0780-8914-a577a6ccb162	8	2026-11-18 05:22:25.489431+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPCZ629BXAHVTKZRSV6Q6","digest":"bc40dc3510ca441f814001e81de5b38753f929edae786ab6c462c05c748e3643","entries":3,"reason":null}	\\xe6af35d1866a351305906c7a6f836ff804f51cedd6b8c705caf55c6081e7c675	\\xed95339cf7a3e01748009a58b8d8bea97c5ef6ea671ec31c20c240e5bdc0742d
01a1ed1b-336a-0780-8914-a577a6ccb162	9	2026-11-18 05:22:25.493033+00	01a1ed1b-3454-f190-d984-478d88ddafc2	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPCVA0Y08J555EYKCSCB2","to":"ready","version":5}	\\xed95339cf7a3e01748009a58b8d8bea97c5ef6ea671ec31c20c240e5bdc0742d	\\xaa1ddc7897a08fb7681fc8430349a79d545ea7838a7eaf9b601cb30948ccea01
01a1ed1b-336a-0780-8914-a577a6ccb162	10	2026-11-18 05:22:25.539194+00	01a1ed1b-3483-f458-c2bf-cd531d0c937d	plan.conflict	ana	{"from":"ready","note":{"error":"plan 01M7PHPCVA0Y08J555EYKCSCB2 found 1 file changed since it was recorded, `text.txt`; nothing was touched","paths":["text.txt"]},"plan":"01M7PHPCVA0Y08J555EYKCSCB2","to":"conflict","version":6}	\\xaa1ddc7897a08fb7681fc8430349a79d545ea7838a7eaf9b601cb30948ccea01	\\x92666d0e30af377533ffb785a7061105f380ce8e61cca7651036805bc7077895
01a1ed1b-3494-eb11-db93-983fd65d953a	1	2026-11-18 05:22:25.556981+00	\N	plan.created	ana	{"name":"cancelled","roots":["/tmp/agents-0.1-postgres/roots/cancelled"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xc8ea92199a58d924d53d1c7f84eddd0183364d73a634cea578e5514099639da0
01a1ed1b-3494-eb11-db93-983fd65d953a	4	2026-11-18 05:22:25.653611+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPD58XMBEZS3S523NQBH4","digest":"91b8b2bc32e4920a671cc9a10d5f4bcdd1d6deb90c616094653c37931136db31","entries":1,"reason":"abandoned by hand"}	\\x03587c41a63f0688aa0a3cb428d26403ef9d64fbef0595b38ff0480f412f6963	\\xc6a7c0e7d7c620c294e1076893a7da84a3858a20f0182a93e7ed4db1bc9fea19
01a1ed1b-3494-eb11-db93-983fd65d953a	5	2026-11-18 05:22:25.665169+00	01a1ed1b-3501-f014-f3b7-819c62dad3fa	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPD4MXC8XQ4WR7ZB5V59T","to":"ready","version":3}	\\xc6a7c0e7d7c620c294e1076893a7da84a3858a20f0182a93e7ed4db1bc9fea19	\\x5708dc7e446d3c191c6c26b0f96aae2d0b1f4d9efa05511300bbb87f24691a71
01a1ed1b-3494-eb11-db93-983fd65d953a	6	2026-11-18 05:22:25.691209+00	01a1ed1b-351b-93cf-93b7-44b747da5ddd	plan.cancelled	ana	{"from":"ready","note":{"reason":"cancelled by hand"},"plan":"01M7PHPD4MXC8XQ4WR7ZB5V59T","to":"cancelled","version":4}	\\x5708dc7e446d3c191c6c26b0f96aae2d0b1f4d9efa05511300bbb87f24691a71	\\x1061844a8df7b26848c7eed75fd8d7cea260311e2e3194f5458eaeca73c8a3df
01a1ed1b-353a-6560-66fb-57572a49f8af	1	2026-11-18 05:22:25.722597+00	\N	plan.created	ana	{"name":"removed","roots":["/tmp/agents-0.1-postgres/roots/removed"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xcf5bffff12f351ce8fb0fdf514bce0e2303eea3a3967443543bbffc536687e64
01a1ed1b-353a-6560-66fb-57572a49f8af	2	2026-11-18 05:22:25.75446+00	01a1ed1b-355a-2162-e19c-d6bbcbd9b358	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPD9TCNG6DYTQAWN4KY5F","to":"running","version":2}	\\xcf5bffff12f351ce8fb0fdf514bce0e2303eea3a3967443543bbffc536687e64	\\x101c842acf1bf4edf7ab525a520423a92c7e0e32fe980729c2bbc6f4de9465f9
01a1ed1b-353a-6560-66fb-57572a49f8af	3	2026-11-18 05:22:25.765181+00	\N	changeset.started	ana	{"changeset":"01M7PHPDASGDDQRA78B86Q3FDD","node":null,"owner":"process 191 (148628/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPDAQ3A3PXJMSPGC0Y87M"}	\\x101c842acf1bf4edf7ab525a520423a92c7e0e32fe980729c2bbc6f4de9465f9	\\xd9e2ae42e5771cf8a7ded86a6245a80862938aa27fad31f8340eac7be51d56d2
01a1ed1b-353a-6560-66fb-57572a49f8af	4	2026-11-18 05:22:25.885582+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPDASGDDQRA78B86Q3FDD","digest":"f3402eb4333118d37fd016fcdf69ba487e5caf3f91f30f987b35ad639f56603f","entries":2,"reason":null}	\\xd9e2ae42e5771cf8a7ded86a6245a80862938aa27fad31f8340eac7be51d56d2	\\x9b7665b79faf29ecee5eb2b55305a9f4578a9bb46896c1d70072fbcdca81416a
01a1ed1b-353a-6560-66fb-57572a49f8af	5	2026-11-18 05:22:25.895175+00	01a1ed1b-35e7-2c15-1305-238f5e820c3d	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPD9TCNG6DYTQAWN4KY5F","to":"ready","version":3}	\\x9b7665b79faf29ecee5eb2b55305a9f4578a9bb46896c1d70072fbcdca81416a	\\x0249940a91e853786d0f25c2e1fa1d5821b0ad6ec868764d519a51d5c1426a2d
01a1ed1b-353a-6560-66fb-57572a49f8af	6	2026-11-18 05:22:25.928102+00	01a1ed1b-3608-5447-b179-da2288079715	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPD9TCNG6DYTQAWN4KY5F","to":"running","version":4}	\\x0249940a91e853786d0f25c2e1fa1d5821b0ad6ec868764d519a51d5c1426a2d	\\x92baecb0a212ac575db300b886b76e9c0902784351b3bdbd920239885603ef42
01a1ed1b-353a-6560-66fb-57572a49f8af	7	2026-11-18 05:22:25.934045+00	\N	changeset.started	bob	{"changeset":"01M7PHPDG7P02DFAH800BJYSG4","node":null,"owner":"process 197 (148645/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPDG42K6C373KTATX0SPS"}	\\x92baecb0a212ac575db300b886b76e9c0902784351b3bdbd920239885603ef42	\\x6738509d75c554d4dade3c0ae3693073278f4941cccc4565d32a97d3cebfc717
01a1ed1b-353a-6560-66fb-57572a49f8af	8	2026-11-18 05:22:26.093469+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPDG7P02DFAH800BJYSG4","digest":"9da8cd914d345196b558e85e92bda6730883d8d94bb16fe7fcb33f951da4facd","entries":3,"reason":null}	\\x6738509d75c554d4dade3c0ae3693073278f4941cccc4565d32a97d3cebfc717	\\x200be86a578bd680ad7478ce58f03439fcb8b8c571d5f869e9e41e7b27991303
01a1ed1b-353a-6560-66fb-57572a49f8af	9	2026-11-18 05:22:26.100157+00	01a1ed1b-36b4-233b-5ca7-a20820a438d9	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPD9TCNG6DYTQAWN4KY5F","to":"ready","version":5}	\\x200be86a578bd680ad7478ce58f03439fcb8b8c571d5f869e9e41e7b27991303	\\x3c01d44bc470fa9f76231066fd67c09b720ef491b0ff453eba9b7a5dd08ded20
01a1ed1b-353a-6560-66fb-57572a49f8af	10	2026-11-18 05:22:26.141669+00	01a1ed1b-36dd-9803-c753-66cf4369071e	plan.applying	ana	{"from":"ready","note":{"files":5,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"31e7e7f444249a65c4ee47f5fcb58305"},"plan":"01M7PHPD9TCNG6DYTQAWN4KY5F","to":"applying","version":6}	\\x3c01d44bc470fa9f76231066fd67c09b720ef491b0ff453eba9b7a5dd08ded20	\\x522487783fc702b18614df60bd3c94835f6e9d9352a3ec51bfab919b6eb8a048
01a1ed1b-353a-6560-66fb-57572a49f8af	11	2026-11-18 05:22:26.14508+00	\N	changeset.started	ana	{"changeset":"01M7PHPDPXK01WEMV6SX1PJ1RX","node":null,"owner":"process 206 (148665/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPDNW3ZPHMEH3VPS4VKTY"}	\\x522487783fc702b18614df60bd3c94835f6e9d9352a3ec51bfab919b6eb8a048	\\xd066f99d8d13998049ef8723966f27f1f71219e0d4e0d42bb1e571732bbebd08
01a1ed1b-353a-6560-66fb-57572a49f8af	12	2026-11-18 05:22:26.150771+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPDPXK01WEMV6SX1PJ1RX","digest":"7c49935912f9129c2f238627f8ef3c8e0e49b8f3dccd89d8cf335e6dec794295","entries":5,"reason":"what an apply changes, written down before it begins"}	\\xd066f99d8d13998049ef8723966f27f1f71219e0d4e0d42bb1e571732bbebd08	\\x1ed2cf37fac53ccd8ef38a3fadc2e08a476a24dce7cc9341df42e7667a671060
01a1ed1b-353a-6560-66fb-57572a49f8af	13	2026-11-18 05:22:26.190587+00	01a1ed1b-370e-b015-3441-259c82032cc6	plan.applied	ana	{"from":"applying","note":{"files":5,"kept":[],"transaction":"31e7e7f444249a65c4ee47f5fcb58305"},"plan":"01M7PHPD9TCNG6DYTQAWN4KY5F","to":"applied","version":7}	\\x1ed2cf37fac53ccd8ef38a3fadc2e08a476a24dce7cc9341df42e7667a671060	\\xf250556df01b26416d05d695cd6b7c94995a2fed5b3cf10fc108b3b7ef540197
01a1ed1b-353a-6560-66fb-57572a49f8af	14	2026-11-18 05:22:26.215423+00	01a1ed1b-3727-b832-2e81-ecc208d738ed	plan.removed	ana	{"entries":10,"name":"removed","state":"applied","version":7}	\\xf250556df01b26416d05d695cd6b7c94995a2fed5b3cf10fc108b3b7ef540197	\\x73ed3c28ea187432644ed1ec480ae64ff3562b955a51fec90ec952c031306153
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	1	2026-11-18 05:22:26.247778+00	\N	plan.created	ana	{"name":"failed","roots":["/tmp/agents-0.1-postgres/roots/failed"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xf98dd4c045c074fe400448fff1b3be63e46befab5ccf22e51c1ca0f462d35590
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	2	2026-11-18 05:22:26.257676+00	\N	nodes.created	ana	{"nodes":[{"name":"first","node":"01M7PHPDTHMMVJW1JQ7FY7F698","state":"queued"},{"name":"second","node":"01M7PHPDTHMMVJW1JQ7FY7F699","state":"queued"}]}	\\xf98dd4c045c074fe400448fff1b3be63e46befab5ccf22e51c1ca0f462d35590	\\xceaf84bbd41587b8fc44a4afa2ef0ccc5dcd32a12fe726c2298d2a42d886a3bf
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	3	2026-11-18 05:22:26.264684+00	01a1ed1b-3758-9e7e-bddd-a89b3ee2b698	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPDT7DX6XE2WDBGK7Y6JN","to":"running","version":2}	\\xceaf84bbd41587b8fc44a4afa2ef0ccc5dcd32a12fe726c2298d2a42d886a3bf	\\x65d259fdc9a585e088102cb00bdf0be53b5518b47e18127a7ebcf34721453013
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	4	2026-11-18 05:22:26.275505+00	\N	changeset.started	first	{"changeset":"01M7PHPDV3APTX4JR0WXRETD8K","node":"01M7PHPDTHMMVJW1JQ7FY7F698","owner":"process 210 on version-0-1/01234567, started 148677 in 01234567-89ab-cdef-0123-456789abcdef, 01M7PHPDT7DX6XE2WDBGK7Y6JM"}	\\x65d259fdc9a585e088102cb00bdf0be53b5518b47e18127a7ebcf34721453013	\\xdaae97f3dfe2ae904ef85f264b5587207cbf5a4040f66851b3649c022387a80c
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	5	2026-11-18 05:22:26.280815+00	01a1ed1b-3768-6380-6dd4-4844785aab66	node.step	ana	{"from":"queued","name":"first","node":"01M7PHPDTHMMVJW1JQ7FY7F698","note":null,"to":"running","version":2}	\\xdaae97f3dfe2ae904ef85f264b5587207cbf5a4040f66851b3649c022387a80c	\\x9fd3ca2de7a353713c1f768b1cb9408a9bedfdf1debd6478f555a3205460bac7
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	6	2026-11-18 05:22:26.289569+00	01a1ed1b-3771-e0ed-84f0-1ed54218bfa3	node.step	ana	{"from":"running","name":"first","node":"01M7PHPDTHMMVJW1JQ7FY7F698","note":null,"to":"running","version":3}	\\x9fd3ca2de7a353713c1f768b1cb9408a9bedfdf1debd6478f555a3205460bac7	\\xbd5a148ceed60239d65eacce5d8efeb45e887bee77a235338bba4e2e8a606fe6
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	7	2026-11-18 05:22:26.294416+00	01a1ed1b-3776-4fdd-e4d5-838f2cd603ea	node.step	ana	{"from":"running","name":"first","node":"01M7PHPDTHMMVJW1JQ7FY7F698","note":null,"to":"succeeded","version":4}	\\xbd5a148ceed60239d65eacce5d8efeb45e887bee77a235338bba4e2e8a606fe6	\\x63d97ec595b3f8226e193bde291bd37affb22de8db7008428eb04a8204eb5e37
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	8	2026-11-18 05:22:26.297732+00	\N	changeset.sealed	first	{"changeset":"01M7PHPDV3APTX4JR0WXRETD8K","digest":"fdad02474942d881f3dfe6c30c2d1c9f125533f1a9ed966b5fd369fbcf9c5c29","entries":1,"reason":null}	\\x63d97ec595b3f8226e193bde291bd37affb22de8db7008428eb04a8204eb5e37	\\x75d5585839d656bbac44a0ebf2db0f1bba9a003bee520f6b3e5a98c8ff2c4293
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	9	2026-11-18 05:22:26.30507+00	\N	changeset.started	second	{"changeset":"01M7PHPDW0FX5WEJM09X8PJ4A8","node":"01M7PHPDTHMMVJW1JQ7FY7F699","owner":"process 210 on version-0-1/01234567, started 148677 in 01234567-89ab-cdef-0123-456789abcdef, 01M7PHPDT7DX6XE2WDBGK7Y6JM"}	\\x75d5585839d656bbac44a0ebf2db0f1bba9a003bee520f6b3e5a98c8ff2c4293	\\x465723226131eab0c35de00539d595d6b1cf9e59352ad3186fe6921c074f9008
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	10	2026-11-18 05:22:26.307264+00	01a1ed1b-3783-34c0-3d60-a73288a5a9ed	node.step	ana	{"from":"queued","name":"second","node":"01M7PHPDTHMMVJW1JQ7FY7F699","note":null,"to":"running","version":2}	\\x465723226131eab0c35de00539d595d6b1cf9e59352ad3186fe6921c074f9008	\\x0622b6426b48795445b478c9575afc124d3e2476828c28c6b9212092c0f0691e
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	11	2026-11-18 05:22:26.320251+00	01a1ed1b-3790-d698-acec-49f75fe58ae9	node.step	ana	{"from":"running","name":"second","node":"01M7PHPDTHMMVJW1JQ7FY7F699","note":null,"to":"running","version":3}	\\x0622b6426b48795445b478c9575afc124d3e2476828c28c6b9212092c0f0691e	\\x749426d51b17ec3e44f5b7bbda392fd145723dda74c5f632df0fe42869f6e4ba
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	12	2026-11-18 05:22:26.325088+00	01a1ed1b-3794-84c6-3fbd-bc60e176ac9e	node.step	ana	{"from":"running","name":"second","node":"01M7PHPDTHMMVJW1JQ7FY7F699","note":null,"to":"failed","version":4}	\\x749426d51b17ec3e44f5b7bbda392fd145723dda74c5f632df0fe42869f6e4ba	\\x443fab7fa902464ea1834954daaa26df12b92f263687958be40b0370a3a8f065
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	13	2026-11-18 05:22:26.328747+00	\N	changeset.sealed	second	{"changeset":"01M7PHPDW0FX5WEJM09X8PJ4A8","digest":"0000000000000000000000000000000000000000000000000000000000000000","entries":0,"reason":null}	\\x443fab7fa902464ea1834954daaa26df12b92f263687958be40b0370a3a8f065	\\xb1fe155bbc55c5be227e974118afa00a125b39fa28d922c64b9d471ee55cb8de
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	14	2026-11-18 05:22:26.332981+00	01a1ed1b-379c-06c6-c6a8-c839df7dbbb3	plan.failed	ana	{"from":"running","note":{"error":"node `second`: it exited with 1"},"plan":"01M7PHPDT7DX6XE2WDBGK7Y6JN","to":"failed","version":3}	\\xb1fe155bbc55c5be227e974118afa00a125b39fa28d922c64b9d471ee55cb8de	\\xaffbe9059d40798c94e69e242df8634bff9e4e8c80181276edf7ad2abd0638e8
01a1ed1b-37ed-e92d-fac5-56a21234bd94	1	2026-11-18 05:22:26.413193+00	\N	plan.created	ana	{"name":"cut-run","roots":["/tmp/agents-0.1-postgres/roots/cut-run"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x05ca64af05d4eba26497bb5869024c8a1507a3f7f3da6275024ac54e131151ac
01a1ed1b-37ed-e92d-fac5-56a21234bd94	2	2026-11-18 05:22:26.43237+00	\N	nodes.created	ana	{"nodes":[{"name":"first","node":"01M7PHPE007C7GF6SPNRPNSSVK","state":"queued"},{"name":"second","node":"01M7PHPE007C7GF6SPNRPNSSVM","state":"queued"},{"name":"third","node":"01M7PHPE007C7GF6SPNRPNSSVN","state":"queued"}]}	\\x05ca64af05d4eba26497bb5869024c8a1507a3f7f3da6275024ac54e131151ac	\\xd4760dec1bae1d80f5480357133c29c5c26c07a05b600126dbb7cce81ba28d95
01a1ed1b-37ed-e92d-fac5-56a21234bd94	3	2026-11-18 05:22:26.440667+00	01a1ed1b-3808-20b3-4b7b-92fe532fec16	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPDZDX4PZNHAPM8939FCM","to":"running","version":2}	\\xd4760dec1bae1d80f5480357133c29c5c26c07a05b600126dbb7cce81ba28d95	\\x9ec8fee17097c3ded740abd8d791fdf55783940e50e588d7f165d47925c47bda
01a1ed1b-37ed-e92d-fac5-56a21234bd94	4	2026-11-18 05:22:26.449106+00	\N	changeset.started	first	{"changeset":"01M7PHPE0GQQKV87Q7VZFZT78T","node":"01M7PHPE007C7GF6SPNRPNSSVK","owner":"process 236 on version-0-1/01234567, started 148693 in 01234567-89ab-cdef-0123-456789abcdef, 01M7PHPDZCM6TNV34B6HPDNB42"}	\\x9ec8fee17097c3ded740abd8d791fdf55783940e50e588d7f165d47925c47bda	\\xfe56d68d559ac2651ae060c20870d404330b75b52f34ff16731de528b5a6c87a
01a1ed1b-37ed-e92d-fac5-56a21234bd94	5	2026-11-18 05:22:26.452635+00	01a1ed1b-3814-2daa-1df2-b03c3b2b2883	node.step	ana	{"from":"queued","name":"first","node":"01M7PHPE007C7GF6SPNRPNSSVK","note":null,"to":"running","version":2}	\\xfe56d68d559ac2651ae060c20870d404330b75b52f34ff16731de528b5a6c87a	\\xd59465b5b4933610e5bb02967f2266fffaed35750db70e1532f222db9312188b
01a1ed1b-37ed-e92d-fac5-56a21234bd94	6	2026-11-18 05:22:26.478616+00	01a1ed1b-382d-d95d-cd72-3de5131d741a	node.step	ana	{"from":"running","name":"first","node":"01M7PHPE007C7GF6SPNRPNSSVK","note":null,"to":"running","version":3}	\\xd59465b5b4933610e5bb02967f2266fffaed35750db70e1532f222db9312188b	\\x344c49b116d7d18190e603ea90b79a151bc27fa8ce4b168f25f23235553c0801
01a1ed1b-37ed-e92d-fac5-56a21234bd94	7	2026-11-18 05:22:26.488888+00	01a1ed1b-3838-0b50-aac9-9629f976fa80	node.step	ana	{"from":"running","name":"first","node":"01M7PHPE007C7GF6SPNRPNSSVK","note":null,"to":"succeeded","version":4}	\\x344c49b116d7d18190e603ea90b79a151bc27fa8ce4b168f25f23235553c0801	\\xd86c88c7b79d33cbb4b32be7c46b1c7f717d1bdf1952fbfc3b473b851e24a57a
01a1ed1b-37ed-e92d-fac5-56a21234bd94	8	2026-11-18 05:22:26.50336+00	\N	changeset.sealed	first	{"changeset":"01M7PHPE0GQQKV87Q7VZFZT78T","digest":"6fc3d2763fdd99e4edf7447150ded22cf086da0230509e9d1f3a44ee304aa925","entries":1,"reason":null}	\\xd86c88c7b79d33cbb4b32be7c46b1c7f717d1bdf1952fbfc3b473b851e24a57a	\\xe0cf57767bdc95e0d9965e676632eded88b5713d00406613851aa68efd96caf4
01a1ed1b-37ed-e92d-fac5-56a21234bd94	9	2026-11-18 05:22:26.517769+00	\N	changeset.started	second	{"changeset":"01M7PHPE2NQ25Z9Q0BQDQRQEGT","node":"01M7PHPE007C7GF6SPNRPNSSVM","owner":"process 236 on version-0-1/01234567, started 148693 in 01234567-89ab-cdef-0123-456789abcdef, 01M7PHPDZCM6TNV34B6HPDNB42"}	\\xe0cf57767bdc95e0d9965e676632eded88b5713d00406613851aa68efd96caf4	\\x230ad1c6e4e296399d5652767a1184b1e46cd0b273cdaa9cf68cc27109dd8a77
01a1ed1b-37ed-e92d-fac5-56a21234bd94	10	2026-11-18 05:22:26.520843+00	01a1ed1b-3858-cf41-3685-ea1399afa036	node.step	ana	{"from":"queued","name":"second","node":"01M7PHPE007C7GF6SPNRPNSSVM","note":null,"to":"running","version":2}	\\x230ad1c6e4e296399d5652767a1184b1e46cd0b273cdaa9cf68cc27109dd8a77	\\x9fd47f21329f38fa3ef63bd9fa72d878adceb6b1df14abac1832d0597ab84360
01a1ed1b-37ed-e92d-fac5-56a21234bd94	11	2026-11-18 05:22:26.535213+00	01a1ed1b-3867-f0f2-13bc-31df3aee4abc	node.step	ana	{"from":"running","name":"second","node":"01M7PHPE007C7GF6SPNRPNSSVM","note":null,"to":"running","version":3}	\\x9fd47f21329f38fa3ef63bd9fa72d878adceb6b1df14abac1832d0597ab84360	\\x640ef2357d33c3840dbe84527add474889da7b5b8a9c33ee997b7bfdc15c69db
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	1	2026-11-18 05:22:27.582459+00	\N	plan.created	ana	{"name":"cut-one","roots":["/tmp/agents-0.1-postgres/roots/cut-one"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\xf75e629455e5e42b43d8706e4f296ee16b5a9194037de1b989391498a09f4fb1
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	2	2026-11-18 05:22:27.636513+00	01a1ed1b-3cb4-11ae-578e-dc04851a7fb9	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"running","version":2}	\\xf75e629455e5e42b43d8706e4f296ee16b5a9194037de1b989391498a09f4fb1	\\x087683e9a71cb3e51ffd682db6ed4cf001d2cf1d9465b29a3166260943501403
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	3	2026-11-18 05:22:27.649154+00	\N	changeset.started	ana	{"changeset":"01M7PHPF5KN4D3AVS3SCAKG0PB","node":null,"owner":"process 296 (148814/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPF5H9J3QK9VMT679JKB1"}	\\x087683e9a71cb3e51ffd682db6ed4cf001d2cf1d9465b29a3166260943501403	\\xe6694fc4889c16a70071ff9a9cf0e5e2c8e835626a68c707da0772b726b14faa
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	4	2026-11-18 05:22:27.741427+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPF5KN4D3AVS3SCAKG0PB","digest":"694a40b7f32cbe214f085a025bba8c672096d906276e1c1106e64fd40ceda5c5","entries":2,"reason":null}	\\xe6694fc4889c16a70071ff9a9cf0e5e2c8e835626a68c707da0772b726b14faa	\\x610fd3e9dcba486922bba8616047b3b9b68e6c62b2c4ab46951c5193578cfba1
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	5	2026-11-18 05:22:27.745076+00	01a1ed1b-3d21-2947-68dd-12ae51b60d1c	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"ready","version":3}	\\x610fd3e9dcba486922bba8616047b3b9b68e6c62b2c4ab46951c5193578cfba1	\\x6c9f773926e03238c89fd19e81a4b52721ee2c810c333b9aad473fd479ee928c
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	6	2026-11-18 05:22:27.761723+00	01a1ed1b-3d31-aa11-f190-0c8bd469babd	plan.step	bob	{"from":"ready","note":null,"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"running","version":4}	\\x6c9f773926e03238c89fd19e81a4b52721ee2c810c333b9aad473fd479ee928c	\\x5f600f28c16cf5b5e897d22d8dab0ca9ed46c7bf8946e8666118b3e019bf202f
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	7	2026-11-18 05:22:27.765064+00	\N	changeset.started	bob	{"changeset":"01M7PHPF9HN88Z340CHFA6KENW","node":null,"owner":"process 302 (148829/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPF9DCBDEKG9TYTH48YEH"}	\\x5f600f28c16cf5b5e897d22d8dab0ca9ed46c7bf8946e8666118b3e019bf202f	\\xab550e9feca10ee8e9e9e7dfec7d4568383591f56b9f3d4e74b748c73dc54d22
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	8	2026-11-18 05:22:27.921568+00	\N	changeset.sealed	bob	{"changeset":"01M7PHPF9HN88Z340CHFA6KENW","digest":"2abd35ed4c8f713a1ca25188c4b7da65b812279a8003b21cae8f1669bdb06111","entries":3,"reason":null}	\\xab550e9feca10ee8e9e9e7dfec7d4568383591f56b9f3d4e74b748c73dc54d22	\\xce4a5b04f516c140fe3cb57922e31b419a366b6cf03a72fb64f68e332b019af3
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	9	2026-11-18 05:22:27.925193+00	01a1ed1b-3dd5-3835-fcab-f6e1084229b9	plan.step	bob	{"from":"running","note":null,"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"ready","version":5}	\\xce4a5b04f516c140fe3cb57922e31b419a366b6cf03a72fb64f68e332b019af3	\\x19d2cc2687ae8b03f23644c61f1ad1cbba2983bbf744d90391a11b6b689249f2
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	10	2026-11-18 05:22:27.942139+00	01a1ed1b-3de6-5af6-30ea-ee0d43ac09fd	plan.step	carl	{"from":"ready","note":null,"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"running","version":6}	\\x19d2cc2687ae8b03f23644c61f1ad1cbba2983bbf744d90391a11b6b689249f2	\\x1cff32f8f9ecd0cc9d9ef797a0a3934a8529e326932ef6d697858b7d438c6464
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	11	2026-11-18 05:22:27.949199+00	\N	changeset.started	carl	{"changeset":"01M7PHPFF5XBJAXGM2W05VK2XM","node":null,"owner":"process 311 (148847/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPFF14C7A4R2N9HW0RDG4"}	\\x1cff32f8f9ecd0cc9d9ef797a0a3934a8529e326932ef6d697858b7d438c6464	\\xfd713a8bffdd31cbf905e08e257c92b5bae52f6678257ea119f1cb30d0dac96d
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	12	2026-11-18 05:22:28.057358+00	\N	changeset.sealed	carl	{"changeset":"01M7PHPFF5XBJAXGM2W05VK2XM","digest":"57ccc718199871c9acb64473268f258011e3f991d0ecb6a5188a57e81dde33a2","entries":2,"reason":null}	\\xfd713a8bffdd31cbf905e08e257c92b5bae52f6678257ea119f1cb30d0dac96d	\\x3af8ace78e287215b633b9002c8101c0e712602f73d96a32bfdf3e5dd3ce4567
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	13	2026-11-18 05:22:28.06119+00	01a1ed1b-3e5d-d878-ade8-04a87cf4c7bb	plan.step	carl	{"from":"running","note":null,"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"ready","version":7}	\\x3af8ace78e287215b633b9002c8101c0e712602f73d96a32bfdf3e5dd3ce4567	\\x0fc8632fca2e9a9be4eadb74155f2b006136a7399a5c8dbac7be645d696ea418
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	14	2026-11-18 05:22:28.126903+00	01a1ed1b-3e9e-e94c-1c57-53071235d11b	plan.applying	ana	{"from":"ready","note":{"files":7,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"a3229ae029d845eafd8b426c20008ca4"},"plan":"01M7PHPF3YNNRTBV7NHT0XM5D0","to":"applying","version":8}	\\x0fc8632fca2e9a9be4eadb74155f2b006136a7399a5c8dbac7be645d696ea418	\\xea8236945a947b047d14e171c752e6211c69c5b806a295bbc2f13ea6841b50ce
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	15	2026-11-18 05:22:28.133588+00	\N	changeset.started	ana	{"changeset":"01M7PHPFMYX561RNTK0W93BM8T","node":null,"owner":"process 322 (148862/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPFM3W0ADDDA4D64TY73J"}	\\xea8236945a947b047d14e171c752e6211c69c5b806a295bbc2f13ea6841b50ce	\\x4ec5f4a8eeaf5b6f497a54256d8d06a61fab344697d17c453d2b3ed363524ced
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	16	2026-11-18 05:22:28.140914+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPFMYX561RNTK0W93BM8T","digest":"2d277f13bef1ab047fabc2691e3e478d3767e8ead5c22d7a220ebb7b486b343e","entries":7,"reason":"what an apply changes, written down before it begins"}	\\x4ec5f4a8eeaf5b6f497a54256d8d06a61fab344697d17c453d2b3ed363524ced	\\x6815ab5770f1be0287d90c1e763a828ab9a6e6805b1ac0e0d02ab9e5934d0c05
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	1	2026-11-18 05:22:28.167853+00	\N	plan.created	ana	{"name":"cut-two","roots":["/tmp/agents-0.1-postgres/roots/cut-two-a","/tmp/agents-0.1-postgres/roots/cut-two-b"],"state":"queued","undo_of":null}	\\x0000000000000000000000000000000000000000000000000000000000000000	\\x6b4a4e0c6887fd3d2566a24a8704bb72496ac374cf7ccf7a7923dd54667faf96
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	2	2026-11-18 05:22:28.20231+00	01a1ed1b-3eea-db7b-3e1f-7290f3471041	plan.step	ana	{"from":"queued","note":null,"plan":"01M7PHPFP7EAP5DRC69R759TRP","to":"running","version":2}	\\x6b4a4e0c6887fd3d2566a24a8704bb72496ac374cf7ccf7a7923dd54667faf96	\\xd3925d56c25ccbd442179ec878667a90e907d3d725dbb35b6351abf880f4d9a5
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	3	2026-11-18 05:22:28.209205+00	\N	changeset.started	ana	{"changeset":"01M7PHPFQ9N785YV68YG1YMYPW","node":null,"owner":"process 330 (148873/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPFQ4WTY9T760K7HX4RW5"}	\\xd3925d56c25ccbd442179ec878667a90e907d3d725dbb35b6351abf880f4d9a5	\\x6d0557e49f260f0d1e0f650ab49204d3cd1e4c966aa141ef5821f1c6307dee3b
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	4	2026-11-18 05:22:28.381584+00	\N	changeset.sealed	ana	{"changeset":"01M7PHPFQ9N785YV68YG1YMYPW","digest":"78afd9d21f4d358f9a3b41c4f5224be223ae2d8516122ca6f59c2a48c34a3a36","entries":4,"reason":null}	\\x6d0557e49f260f0d1e0f650ab49204d3cd1e4c966aa141ef5821f1c6307dee3b	\\x22fe1fff9d871b2a562958e2e255376b16fdf2fa2fb78a782a5a66b18bcc0584
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	5	2026-11-18 05:22:28.385187+00	01a1ed1b-3fa1-2a85-8302-fa75807cc999	plan.step	ana	{"from":"running","note":null,"plan":"01M7PHPFP7EAP5DRC69R759TRP","to":"ready","version":3}	\\x22fe1fff9d871b2a562958e2e255376b16fdf2fa2fb78a782a5a66b18bcc0584	\\x9a4dca402ee16b969499710f4067c67ed584352357a1f4c55a2e85010725cfd0
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	6	2026-11-18 05:22:28.458308+00	01a1ed1b-3fea-bef8-4cc7-01ee7bfe483c	plan.applying	ana	{"from":"ready","note":{"files":4,"machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"transaction":"442bdf00326f399a7342be0d4b3ee0dc"},"plan":"01M7PHPFP7EAP5DRC69R759TRP","to":"applying","version":4}	\\x9a4dca402ee16b969499710f4067c67ed584352357a1f4c55a2e85010725cfd0	\\x56a85dcd889845fcbb18d891e5c32314dc474f8b8045233f7ff1bfe7ac4935fe
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	7	2026-11-18 05:22:28.465516+00	\N	changeset.started	ana	{"changeset":"01M7PHPFZAQVW4SHR1XSXZWJ1V","node":null,"owner":"process 347 (148894/4026532180/01234567-89ab-cdef-0123-456789abcdef), 01M7PHPFYD6D1TTXBP4050G2CZ"}	\\x56a85dcd889845fcbb18d891e5c32314dc474f8b8045233f7ff1bfe7ac4935fe	\\x7a725be7263f586ede195cb660df2920ae6cfc8599caf1e293f27030b3b4b551
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	8	2026-11-18 05:22:28.474008+00	\N	changeset.abandoned	ana	{"changeset":"01M7PHPFZAQVW4SHR1XSXZWJ1V","digest":"7d5eb52b412f8be59b8b8578a825ae736628532606ffc4c3b0b4a1a982bf7adf","entries":4,"reason":"what an apply changes, written down before it begins"}	\\x7a725be7263f586ede195cb660df2920ae6cfc8599caf1e293f27030b3b4b551	\\x40a34cbc76a1c7e7ef5a4cf68f924c318c6b8f186e4d0e6a12ecf5fae8656398
\.


--
-- Data for Name: audit_heads; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.audit_heads (plan, sequence, hash) FROM stdin;
01a1ed1b-2205-11f3-274f-413e47cdac19	1	\\xfb16ef4d5f51acbd0c12390587854eb3e027f59acaf6312046534dae23d45ec9
01a1ed1b-2217-2264-69d4-8972d11f9117	3	\\x76547214215e742d961ed4afa02d1ae721f4182ab5dcad4a56a5a64ad0693992
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	16	\\x6815ab5770f1be0287d90c1e763a828ab9a6e6805b1ac0e0d02ab9e5934d0c05
01a1ed1b-2d4a-03ef-360b-19719079ea82	9	\\x6ec6ee0ceb3f4a433986eaae6d6916c7b5150e2f40f374067740b07f15cc5654
01a1ed1b-2b0b-37a1-23eb-7cd721369193	15	\\xf4e7b5bbb02555877b9f3cf51ec818d934cf516667f27e5addfb6b6531ca27e1
01a1ed1b-336a-0780-8914-a577a6ccb162	10	\\x92666d0e30af377533ffb785a7061105f380ce8e61cca7651036805bc7077895
01a1ed1b-229d-6763-725f-736c276c2f27	13	\\x6ce95e0567047a276b4c3ff09e6db8e5550098617d36e6e1736083a9bb367f35
01a1ed1b-3494-eb11-db93-983fd65d953a	6	\\x1061844a8df7b26848c7eed75fd8d7cea260311e2e3194f5458eaeca73c8a3df
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	8	\\x40a34cbc76a1c7e7ef5a4cf68f924c318c6b8f186e4d0e6a12ecf5fae8656398
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	9	\\xe44a5423ef0ca62d43f8a93034db3f2ec49be88caf414f1269eeb61272aa679c
01a1ed1b-26ae-e538-6782-92485a62c93d	12	\\x004d07b500136d75b232873a81096aaba9b8d05d198088709266b2c04df38846
01a1ed1b-353a-6560-66fb-57572a49f8af	14	\\x73ed3c28ea187432644ed1ec480ae64ff3562b955a51fec90ec952c031306153
01a1ed1b-27c1-881a-f82c-e5d0228406c6	13	\\x745173817bc3e7c6b7e800726a117313b9a11522e9a61aed7a7adb54285faccc
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	9	\\x80be6ea7df955d6b4b7e7dc2df666074cca85d9ce54343ac0af890cd3a0adc02
01a1ed1b-2fda-fa86-4303-54bf817496bf	11	\\xb435d13aded1998012791b54c79102de166d2ff2176aab39894634ec1f66d870
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	17	\\xefbbc371f9a541c47bfda75df56eadff8bcfc8b0945ad40c434d38ed2470edb2
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	14	\\xaffbe9059d40798c94e69e242df8634bff9e4e8c80181276edf7ad2abd0638e8
01a1ed1b-296a-a01e-82df-750466b733bc	13	\\xc6a159438bb0ba3d2aaa8cb004c101795ad556ccadf140bf722ea4d324b8bad4
01a1ed1b-37ed-e92d-fac5-56a21234bd94	11	\\x640ef2357d33c3840dbe84527add474889da7b5b8a9c33ee997b7bfdc15c69db
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	9	\\xd5ad7bfc10eb5cda335d4c2608454c253b7cd915fad03df34c68d96c709d6311
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	15	\\x1839cd0edc6a1007675f34a6158521a09f6f407e5a79f8594ad594ed26d145ae
\.


--
-- Data for Name: blob_chunks; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.blob_chunks (upload, number, bytes, codec, data) FROM stdin;
01a1ed1b-2567-db20-fb05-41c5943cd364	0	1048576	1	\\x28b52ffd804800001000f40000b061206c696e65206f662061206c6f6e672066696c650a0100ceff339f4d4c000008690100fcff3910024c0000086e0100fcff3910024c000008610100fcff3910024c000008200100fcff3910024c0000086c0100fcff3910024c000008650100fcff3910024d000008200100fcff391002
01a1ed1b-2567-db20-fb05-41c5943cd364	1	1048576	1	\\x28b52ffd804800001000f40000b06c6f6e672066696c650a61206c696e65206f662061200100ceff339f4d4c000008660100fcff3910024c0000086e0100fcff3910024c000008610100fcff3910024c000008690100fcff3910024c0000086e0100fcff3910024c000008610100fcff3910024d000008200100fcff391002
01a1ed1b-2567-db20-fb05-41c5943cd364	2	982848	1	\\x28b52ffd804840ff0e00f40000b06c696e65206f662061206c6f6e672066696c650a61200100ceff339f4d4c000008650100fcff3910024c000008200100fcff3910024c0000086c0100fcff3910024c000008660100fcff3910024c0000086e0100fcff3910024c000008610100fcff3910024d0000086901003c7f1d0801
\.


--
-- Data for Name: blobs; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.blobs (hash, bytes, chunks, codec, data, upload, touched_at) FROM stdin;
\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	24	1	0	\\x6f6e650a74776f0a74687265650a666f75720a666976650a	\N	2026-11-18 05:22:20.917941+00
\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	24	1	0	\\x4f4e450a74776f0a74687265650a666f75720a666976650a	\N	2026-11-18 05:22:20.917941+00
\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	12	1	0	\\x746f206265206d6f7665640a	\N	2026-11-18 05:22:21.065756+00
\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	24	1	0	\\x6f6e650a74776f0a74687265650a666f75720a464956450a	\N	2026-11-18 05:22:21.145673+00
\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	14	1	0	\\x746f2062652072656d6f7665640a	\N	2026-11-18 05:22:21.16819+00
\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	12	1	0	\\x6d61646520627920626f620a	\N	2026-11-18 05:22:21.201734+00
\\xe2b6224c251cdf7edfb4fe61fca7d342dea39fbe48eb5103b588c7731bb963f0	4	1	0	\\x0001fffe	\N	2026-11-18 05:22:21.321965+00
\\xbc1f407a11c9377c8b9b13f956b279c8462775105eb958fc9ae3c40de87cc96e	10	1	0	\\x23212f62696e2f73680a	\N	2026-11-18 05:22:21.357132+00
\\xda62c9c5911d6e662d0749b70b486a830f92c2250366732016a4594d17961e9b	8	1	0	\\x746578742e747874	\N	2026-11-18 05:22:21.37757+00
\\xee6d7b692bf392a9802daf3a257040de7e029661b731e8986f4feabfebd6da29	3080000	3	\N	\N	01a1ed1b-2567-db20-fb05-41c5943cd364	2026-11-18 05:22:21.676773+00
\\x08ceffff0e20c66663bd3af9c1466dfcc33811393edfeabdaacd648174f4fa1c	31	1	0	\\x6f6e650a74776f0a7468726565206f6620616e610a666f75720a666976650a	\N	2026-11-18 05:22:21.833988+00
\\xecb1d202a4f2ba2cc01eaa42ca205a6cdcae6717474a2a7b8621dd30f2e41ca2	31	1	0	\\x6f6e650a74776f0a7468726565206f6620626f620a666f75720a666976650a	\N	2026-11-18 05:22:21.953664+00
\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	24	1	0	\\x4f4e450a74776f0a74687265650a666f75720a464956450a	\N	2026-11-18 05:22:23.03689+00
\\xdbada8e50433646218ab917906cb7d5402e83c34fcd9c2ef6fd9069d04fbb494	6	1	0	\\x66697273740a	\N	2026-11-18 05:22:26.292357+00
\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	4	1	0	\\x6e65770a	\N	2026-11-18 05:22:27.981831+00
\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	4	1	0	\\x6f6c640a	\N	2026-11-18 05:22:27.981831+00
\.


--
-- Data for Name: changesets; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.changesets (id, plan, node, actor, status, entries, digest, started_at, ended_at, reason, owner, epoch, expires_at) FROM stdin;
01a1ed1b-2b23-96c7-6669-7b26be0ff5fb	01a1ed1b-2b0b-37a1-23eb-7cd721369193	\N	ana	sealed	2	\\xad1abbbe852a62f7b219662f03b3c06e6b01f393ec54f4df2465c5aab9578f01	2026-11-18 05:22:23.145117+00	2026-11-18 05:22:23.265454+00	\N	\N	7	\N
01a1ed1b-29f4-dea3-2169-ca087f4411af	01a1ed1b-296a-a01e-82df-750466b733bc	\N	bob	sealed	3	\\x5afc53cc25a5a2a049e184b745cee85e61cff8949dafaa02d498860d579cb06f	2026-11-18 05:22:22.8412+00	2026-11-18 05:22:22.977384+00	\N	\N	9	\N
01a1ed1b-273a-114c-15b0-d100c960023b	01a1ed1b-26ae-e538-6782-92485a62c93d	\N	bob	sealed	1	\\x51f6b7a20166ad1077ee21bbc23636720011bbdd79021fe30a00e0b176764981	2026-11-18 05:22:22.145078+00	2026-11-18 05:22:22.189306+00	\N	\N	5	\N
01a1ed1b-2233-0cbd-c36d-4f6a6972b07e	01a1ed1b-2217-2264-69d4-8972d11f9117	\N	ana	open	1	\\x1311b0af716b4104b00578cbe38db5dbb57ce510230db4e76f00b94b4c35bda3	2026-11-18 05:22:20.867811+00	\N	\N	\N	4	\N
01a1ed1b-265f-bbd8-4f6e-7d87963ca8a1	01a1ed1b-25b2-87d3-e9d8-127b535bfd28	\N	bob	sealed	1	\\xfb5bf5205ae851b17bfd4ccd7e835e7840761396025d16d40b8d0112288c8fb3	2026-11-18 05:22:21.925029+00	2026-11-18 05:22:21.97737+00	\N	\N	5	\N
01a1ed1b-23d4-41e5-751d-f50e9f1a67e7	01a1ed1b-229d-6763-725f-736c276c2f27	\N	carl	sealed	4	\\xfd1e921e6d403b0e3bafe9c8834c58812e779397706b8a7382f89e63e37aeba7	2026-11-18 05:22:21.277316+00	2026-11-18 05:22:21.714861+00	\N	\N	11	\N
01a1ed1b-233d-26aa-226d-1922eb885e31	01a1ed1b-229d-6763-725f-736c276c2f27	\N	bob	sealed	3	\\x682a83775be5a69937c821316269f617a29dd14aa83c51330a33f8a03ea58d97	2026-11-18 05:22:21.121035+00	2026-11-18 05:22:21.225367+00	\N	\N	9	\N
01a1ed1b-27ef-dfeb-60be-837d3d194120	01a1ed1b-27c1-881a-f82c-e5d0228406c6	\N	ana	sealed	2	\\xd1b494a5230575ad43f52f4f24c411fdfaa708100f82df6b31903a039f8d17d8	2026-11-18 05:22:22.333207+00	2026-11-18 05:22:22.453401+00	\N	\N	7	\N
01a1ed1b-22bb-0b7d-444c-a4787553ebd3	01a1ed1b-229d-6763-725f-736c276c2f27	\N	ana	sealed	2	\\x8a472c84cb3c08b92c1e37663f57203a7415de958bc5c8b659a9cc1ef95a25f0	2026-11-18 05:22:20.997168+00	2026-11-18 05:22:21.097453+00	\N	\N	7	\N
01a1ed1b-279f-8f1b-aa8f-d0f257a333aa	01a1ed1b-26ae-e538-6782-92485a62c93d	\N	ana	sealed	1	\\x32146bbf3f80db9f0cfc179cd5ebe56f062193e774db4ddfc74cf56be3ffdb2b	2026-11-18 05:22:22.239475+00	2026-11-18 05:22:22.248767+00	\N	\N	1	\N
01a1ed1b-26ce-4784-3370-ad7ddd5f3c5b	01a1ed1b-26ae-e538-6782-92485a62c93d	\N	ana	sealed	1	\\x7dad34498ea746eedd57da0f10585da6411c3fd76c6e059bd6384361339ec740	2026-11-18 05:22:22.034708+00	2026-11-18 05:22:22.11331+00	\N	\N	5	\N
01a1ed1b-25cd-a1be-da56-ee91c3fe41e4	01a1ed1b-25b2-87d3-e9d8-127b535bfd28	\N	ana	sealed	1	\\x91d692ccf24a9d82e6d9e3713221afb21630c793cace02350f9c6711d60b9645	2026-11-18 05:22:21.777004+00	2026-11-18 05:22:21.877369+00	\N	\N	5	\N
01a1ed1b-288b-cb43-5724-aeb5712867f2	01a1ed1b-27c1-881a-f82c-e5d0228406c6	\N	bob	sealed	3	\\x98f57ec1279904a60775c1f0246567ff02a6171a682fd809baaf03c90496185e	2026-11-18 05:22:22.481124+00	2026-11-18 05:22:22.606256+00	\N	\N	9	\N
01a1ed1b-2933-fa35-6905-243921cc9f79	01a1ed1b-27c1-881a-f82c-e5d0228406c6	\N	ana	abandoned	3	\\xe2ac26a82b66266634bce13b44150e939b4c53d096b0fa2e2a48f331a890f350	2026-11-18 05:22:22.646896+00	2026-11-18 05:22:22.656745+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-2ab6-2f31-0f48-5470eadc84ef	01a1ed1b-296a-a01e-82df-750466b733bc	\N	ana	abandoned	5	\\xe87aca8064fd47fc8d23264671a16e14601c438c935f655d045d7e22c8f5aad9	2026-11-18 05:22:23.033202+00	2026-11-18 05:22:23.040759+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-2975-c435-faff-c433442aff0c	01a1ed1b-296a-a01e-82df-750466b733bc	\N	ana	sealed	2	\\x69dd257dc40898871d96794f2e787ecb07c0392ab813aa5fabbfd8daa36c0384	2026-11-18 05:22:22.711568+00	2026-11-18 05:22:22.801558+00	\N	\N	7	\N
01a1ed1b-2bcc-4c9b-a59d-5ff67780c7e4	01a1ed1b-2b0b-37a1-23eb-7cd721369193	\N	bob	sealed	3	\\x01abc879105bfe2596b2f9e5e0d1b1d27e79a23e4e59b8973114151b7d727876	2026-11-18 05:22:23.32042+00	2026-11-18 05:22:23.48947+00	\N	\N	9	\N
01a1ed1b-2cdd-e640-bc05-ea289abf248f	01a1ed1b-2b0b-37a1-23eb-7cd721369193	\N	ana	abandoned	5	\\x9841b650dd4e112d7ca7f5b46882f88c5ce96d349ebb30aecc38959ed392dd59	2026-11-18 05:22:23.589166+00	2026-11-18 05:22:23.608805+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-2fdd-4d6e-ec55-ed00145df5ca	01a1ed1b-2fda-fa86-4303-54bf817496bf	\N	ana	sealed	5	\\x4f620da8778a8d0ff360ca10048522bcdbd455857cb505218a0e453ffbfc4caf	2026-11-18 05:22:24.365169+00	2026-11-18 05:22:24.372783+00	\N	\N	1	\N
01a1ed1b-2d4c-3bb5-8bd0-dc440248f588	01a1ed1b-2d4a-03ef-360b-19719079ea82	\N	ana	sealed	5	\\x8f2b126eb6ed60b6552868879416ff4cd461a78799871e6289d1df691c5bb683	2026-11-18 05:22:23.697029+00	2026-11-18 05:22:23.704464+00	\N	\N	1	\N
01a1ed1b-2d62-73f6-cc61-53bc187c7682	01a1ed1b-2d4a-03ef-360b-19719079ea82	\N	ana	abandoned	5	\\xf3a8eed5209cffa7dc7417ee2676f0d6bc44ea720d636e73d8ac9e941d89e817	2026-11-18 05:22:23.721049+00	2026-11-18 05:22:23.732003+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-3177-6fc6-d762-4ab770e5d0df	01a1ed1b-30e9-1b5e-4dcb-5056cc094520	\N	bob	sealed	3	\\xec7553b6a882c11cf00afc5b9caf9956eac2532331ca411854da6f52bac83a14	2026-11-18 05:22:24.765069+00	2026-11-18 05:22:24.961455+00	\N	\N	9	\N
01a1ed1b-2fff-9d18-187f-4ce63a15208f	01a1ed1b-2fda-fa86-4303-54bf817496bf	\N	ana	abandoned	5	\\xa8c15f86b026cfcb0509a753aaadcc2241bf9d3eeaa2e938c2f7b72010e36f91	2026-11-18 05:22:24.392357+00	2026-11-18 05:22:24.400759+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-3070-52b7-f277-e44299eb870d	01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	\N	ana	sealed	5	\\x7ebbee5d457e8118d52fa7ee73107f4ccd5a2d5f429e85da26d02ef6c812dd26	2026-11-18 05:22:24.501039+00	2026-11-18 05:22:24.508773+00	\N	\N	1	\N
01a1ed1b-330a-537d-cbe9-b2a606017c3f	01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	\N	ana	abandoned	3	\\x26f173bbeaccb0fe4b4019fcd1bbe883f1e11156933bcdd351015bdd6edcde87	2026-11-18 05:22:25.173061+00	2026-11-18 05:22:25.180765+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-2e56-a12c-ffe3-7935341a8319	01a1ed1b-2dcb-3558-14c0-d81859f7abb1	\N	bob	sealed	3	\\xebdf92d7cb54a4dc0fffe84351d269a1f93a6902f309f1787ae3b8d8d08bbad5	2026-11-18 05:22:23.969183+00	2026-11-18 05:22:24.142121+00	\N	\N	9	\N
01a1ed1b-2ddd-2c2e-ba5a-0a1dfcd1bd39	01a1ed1b-2dcb-3558-14c0-d81859f7abb1	\N	ana	sealed	2	\\x36d6c67ac7b8c10d955cd046a2c814e058edc29a441c949ee0de4d3017c31943	2026-11-18 05:22:23.840872+00	2026-11-18 05:22:23.915156+00	\N	\N	7	\N
01a1ed1b-3085-7bcb-6687-0241910e916c	01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	\N	ana	abandoned	5	\\xef660b5b51627e6332b6dd499e43681f16414e6395030f688a14adbe337983c5	2026-11-18 05:22:24.527399+00	2026-11-18 05:22:24.532779+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ac	01a1ed1b-2dcb-3558-14c0-d81859f7abb1	\N	ana	abandoned	5	\\x958a400d3b99e11ad5973867de3d1ae0f2126bb0b887472df4f2d9fbe016a86b	2026-11-18 05:22:24.237238+00	2026-11-18 05:22:24.240687+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-328d-4f81-00e0-4fe95c517fe7	01a1ed1b-30e9-1b5e-4dcb-5056cc094520	\N	ana	abandoned	5	\\xb3885bab16aa934b13e4afd7637e831a6412b7e571ff45dcd94cb89067fa3471	2026-11-18 05:22:25.045096+00	2026-11-18 05:22:25.056786+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-32f5-e8d5-4db8-1eee27f0c0bd	01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	\N	ana	sealed	3	\\x75826753a14405a0234c524f5f52c3e0003b2f7a741fde42dcc87df616764e6a	2026-11-18 05:22:25.145029+00	2026-11-18 05:22:25.152773+00	\N	\N	1	\N
01a1ed1b-3111-5acb-4237-b4ccf754e23c	01a1ed1b-30e9-1b5e-4dcb-5056cc094520	\N	ana	sealed	2	\\x67f769e9fc17de5fa6ebb69d2d4b87fcc52d9e260cea54c41246abcae6709c9a	2026-11-18 05:22:24.66101+00	2026-11-18 05:22:24.737444+00	\N	\N	7	\N
01a1ed1b-33e6-1257-d547-7a9ff19d9ae6	01a1ed1b-336a-0780-8914-a577a6ccb162	\N	bob	sealed	3	\\xbc40dc3510ca441f814001e81de5b38753f929edae786ab6c462c05c748e3643	2026-11-18 05:22:25.385014+00	2026-11-18 05:22:25.489431+00	\N	\N	9	\N
01a1ed1b-3380-aeec-1ade-69c4d7564781	01a1ed1b-336a-0780-8914-a577a6ccb162	\N	ana	sealed	2	\\x70866bb73f9b18c1b81e57648c07798312acbc343e7349dfa92a0ea38258e8cc	2026-11-18 05:22:25.285112+00	2026-11-18 05:22:25.361357+00	\N	\N	7	\N
01a1ed1b-34a8-ed16-efe4-7928875bae24	01a1ed1b-3494-eb11-db93-983fd65d953a	\N	ana	abandoned	1	\\x91b8b2bc32e4920a671cc9a10d5f4bcdd1d6deb90c616094653c37931136db31	2026-11-18 05:22:25.580067+00	2026-11-18 05:22:25.653611+00	\\x6162616e646f6e65642062792068616e64	\N	5	\N
01a1ed1b-3cb3-a91a-356f-23cb153802cb	01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	\N	ana	sealed	2	\\x694a40b7f32cbe214f085a025bba8c672096d906276e1c1106e64fd40ceda5c5	2026-11-18 05:22:27.649154+00	2026-11-18 05:22:27.741427+00	\N	\N	7	\N
01a1ed1b-3763-55b5-d24b-00e770ed3513	01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	01a1ed1b-3751-a537-2e06-573bfc779928	first	sealed	1	\\xfdad02474942d881f3dfe6c30c2d1c9f125533f1a9ed966b5fd369fbcf9c5c29	2026-11-18 05:22:26.275505+00	2026-11-18 05:22:26.297732+00	\N	\N	1	\N
01a1ed1b-3780-7f4b-c74a-804f51691148	01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	01a1ed1b-3751-a537-2e06-573bfc779929	second	sealed	0	\\x0000000000000000000000000000000000000000000000000000000000000000	2026-11-18 05:22:26.30507+00	2026-11-18 05:22:26.328747+00	\N	\N	1	\N
01a1ed1b-3810-bde7-b41e-e7dfdffd1d1a	01a1ed1b-37ed-e92d-fac5-56a21234bd94	01a1ed1b-3800-3b0f-079b-36ae2d5ce773	first	sealed	1	\\x6fc3d2763fdd99e4edf7447150ded22cf086da0230509e9d1f3a44ee304aa925	2026-11-18 05:22:26.449106+00	2026-11-18 05:22:26.50336+00	\N	\N	1	\N
01a1ed1b-3855-b88b-f4dc-0bbb6f8bba1a	01a1ed1b-37ed-e92d-fac5-56a21234bd94	01a1ed1b-3800-3b0f-079b-36ae2d5ce774	second	open	0	\\x0000000000000000000000000000000000000000000000000000000000000000	2026-11-18 05:22:26.517769+00	\N	\N	process 236 on version-0-1/01234567, started 148693 in 01234567-89ab-cdef-0123-456789abcdef, 01M7PHPDZCM6TNV34B6HPDNB42	1	2026-11-18 05:23:26.517769+00
01a1ed1b-3d31-aa11-f190-0c8bd469babc	01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	\N	bob	sealed	3	\\x2abd35ed4c8f713a1ca25188c4b7da65b812279a8003b21cae8f1669bdb06111	2026-11-18 05:22:27.765064+00	2026-11-18 05:22:27.921568+00	\N	\N	9	\N
01a1ed1b-3de5-eae4-aec2-82e00bb98bb4	01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	\N	carl	sealed	2	\\x57ccc718199871c9acb64473268f258011e3f991d0ecb6a5188a57e81dde33a2	2026-11-18 05:22:27.949199+00	2026-11-18 05:22:28.057358+00	\N	\N	7	\N
01a1ed1b-3e9e-e94c-1c57-53071235d11a	01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	\N	ana	abandoned	7	\\x2d277f13bef1ab047fabc2691e3e478d3767e8ead5c22d7a220ebb7b486b343e	2026-11-18 05:22:28.133588+00	2026-11-18 05:22:28.140914+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
01a1ed1b-3ee9-a9d0-5f6c-c8f403ea7adc	01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	\N	ana	sealed	4	\\x78afd9d21f4d358f9a3b41c4f5224be223ae2d8516122ca6f59c2a48c34a3a36	2026-11-18 05:22:28.209205+00	2026-11-18 05:22:28.381584+00	\N	\N	11	\N
01a1ed1b-3fea-bef8-4cc7-01ee7bfe483b	01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	\N	ana	abandoned	4	\\x7d5eb52b412f8be59b8b8578a825ae736628532606ffc4c3b0b4a1a982bf7adf	2026-11-18 05:22:28.465516+00	2026-11-18 05:22:28.474008+00	\\x7768617420616e206170706c79206368616e6765732c207772697474656e20646f776e206265666f726520697420626567696e73	\N	1	\N
\.


--
-- Data for Name: entries; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.entries (changeset, sequence, request, at, before_blob, after_blob, form) FROM stdin;
01a1ed1b-2233-0cbd-c36d-4f6a6972b07e	1	01a1ed1b-2275-4c44-c44d-4ab20b6dcf25	2026-11-18 05:22:20.917941+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/running","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-22bb-0b7d-444c-a4787553ebd3	1	01a1ed1b-22f1-ed9a-b54c-ee5e31ed5ee9	2026-11-18 05:22:21.042023+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/ready","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-22bb-0b7d-444c-a4787553ebd3	2	01a1ed1b-2309-9e2c-71e5-9ff6cd87d8ad	2026-11-18 05:22:21.065756+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/ready","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-233d-26aa-226d-1922eb885e31	1	01a1ed1b-2359-a483-1e1c-e5055b13d236	2026-11-18 05:22:21.145673+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/ready","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-233d-26aa-226d-1922eb885e31	2	01a1ed1b-2370-a08c-63a1-1765b906f08a	2026-11-18 05:22:21.16819+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/ready","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-233d-26aa-226d-1922eb885e31	3	01a1ed1b-2391-84ce-8092-e3fc7f70bd49	2026-11-18 05:22:21.201734+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/ready","made.txt","create",null,["file",12,420],null]
01a1ed1b-23d4-41e5-751d-f50e9f1a67e7	1	01a1ed1b-2409-6b54-890a-b5f8b2f9cbe5	2026-11-18 05:22:21.321965+00	\N	\\xe2b6224c251cdf7edfb4fe61fca7d342dea39fbe48eb5103b588c7731bb963f0	["/tmp/agents-0.1-postgres/roots/ready","binary","create",null,["file",4,420],null]
01a1ed1b-23d4-41e5-751d-f50e9f1a67e7	2	01a1ed1b-242d-d1cb-bd39-d0e3d9d498a3	2026-11-18 05:22:21.357132+00	\N	\\xbc1f407a11c9377c8b9b13f956b279c8462775105eb958fc9ae3c40de87cc96e	["/tmp/agents-0.1-postgres/roots/ready","script.sh","create",null,["file",10,493],null]
01a1ed1b-23d4-41e5-751d-f50e9f1a67e7	3	01a1ed1b-2441-3a4f-9b9a-f6c7c3afda65	2026-11-18 05:22:21.37757+00	\N	\\xda62c9c5911d6e662d0749b70b486a830f92c2250366732016a4594d17961e9b	["/tmp/agents-0.1-postgres/roots/ready","link","create",null,["symlink",8,511],null]
01a1ed1b-23d4-41e5-751d-f50e9f1a67e7	4	01a1ed1b-2571-1cc9-378b-fa5b11e6c01c	2026-11-18 05:22:21.681321+00	\N	\\xee6d7b692bf392a9802daf3a257040de7e029661b731e8986f4feabfebd6da29	["/tmp/agents-0.1-postgres/roots/ready","big.txt","create",null,["file",3080000,420],null]
01a1ed1b-25cd-a1be-da56-ee91c3fe41e4	1	01a1ed1b-2609-4e94-dd0f-bde0f0c1a2a6	2026-11-18 05:22:21.833988+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x08ceffff0e20c66663bd3af9c1466dfcc33811393edfeabdaacd648174f4fa1c	["/tmp/agents-0.1-postgres/roots/clash","text.txt","modify",["file",24,420],["file",31,420],null]
01a1ed1b-265f-bbd8-4f6e-7d87963ca8a1	1	01a1ed1b-2681-e8f4-e970-7ee6f23ce12e	2026-11-18 05:22:21.953664+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xecb1d202a4f2ba2cc01eaa42ca205a6cdcae6717474a2a7b8621dd30f2e41ca2	["/tmp/agents-0.1-postgres/roots/clash","text.txt","modify",["file",24,420],["file",31,420],null]
01a1ed1b-26ce-4784-3370-ad7ddd5f3c5b	1	01a1ed1b-26f6-8d9d-2038-0d2cff86d74c	2026-11-18 05:22:22.070425+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x08ceffff0e20c66663bd3af9c1466dfcc33811393edfeabdaacd648174f4fa1c	["/tmp/agents-0.1-postgres/roots/resolved","text.txt","modify",["file",24,420],["file",31,420],null]
01a1ed1b-273a-114c-15b0-d100c960023b	1	01a1ed1b-2759-d7ff-6965-73ee3aa1735b	2026-11-18 05:22:22.170001+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xecb1d202a4f2ba2cc01eaa42ca205a6cdcae6717474a2a7b8621dd30f2e41ca2	["/tmp/agents-0.1-postgres/roots/resolved","text.txt","modify",["file",24,420],["file",31,420],null]
01a1ed1b-279f-8f1b-aa8f-d0f257a333aa	1	01a1ed1b-279f-8f1b-aa8f-d0f257a333ab	2026-11-18 05:22:22.244816+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xecb1d202a4f2ba2cc01eaa42ca205a6cdcae6717474a2a7b8621dd30f2e41ca2	["/tmp/agents-0.1-postgres/roots/resolved","text.txt","modify",["file",24,420],["file",31,420],"agents plan resolve"]
01a1ed1b-27ef-dfeb-60be-837d3d194120	1	01a1ed1b-2832-be40-a06f-a227471dcc6c	2026-11-18 05:22:22.386555+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/partly","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-27ef-dfeb-60be-837d3d194120	2	01a1ed1b-2859-6609-4335-5d6f76519f38	2026-11-18 05:22:22.425785+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/partly","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-288b-cb43-5724-aeb5712867f2	1	01a1ed1b-28ad-0b4e-f0fe-447e54d94fd5	2026-11-18 05:22:22.509681+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/partly","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-288b-cb43-5724-aeb5712867f2	2	01a1ed1b-28c5-250a-4f2c-074e91b6494e	2026-11-18 05:22:22.533647+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/partly","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-288b-cb43-5724-aeb5712867f2	3	01a1ed1b-28ec-9f35-6aad-51d065a8e82e	2026-11-18 05:22:22.572178+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/partly","made.txt","create",null,["file",12,420],null]
01a1ed1b-2933-fa35-6905-243921cc9f79	1	01a1ed1b-293e-ab08-cfde-b990f731e486	2026-11-18 05:22:22.654294+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/partly","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2933-fa35-6905-243921cc9f79	2	\N	2026-11-18 05:22:22.654294+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/partly","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2933-fa35-6905-243921cc9f79	3	\N	2026-11-18 05:22:22.654294+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/partly","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-2975-c435-faff-c433442aff0c	1	01a1ed1b-2990-06b8-477a-48854ae3ab15	2026-11-18 05:22:22.736516+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/applied","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2975-c435-faff-c433442aff0c	2	01a1ed1b-29b9-2789-a9fe-d675ea207bdf	2026-11-18 05:22:22.777935+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/applied","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-29f4-dea3-2169-ca087f4411af	1	01a1ed1b-2a13-ebd8-63e4-6aa9170e31a9	2026-11-18 05:22:22.868695+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/applied","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-29f4-dea3-2169-ca087f4411af	2	01a1ed1b-2a2c-42ef-6e6e-471e61bbd408	2026-11-18 05:22:22.892741+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/applied","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-29f4-dea3-2169-ca087f4411af	3	01a1ed1b-2a55-0cd7-3a5f-963dfcd99fef	2026-11-18 05:22:22.933792+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/applied","made.txt","create",null,["file",12,420],null]
01a1ed1b-2ab6-2f31-0f48-5470eadc84ef	1	01a1ed1b-2abc-2495-e9c0-c2d310a5f44e	2026-11-18 05:22:23.03689+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/applied","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2ab6-2f31-0f48-5470eadc84ef	2	\N	2026-11-18 05:22:23.03689+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/applied","made.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2ab6-2f31-0f48-5470eadc84ef	3	\N	2026-11-18 05:22:23.03689+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/applied","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2ab6-2f31-0f48-5470eadc84ef	4	\N	2026-11-18 05:22:23.03689+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/applied","removed.txt","delete",["file",14,420],null,"agents plan apply"]
01a1ed1b-2ab6-2f31-0f48-5470eadc84ef	5	\N	2026-11-18 05:22:23.03689+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/applied","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-2b23-96c7-6669-7b26be0ff5fb	1	01a1ed1b-2b43-98f4-b486-b518bf7a33bc	2026-11-18 05:22:23.172139+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/undone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2b23-96c7-6669-7b26be0ff5fb	2	01a1ed1b-2b89-1a73-57a2-84dae639e850	2026-11-18 05:22:23.241873+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/undone","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-2bcc-4c9b-a59d-5ff67780c7e4	1	01a1ed1b-2c0d-1d8d-2a83-0b9a360a69d1	2026-11-18 05:22:23.373896+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/undone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2bcc-4c9b-a59d-5ff67780c7e4	2	01a1ed1b-2c36-adc2-4680-06163a1a9d45	2026-11-18 05:22:23.41453+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/undone","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-2bcc-4c9b-a59d-5ff67780c7e4	3	01a1ed1b-2c5d-83c9-efba-15813654d932	2026-11-18 05:22:23.453909+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/undone","made.txt","create",null,["file",12,420],null]
01a1ed1b-2cdd-e640-bc05-ea289abf248f	1	01a1ed1b-2cec-1688-fa22-74422500f5e4	2026-11-18 05:22:23.596922+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/undone","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2cdd-e640-bc05-ea289abf248f	2	\N	2026-11-18 05:22:23.596922+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/undone","made.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2cdd-e640-bc05-ea289abf248f	3	\N	2026-11-18 05:22:23.596922+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/undone","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2cdd-e640-bc05-ea289abf248f	4	\N	2026-11-18 05:22:23.596922+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/undone","removed.txt","delete",["file",14,420],null,"agents plan apply"]
01a1ed1b-2cdd-e640-bc05-ea289abf248f	5	\N	2026-11-18 05:22:23.596922+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/undone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-2d4c-3bb5-8bd0-dc440248f588	1	01a1ed1b-2d54-8c67-9bb9-a93b33520ebb	2026-11-18 05:22:23.70086+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/undone","folder/moved.txt","delete",["file",12,420],null,null]
01a1ed1b-2d4c-3bb5-8bd0-dc440248f588	2	\N	2026-11-18 05:22:23.70086+00	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	\N	["/tmp/agents-0.1-postgres/roots/undone","made.txt","delete",["file",12,420],null,null]
01a1ed1b-2d4c-3bb5-8bd0-dc440248f588	3	\N	2026-11-18 05:22:23.70086+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/undone","moved.txt","create",null,["file",12,420],null]
01a1ed1b-2d4c-3bb5-8bd0-dc440248f588	4	\N	2026-11-18 05:22:23.70086+00	\N	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	["/tmp/agents-0.1-postgres/roots/undone","removed.txt","create",null,["file",14,420],null]
01a1ed1b-2d4c-3bb5-8bd0-dc440248f588	5	\N	2026-11-18 05:22:23.70086+00	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	["/tmp/agents-0.1-postgres/roots/undone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2d62-73f6-cc61-53bc187c7682	1	01a1ed1b-2d6c-2b19-09bb-ba07f040f97a	2026-11-18 05:22:23.724824+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/undone","folder/moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2d62-73f6-cc61-53bc187c7682	2	\N	2026-11-18 05:22:23.724824+00	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	\N	["/tmp/agents-0.1-postgres/roots/undone","made.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2d62-73f6-cc61-53bc187c7682	3	\N	2026-11-18 05:22:23.724824+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/undone","moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2d62-73f6-cc61-53bc187c7682	4	\N	2026-11-18 05:22:23.724824+00	\N	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	["/tmp/agents-0.1-postgres/roots/undone","removed.txt","create",null,["file",14,420],"agents plan apply"]
01a1ed1b-2d62-73f6-cc61-53bc187c7682	5	\N	2026-11-18 05:22:23.724824+00	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	["/tmp/agents-0.1-postgres/roots/undone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-2ddd-2c2e-ba5a-0a1dfcd1bd39	1	01a1ed1b-2df9-f31a-55af-5f2b304f6f6e	2026-11-18 05:22:23.865334+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2ddd-2c2e-ba5a-0a1dfcd1bd39	2	01a1ed1b-2e11-34dd-f886-9110ea252fea	2026-11-18 05:22:23.88987+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/redone","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-2e56-a12c-ffe3-7935341a8319	1	01a1ed1b-2e91-fae8-3a0c-43e4e0208e2a	2026-11-18 05:22:24.01797+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2e56-a12c-ffe3-7935341a8319	2	01a1ed1b-2eb9-af7a-3799-3faab0878fc2	2026-11-18 05:22:24.058001+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/redone","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-2e56-a12c-ffe3-7935341a8319	3	01a1ed1b-2eed-4855-eaaa-f6fffdfe96f9	2026-11-18 05:22:24.109714+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/redone","made.txt","create",null,["file",12,420],null]
01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ac	1	01a1ed1b-2f6e-c2ee-81ec-82642c0c2af2	2026-11-18 05:22:24.239096+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/redone","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ac	2	\N	2026-11-18 05:22:24.239096+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/redone","made.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ac	3	\N	2026-11-18 05:22:24.239096+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/redone","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ac	4	\N	2026-11-18 05:22:24.239096+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/redone","removed.txt","delete",["file",14,420],null,"agents plan apply"]
01a1ed1b-2f5e-43a4-fd9f-2be6e76fc4ac	5	\N	2026-11-18 05:22:24.239096+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-2fdd-4d6e-ec55-ed00145df5ca	1	01a1ed1b-2ff0-51aa-e60b-05de4bd76ceb	2026-11-18 05:22:24.368827+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/redone","folder/moved.txt","delete",["file",12,420],null,null]
01a1ed1b-2fdd-4d6e-ec55-ed00145df5ca	2	\N	2026-11-18 05:22:24.368827+00	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	\N	["/tmp/agents-0.1-postgres/roots/redone","made.txt","delete",["file",12,420],null,null]
01a1ed1b-2fdd-4d6e-ec55-ed00145df5ca	3	\N	2026-11-18 05:22:24.368827+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/redone","moved.txt","create",null,["file",12,420],null]
01a1ed1b-2fdd-4d6e-ec55-ed00145df5ca	4	\N	2026-11-18 05:22:24.368827+00	\N	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	["/tmp/agents-0.1-postgres/roots/redone","removed.txt","create",null,["file",14,420],null]
01a1ed1b-2fdd-4d6e-ec55-ed00145df5ca	5	\N	2026-11-18 05:22:24.368827+00	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-2fff-9d18-187f-4ce63a15208f	1	01a1ed1b-300b-5168-b6a6-1f31448b916b	2026-11-18 05:22:24.395688+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/redone","folder/moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2fff-9d18-187f-4ce63a15208f	2	\N	2026-11-18 05:22:24.395688+00	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	\N	["/tmp/agents-0.1-postgres/roots/redone","made.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-2fff-9d18-187f-4ce63a15208f	3	\N	2026-11-18 05:22:24.395688+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/redone","moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-2fff-9d18-187f-4ce63a15208f	4	\N	2026-11-18 05:22:24.395688+00	\N	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	["/tmp/agents-0.1-postgres/roots/redone","removed.txt","create",null,["file",14,420],"agents plan apply"]
01a1ed1b-2fff-9d18-187f-4ce63a15208f	5	\N	2026-11-18 05:22:24.395688+00	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-3070-52b7-f277-e44299eb870d	1	01a1ed1b-3078-93a3-fcbe-8c4bf1bd9b02	2026-11-18 05:22:24.504838+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/redone","folder/moved.txt","create",null,["file",12,420],null]
01a1ed1b-3070-52b7-f277-e44299eb870d	2	\N	2026-11-18 05:22:24.504838+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/redone","made.txt","create",null,["file",12,420],null]
01a1ed1b-3070-52b7-f277-e44299eb870d	3	\N	2026-11-18 05:22:24.504838+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/redone","moved.txt","delete",["file",12,420],null,null]
01a1ed1b-3070-52b7-f277-e44299eb870d	4	\N	2026-11-18 05:22:24.504838+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/redone","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-3070-52b7-f277-e44299eb870d	5	\N	2026-11-18 05:22:24.504838+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3085-7bcb-6687-0241910e916c	1	01a1ed1b-3090-847d-6bd7-b527c28bd807	2026-11-18 05:22:24.528806+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/redone","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-3085-7bcb-6687-0241910e916c	2	\N	2026-11-18 05:22:24.528806+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/redone","made.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-3085-7bcb-6687-0241910e916c	3	\N	2026-11-18 05:22:24.528806+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/redone","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-3085-7bcb-6687-0241910e916c	4	\N	2026-11-18 05:22:24.528806+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/redone","removed.txt","delete",["file",14,420],null,"agents plan apply"]
01a1ed1b-3085-7bcb-6687-0241910e916c	5	\N	2026-11-18 05:22:24.528806+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/redone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-3111-5acb-4237-b4ccf754e23c	1	01a1ed1b-312d-ab8b-0257-f81217dcb180	2026-11-18 05:22:24.685621+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/part-undone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3111-5acb-4237-b4ccf754e23c	2	01a1ed1b-3149-ab52-fe5c-93118f05f7b5	2026-11-18 05:22:24.713708+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/part-undone","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-3177-6fc6-d762-4ab770e5d0df	1	01a1ed1b-31a5-053d-06d0-35c7a7b9054e	2026-11-18 05:22:24.805688+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/part-undone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3177-6fc6-d762-4ab770e5d0df	2	01a1ed1b-31e9-0897-44f1-1f0e0046642b	2026-11-18 05:22:24.873918+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/part-undone","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-3177-6fc6-d762-4ab770e5d0df	3	01a1ed1b-3219-ef02-2680-e3d2fdaee220	2026-11-18 05:22:24.92182+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/part-undone","made.txt","create",null,["file",12,420],null]
01a1ed1b-328d-4f81-00e0-4fe95c517fe7	1	01a1ed1b-3296-b809-4399-36e8a8b77a02	2026-11-18 05:22:25.046982+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/part-undone","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-328d-4f81-00e0-4fe95c517fe7	2	\N	2026-11-18 05:22:25.046982+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/part-undone","made.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-328d-4f81-00e0-4fe95c517fe7	3	\N	2026-11-18 05:22:25.046982+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/part-undone","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-328d-4f81-00e0-4fe95c517fe7	4	\N	2026-11-18 05:22:25.046982+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/part-undone","removed.txt","delete",["file",14,420],null,"agents plan apply"]
01a1ed1b-328d-4f81-00e0-4fe95c517fe7	5	\N	2026-11-18 05:22:25.046982+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/part-undone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-32f5-e8d5-4db8-1eee27f0c0bd	1	01a1ed1b-32fb-d026-db15-1da7c203afc0	2026-11-18 05:22:25.147382+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/part-undone","folder/moved.txt","delete",["file",12,420],null,null]
01a1ed1b-32f5-e8d5-4db8-1eee27f0c0bd	2	\N	2026-11-18 05:22:25.147382+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/part-undone","moved.txt","create",null,["file",12,420],null]
01a1ed1b-32f5-e8d5-4db8-1eee27f0c0bd	3	\N	2026-11-18 05:22:25.147382+00	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/part-undone","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-330a-537d-cbe9-b2a606017c3f	1	01a1ed1b-3318-7868-c793-56b63465b06f	2026-11-18 05:22:25.176823+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/part-undone","folder/moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-330a-537d-cbe9-b2a606017c3f	2	\N	2026-11-18 05:22:25.176823+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/part-undone","moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-330a-537d-cbe9-b2a606017c3f	3	\N	2026-11-18 05:22:25.176823+00	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/part-undone","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-3380-aeec-1ade-69c4d7564781	1	01a1ed1b-339d-9e98-abcc-9ff06f973599	2026-11-18 05:22:25.309668+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/drifted","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3380-aeec-1ade-69c4d7564781	2	01a1ed1b-33b9-4df9-1025-e13843ce8113	2026-11-18 05:22:25.337708+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/drifted","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-33e6-1257-d547-7a9ff19d9ae6	1	01a1ed1b-3405-9a66-2f44-d5755a59f8db	2026-11-18 05:22:25.413665+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/drifted","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-33e6-1257-d547-7a9ff19d9ae6	2	01a1ed1b-341d-1d9e-1bee-c23e6ab4bb4e	2026-11-18 05:22:25.437638+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/drifted","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-33e6-1257-d547-7a9ff19d9ae6	3	01a1ed1b-3439-affc-7f59-a9d43e545461	2026-11-18 05:22:25.465658+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/drifted","made.txt","create",null,["file",12,420],null]
01a1ed1b-34a8-ed16-efe4-7928875bae24	1	01a1ed1b-34cd-0301-0b14-991114f39bde	2026-11-18 05:22:25.613773+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/cancelled","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3763-55b5-d24b-00e770ed3513	1	01a1ed1b-3774-0096-ccff-fef3b8a5ee9b	2026-11-18 05:22:26.292357+00	\N	\\xdbada8e50433646218ab917906cb7d5402e83c34fcd9c2ef6fd9069d04fbb494	["/tmp/agents-0.1-postgres/roots/failed","first.txt","create",null,["file",6,420],null]
01a1ed1b-3810-bde7-b41e-e7dfdffd1d1a	1	01a1ed1b-3830-9de2-c345-69ba43f23109	2026-11-18 05:22:26.480705+00	\N	\\xdbada8e50433646218ab917906cb7d5402e83c34fcd9c2ef6fd9069d04fbb494	["/tmp/agents-0.1-postgres/roots/cut-run","first.txt","create",null,["file",6,420],null]
01a1ed1b-3cb3-a91a-356f-23cb153802cb	1	01a1ed1b-3cdd-4810-1938-02efe8554e77	2026-11-18 05:22:27.677573+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xf461e60c58eb0de3b591266bc414bfd6e78f64b19a2d15a1893a811a112c4fea	["/tmp/agents-0.1-postgres/roots/cut-one","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3cb3-a91a-356f-23cb153802cb	2	01a1ed1b-3d01-3b0c-f131-588b4397b54e	2026-11-18 05:22:27.713968+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/cut-one","moved.txt",{"rename":{"to":"folder/moved.txt"}},["file",12,420],["file",12,420],null]
01a1ed1b-3d31-aa11-f190-0c8bd469babc	1	01a1ed1b-3d51-fa72-d847-cb3f08a34755	2026-11-18 05:22:27.793689+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\xcf43eac9ed801af4aa56951a76a64842f71c7d836a3c9edd976209676461c57e	["/tmp/agents-0.1-postgres/roots/cut-one","text.txt","modify",["file",24,420],["file",24,420],null]
01a1ed1b-3d31-aa11-f190-0c8bd469babc	2	01a1ed1b-3d79-539b-87d3-15edc3267859	2026-11-18 05:22:27.83317+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/cut-one","removed.txt","delete",["file",14,420],null,null]
01a1ed1b-3d31-aa11-f190-0c8bd469babc	3	01a1ed1b-3da1-03e5-96de-5718fb4a85a6	2026-11-18 05:22:27.873657+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/cut-one","made.txt","create",null,["file",12,420],null]
01a1ed1b-3de5-eae4-aec2-82e00bb98bb4	1	01a1ed1b-3e0d-5f53-9162-8baebd4a01ec	2026-11-18 05:22:27.981831+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-one","a.txt","modify",["file",4,420],["file",4,420],null]
01a1ed1b-3de5-eae4-aec2-82e00bb98bb4	2	01a1ed1b-3e39-1fa2-d541-272dbd9a7bb9	2026-11-18 05:22:28.025674+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-one","z.txt","modify",["file",4,420],["file",4,420],null]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	1	01a1ed1b-3ea8-e8df-f055-4c187624dae0	2026-11-18 05:22:28.137069+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-one","a.txt","modify",["file",4,420],["file",4,420],"agents plan apply"]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	2	\N	2026-11-18 05:22:28.137069+00	\N	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	["/tmp/agents-0.1-postgres/roots/cut-one","folder/moved.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	3	\N	2026-11-18 05:22:28.137069+00	\N	\\xc2ab960587c60d3d9ff1138ba7edb7d5a62fe8579b55e5783268cbe144e75a70	["/tmp/agents-0.1-postgres/roots/cut-one","made.txt","create",null,["file",12,420],"agents plan apply"]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	4	\N	2026-11-18 05:22:28.137069+00	\\xb0e2b7376f401fdea6ef5516ba13ad0ff4ae7fdce31f7c723b0b88a2bd37df20	\N	["/tmp/agents-0.1-postgres/roots/cut-one","moved.txt","delete",["file",12,420],null,"agents plan apply"]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	5	\N	2026-11-18 05:22:28.137069+00	\\xee48829b9f922495327736b1ce6c072c7381cac41bbbd8fb24df4ef3ca78c498	\N	["/tmp/agents-0.1-postgres/roots/cut-one","removed.txt","delete",["file",14,420],null,"agents plan apply"]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	6	\N	2026-11-18 05:22:28.137069+00	\\x3d20e5f781fff6966f4c7be0432e946316e99cfa265d250f0c6f4ea8113b0dfb	\\x544ff4f4084da4b21ddd39d6ba8c05ecdd1dc597198943e1ea5ec6405aec70d4	["/tmp/agents-0.1-postgres/roots/cut-one","text.txt","modify",["file",24,420],["file",24,420],"agents plan apply"]
01a1ed1b-3e9e-e94c-1c57-53071235d11a	7	\N	2026-11-18 05:22:28.137069+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-one","z.txt","modify",["file",4,420],["file",4,420],"agents plan apply"]
01a1ed1b-3ee9-a9d0-5f6c-c8f403ea7adc	1	01a1ed1b-3f09-f5b4-dccd-752fb4fbb846	2026-11-18 05:22:28.233897+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-a","a.txt","modify",["file",4,420],["file",4,420],null]
01a1ed1b-3ee9-a9d0-5f6c-c8f403ea7adc	2	01a1ed1b-3f31-2bf6-2cab-94170cb76d18	2026-11-18 05:22:28.273702+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-a","b.txt","modify",["file",4,420],["file",4,420],null]
01a1ed1b-3ee9-a9d0-5f6c-c8f403ea7adc	3	01a1ed1b-3f57-84d1-0bdc-911a887e660c	2026-11-18 05:22:28.311777+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-b","a.txt","modify",["file",4,420],["file",4,420],null]
01a1ed1b-3ee9-a9d0-5f6c-c8f403ea7adc	4	01a1ed1b-3f7d-6c15-cb98-869dd7b39224	2026-11-18 05:22:28.349666+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-b","b.txt","modify",["file",4,420],["file",4,420],null]
01a1ed1b-3fea-bef8-4cc7-01ee7bfe483b	1	01a1ed1b-3ff6-8e4f-ec6a-c91f14f9d47b	2026-11-18 05:22:28.470806+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-a","a.txt","modify",["file",4,420],["file",4,420],"agents plan apply"]
01a1ed1b-3fea-bef8-4cc7-01ee7bfe483b	2	\N	2026-11-18 05:22:28.470806+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-a","b.txt","modify",["file",4,420],["file",4,420],"agents plan apply"]
01a1ed1b-3fea-bef8-4cc7-01ee7bfe483b	3	\N	2026-11-18 05:22:28.470806+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-b","a.txt","modify",["file",4,420],["file",4,420],"agents plan apply"]
01a1ed1b-3fea-bef8-4cc7-01ee7bfe483b	4	\N	2026-11-18 05:22:28.470806+00	\\x87b86a9f9e06007dc88bef0b92d8f046e2795cbdb25c211a4f2326570e2b820c	\\x79d1d8da0b625035cdbfc9d51841030861b9f4cf7c5abbe442a8d13efc352170	["/tmp/agents-0.1-postgres/roots/cut-two-b","b.txt","modify",["file",4,420],["file",4,420],"agents plan apply"]
\.


--
-- Data for Name: nodes; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.nodes (id, plan, name, state, version, detail, changed_by, changed_at, owner, epoch, expires_at) FROM stdin;
01a1ed1b-3751-a537-2e06-573bfc779928	01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	first	succeeded	4	{"attempts":1,"base":"base-01234567","builds_on":[],"changeset":"01M7PHPDV3APTX4JR0WXRETD8K","code":0,"counts":"01M7PHPDV3APTX4JR0WXRETD8K","files":1,"last_lines":[],"needs":[],"notes":[],"process":[222,148683,"01234567-89ab-cdef-0123-456789abcdef"],"reason":null,"seconds":0.018935282,"signal":null}	ana	2026-11-18 05:22:26.294416+00	\N	0	\N
01a1ed1b-3751-a537-2e06-573bfc779929	01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	second	failed	4	{"attempts":1,"base":"base-01234567","builds_on":["01M7PHPDV3APTX4JR0WXRETD8K"],"changeset":"01M7PHPDW0FX5WEJM09X8PJ4A8","code":1,"counts":null,"files":0,"last_lines":[],"needs":["first"],"notes":[],"process":[230,148686,"01234567-89ab-cdef-0123-456789abcdef"],"reason":"it exited with 1","seconds":0.023867388,"signal":null}	ana	2026-11-18 05:22:26.325088+00	\N	0	\N
01a1ed1b-3800-3b0f-079b-36ae2d5ce775	01a1ed1b-37ed-e92d-fac5-56a21234bd94	third	queued	1	{"attempts":0,"base":null,"builds_on":[],"changeset":null,"code":null,"counts":null,"files":0,"last_lines":[],"needs":["second"],"notes":[],"process":null,"reason":null,"seconds":null,"signal":null}	ana	2026-11-18 05:22:26.43237+00	\N	0	\N
01a1ed1b-3800-3b0f-079b-36ae2d5ce773	01a1ed1b-37ed-e92d-fac5-56a21234bd94	first	succeeded	4	{"attempts":1,"base":"base-01234567","builds_on":[],"changeset":"01M7PHPE0GQQKV87Q7VZFZT78T","code":0,"counts":"01M7PHPE0GQQKV87Q7VZFZT78T","files":1,"last_lines":[],"needs":[],"notes":[],"process":[254,148702,"01234567-89ab-cdef-0123-456789abcdef"],"reason":null,"seconds":0.039792281,"signal":null}	ana	2026-11-18 05:22:26.488888+00	\N	0	\N
01a1ed1b-3800-3b0f-079b-36ae2d5ce774	01a1ed1b-37ed-e92d-fac5-56a21234bd94	second	running	3	{"attempts":1,"base":"base-01234567","builds_on":["01M7PHPE0GQQKV87Q7VZFZT78T"],"changeset":"01M7PHPE2NQ25Z9Q0BQDQRQEGT","code":null,"counts":null,"files":0,"last_lines":[],"needs":["first"],"notes":[],"process":[266,148707,"01234567-89ab-cdef-0123-456789abcdef"],"reason":null,"seconds":null,"signal":null}	ana	2026-11-18 05:22:26.535213+00	\N	0	\N
\.


--
-- Data for Name: plans; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.plans (id, name, state, version, undo_of, roots, detail, created_by, created_at, changed_by, changed_at, owner, epoch, expires_at) FROM stdin;
01a1ed1b-2205-11f3-274f-413e47cdac19	queued	queued	1	\N	["/tmp/agents-0.1-postgres/roots/queued"]	{}	ana	2026-11-18 05:22:20.805252+00	ana	2026-11-18 05:22:20.805252+00	\N	0	\N
01a1ed1b-2217-2264-69d4-8972d11f9117	running	running	2	\N	["/tmp/agents-0.1-postgres/roots/running"]	{}	ana	2026-11-18 05:22:20.823673+00	ana	2026-11-18 05:22:20.852465+00	\N	0	\N
01a1ed1b-3747-6f4d-d70b-8d5c267f1a55	failed	failed	3	\N	["/tmp/agents-0.1-postgres/roots/failed"]	{"error":"node `second`: it exited with 1","merge":"three-way","run":{"concurrency":4,"confine":"auto","confinement":"fully","fail_fast":false,"file":"/tmp/agents-0.1-postgres/failed.toml","ignored":"copy","merge":"three-way","roots":{"main":"/tmp/agents-0.1-postgres/roots/failed"},"strategy":"copy","terminal":false,"text":"name = \\"failed\\"\\n[roots.main]\\npath = \\"roots/failed\\"\\n[nodes.first]\\nrun = \\"echo first | tee first.txt\\"\\n[nodes.second]\\nrun = \\"test -e /tmp/agents-0.1-postgres/go && echo second > second.txt\\"\\nneeds = [\\"first\\"]\\n","writable":[]}}	ana	2026-11-18 05:22:26.247778+00	ana	2026-11-18 05:22:26.332981+00	\N	2	\N
01a1ed1b-32f2-033c-8cad-1b3e0c5d7265	\N	applied	5	01a1ed1b-30e9-1b5e-4dcb-5056cc094520	["/tmp/agents-0.1-postgres/roots/part-undone"]	{"landed":[{"brought":["01M7PHPCQNX3AMVE0YXRKZ1G5X"],"changeset":"01M7PHPCRAADYWQTDJMR302Z1Z"}],"takes":["01M7PHPC8HBB5M4DXMSKVN9RHW"]}	ana	2026-11-18 05:22:25.138552+00	ana	2026-11-18 05:22:25.225143+00	\N	0	\N
01a1ed1b-229d-6763-725f-736c276c2f27	ready	ready	7	\N	["/tmp/agents-0.1-postgres/roots/ready"]	{}	ana	2026-11-18 05:22:20.958022+00	carl	2026-11-18 05:22:21.718808+00	\N	0	\N
01a1ed1b-30e9-1b5e-4dcb-5056cc094520	part-undone	applied	9	\N	["/tmp/agents-0.1-postgres/roots/part-undone"]	{"landed":[{"brought":["01M7PHPC8HBB5M4DXMSKVN9RHW","01M7PHPCBQDZ3DERJAPXREBM6Z"],"changeset":"01M7PHPCMD9Y0G1R2FX5E52ZZ7"},{"by":"01M7PHPCQJ0CY8SB8V7R65TWK5","changeset":"01M7PHPCRAADYWQTDJMR302Z1Z","taken":["01M7PHPC8HBB5M4DXMSKVN9RHW"]}]}	ana	2026-11-18 05:22:24.618097+00	ana	2026-11-18 05:22:25.23062+00	\N	0	\N
01a1ed1b-2d4a-03ef-360b-19719079ea82	\N	applied	5	01a1ed1b-2b0b-37a1-23eb-7cd721369193	["/tmp/agents-0.1-postgres/roots/undone"]	{"landed":[{"brought":["01M7PHPBAC7ETRQM6W8G14HXC8"],"changeset":"01M7PHPBB2EFVCRRAKQGC7RXM2"}],"takes":["01M7PHPAS3JV3PCTBV4TZ0ZXFV","01M7PHPAYC9JDTB7AZYSVR1HZ4"]}	ana	2026-11-18 05:22:23.690433+00	ana	2026-11-18 05:22:23.788065+00	\N	0	\N
01a1ed1b-2b0b-37a1-23eb-7cd721369193	undone	undone	9	\N	["/tmp/agents-0.1-postgres/roots/undone"]	{}	ana	2026-11-18 05:22:23.115308+00	ana	2026-11-18 05:22:23.793331+00	\N	0	\N
01a1ed1b-25b2-87d3-e9d8-127b535bfd28	clash	ready	5	\N	["/tmp/agents-0.1-postgres/roots/clash"]	{}	ana	2026-11-18 05:22:21.747086+00	bob	2026-11-18 05:22:21.981087+00	\N	0	\N
01a1ed1b-306b-6b7f-a8bc-62279afc1bf7	\N	applied	5	01a1ed1b-2fda-fa86-4303-54bf817496bf	["/tmp/agents-0.1-postgres/roots/redone"]	{"landed":[{"brought":["01M7PHPC3GAAVZ4XZ48ACYQ1RD"],"changeset":"01M7PHPC45FF5PD1R2868GX4BC"}],"takes":["01M7PHPBYX9NQERNFD00A5VXEA"]}	ana	2026-11-18 05:22:24.491132+00	ana	2026-11-18 05:22:24.569195+00	\N	0	\N
01a1ed1b-26ae-e538-6782-92485a62c93d	resolved	ready	6	\N	["/tmp/agents-0.1-postgres/roots/resolved"]	{}	ana	2026-11-18 05:22:21.998366+00	ana	2026-11-18 05:22:22.25244+00	\N	0	\N
01a1ed1b-2fda-fa86-4303-54bf817496bf	\N	undone	7	01a1ed1b-2dcb-3558-14c0-d81859f7abb1	["/tmp/agents-0.1-postgres/roots/redone"]	{"takes":["01M7PHPBEX5GQBMPGA3QYD3F9S","01M7PHPBJPM4PFZRVS6MT1N0RS"]}	ana	2026-11-18 05:22:24.346479+00	ana	2026-11-18 05:22:24.572457+00	\N	0	\N
01a1ed1b-2dcb-3558-14c0-d81859f7abb1	redone	applied	11	\N	["/tmp/agents-0.1-postgres/roots/redone"]	{"landed":[{"brought":["01M7PHPBEX5GQBMPGA3QYD3F9S","01M7PHPBJPM4PFZRVS6MT1N0RS"],"by":"01M7PHPC3BDDZTHF324YDFR6ZQ","changeset":"01M7PHPC45FF5PD1R2868GX4BC"}]}	ana	2026-11-18 05:22:23.819344+00	ana	2026-11-18 05:22:24.581358+00	\N	0	\N
01a1ed1b-27c1-881a-f82c-e5d0228406c6	partly	ready	7	\N	["/tmp/agents-0.1-postgres/roots/partly"]	{"landed":[{"brought":["01M7PHP9ZFVZNP1FM3FMYHJG90"],"changeset":"01M7PHPA9KZ8TPJ19474GWS7VS"}]}	ana	2026-11-18 05:22:22.273419+00	ana	2026-11-18 05:22:22.678716+00	\N	0	\N
01a1ed1b-37ed-e92d-fac5-56a21234bd94	cut-run	running	2	\N	["/tmp/agents-0.1-postgres/roots/cut-run"]	{"merge":"three-way","run":{"concurrency":4,"confine":"auto","confinement":"fully","fail_fast":false,"file":"/tmp/agents-0.1-postgres/cut-run.toml","ignored":"copy","merge":"three-way","roots":{"main":"/tmp/agents-0.1-postgres/roots/cut-run"},"strategy":"copy","terminal":false,"text":"name = \\"cut-run\\"\\n[roots.main]\\npath = \\"roots/cut-run\\"\\n[nodes.first]\\nrun = \\"echo first | tee first.txt\\"\\n[nodes.second]\\nrun = \\"echo $$ > second.txt; until [ -e /tmp/agents-0.1-postgres/go ]; do sleep 0.05; done; echo second > second.txt\\"\\nneeds = [\\"first\\"]\\n[nodes.third]\\nrun = \\"cat base.txt first.txt second.txt > third.txt\\"\\nneeds = [\\"second\\"]\\n","writable":[]}}	ana	2026-11-18 05:22:26.413193+00	ana	2026-11-18 05:22:26.440667+00	process 236 on version-0-1/01234567, started 148693 in 01234567-89ab-cdef-0123-456789abcdef, 01M7PHPDZCM6TNV34B6HPDNB42	1	2026-11-18 05:23:26.428895+00
01a1ed1b-336a-0780-8914-a577a6ccb162	drifted	conflict	6	\N	["/tmp/agents-0.1-postgres/roots/drifted"]	{"error":"plan 01M7PHPCVA0Y08J555EYKCSCB2 found 1 file changed since it was recorded, `text.txt`; nothing was touched"}	ana	2026-11-18 05:22:25.258577+00	ana	2026-11-18 05:22:25.539194+00	\N	0	\N
01a1ed1b-296a-a01e-82df-750466b733bc	applied	applied	7	\N	["/tmp/agents-0.1-postgres/roots/applied"]	{"landed":[{"brought":["01M7PHPABNRGTZNZY46D22NZRC","01M7PHPAFMVTHJ2TEA11ZM84DF"],"changeset":"01M7PHPANP5WRGYJ2ME3NDS17F"}]}	ana	2026-11-18 05:22:22.698799+00	ana	2026-11-18 05:22:23.087044+00	\N	0	\N
01a1ed1b-3c7e-ad71-a5ec-f58e81da15a0	cut-one	applying	8	\N	["/tmp/agents-0.1-postgres/roots/cut-one"]	{"apply":{"brings":["01M7PHPF5KN4D3AVS3SCAKG0PB","01M7PHPF9HN88Z340CHFA6KENW","01M7PHPFF5XBJAXGM2W05VK2XM"],"changeset":"01M7PHPFMYX561RNTK0W93BM8T","from":"ready","machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"process":322,"transaction":"a3229ae029d845eafd8b426c20008ca4","who":"ana"}}	ana	2026-11-18 05:22:27.582459+00	ana	2026-11-18 05:22:28.126903+00	\N	0	\N
01a1ed1b-3494-eb11-db93-983fd65d953a	cancelled	cancelled	4	\N	["/tmp/agents-0.1-postgres/roots/cancelled"]	{}	ana	2026-11-18 05:22:25.556981+00	ana	2026-11-18 05:22:25.691209+00	\N	0	\N
01a1ed1b-3ec7-72ac-56e1-864e0e54eb16	cut-two	applying	4	\N	["/tmp/agents-0.1-postgres/roots/cut-two-a","/tmp/agents-0.1-postgres/roots/cut-two-b"]	{"apply":{"brings":["01M7PHPFQ9N785YV68YG1YMYPW"],"changeset":"01M7PHPFZAQVW4SHR1XSXZWJ1V","from":"ready","machine":{"host":"version-0-1","id":"0123456789abcdef0123456789abcdef"},"process":347,"transaction":"442bdf00326f399a7342be0d4b3ee0dc","who":"ana"}}	ana	2026-11-18 05:22:28.167853+00	ana	2026-11-18 05:22:28.458308+00	\N	0	\N
\.


--
-- Data for Name: uploads; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.uploads (id, touched_at) FROM stdin;
\.


--
-- Data for Name: versions; Type: TABLE DATA; Schema: agents; Owner: -
--

COPY agents.versions (version) FROM stdin;
3
\.


--
-- Name: audit_heads audit_heads_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (plan);


--
-- Name: audit audit_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.audit
    ADD CONSTRAINT audit_pkey PRIMARY KEY (plan, sequence);


--
-- Name: blob_chunks blob_chunks_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.blob_chunks
    ADD CONSTRAINT blob_chunks_pkey PRIMARY KEY (upload, number);


--
-- Name: blobs blobs_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.blobs
    ADD CONSTRAINT blobs_pkey PRIMARY KEY (hash);


--
-- Name: changesets changesets_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.changesets
    ADD CONSTRAINT changesets_pkey PRIMARY KEY (id);


--
-- Name: entries entries_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.entries
    ADD CONSTRAINT entries_pkey PRIMARY KEY (changeset, sequence);


--
-- Name: nodes nodes_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.nodes
    ADD CONSTRAINT nodes_pkey PRIMARY KEY (id);


--
-- Name: nodes nodes_plan_name_key; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.nodes
    ADD CONSTRAINT nodes_plan_name_key UNIQUE (plan, name);


--
-- Name: plans plans_name_key; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.plans
    ADD CONSTRAINT plans_name_key UNIQUE (name);


--
-- Name: plans plans_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.plans
    ADD CONSTRAINT plans_pkey PRIMARY KEY (id);


--
-- Name: uploads uploads_pkey; Type: CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.uploads
    ADD CONSTRAINT uploads_pkey PRIMARY KEY (id);


--
-- Name: audit_of_request; Type: INDEX; Schema: agents; Owner: -
--

CREATE UNIQUE INDEX audit_of_request ON agents.audit USING btree (request) WHERE (request IS NOT NULL);


--
-- Name: changesets_of_node; Type: INDEX; Schema: agents; Owner: -
--

CREATE INDEX changesets_of_node ON agents.changesets USING btree (node) WHERE (node IS NOT NULL);


--
-- Name: changesets_of_plan; Type: INDEX; Schema: agents; Owner: -
--

CREATE INDEX changesets_of_plan ON agents.changesets USING btree (plan, started_at, id);


--
-- Name: entries_of_request; Type: INDEX; Schema: agents; Owner: -
--

CREATE UNIQUE INDEX entries_of_request ON agents.entries USING btree (request, changeset) WHERE (request IS NOT NULL);


--
-- Name: plans_by_age; Type: INDEX; Schema: agents; Owner: -
--

CREATE INDEX plans_by_age ON agents.plans USING btree (created_at, id);


--
-- Name: changesets changesets_node_fkey; Type: FK CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.changesets
    ADD CONSTRAINT changesets_node_fkey FOREIGN KEY (node) REFERENCES agents.nodes(id);


--
-- Name: changesets changesets_plan_fkey; Type: FK CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.changesets
    ADD CONSTRAINT changesets_plan_fkey FOREIGN KEY (plan) REFERENCES agents.plans(id);


--
-- Name: nodes nodes_plan_fkey; Type: FK CONSTRAINT; Schema: agents; Owner: -
--

ALTER TABLE ONLY agents.nodes
    ADD CONSTRAINT nodes_plan_fkey FOREIGN KEY (plan) REFERENCES agents.plans(id);


--
-- PostgreSQL database dump complete
--



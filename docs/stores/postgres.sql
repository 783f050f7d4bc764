-- The tables of memdir, for a new database. A store makes them itself where its user may.
BEGIN;
SELECT pg_advisory_xact_lock(120282394421618);
CREATE SCHEMA IF NOT EXISTS memdir;
CREATE TABLE memdir.schema_version (version integer NOT NULL);
INSERT INTO memdir.schema_version VALUES (0);
CREATE SEQUENCE memdir.node_id;
-- Files and directories know the directory that they are in. The root of a namespace has no name
-- and the parent 0. Names compare by their bytes, whatever the language of the database.
CREATE TABLE memdir.node (
    id bigint PRIMARY KEY DEFAULT nextval('memdir.node_id'),
    namespace text COLLATE "C" NOT NULL CHECK (octet_length(namespace) BETWEEN 1 AND 255),
    parent bigint NOT NULL,
    name text COLLATE "C" NOT NULL CHECK (octet_length(name) <= 255),
    -- NULL is a directory.
    content bytea,
    -- When a file was last written.
    modified timestamptz,
    -- Of a root only: the newest changes of its namespace, by which a client whose connection broke
    -- learns whether its own is among them.
    changes uuid[],
    UNIQUE (namespace, parent, name)
);
ALTER SEQUENCE memdir.node_id OWNED BY memdir.node.id;
-- When a file was last accessed, if that is noted.
ALTER TABLE memdir.node ADD COLUMN accessed timestamptz;
-- Of a root only, after the first change with a limit: the total of the files of its namespace, and the
-- newest change that it includes. If that is not the newest change, the total is unknown.
ALTER TABLE memdir.node ADD COLUMN total_bytes bigint, ADD COLUMN total_files bigint,
    ADD COLUMN total_change uuid;
UPDATE memdir.schema_version SET version = 3;
COMMIT;

-- What a role needs that uses the store and does not own the tables:
--
--     GRANT USAGE ON SCHEMA memdir TO agent;
--     GRANT SELECT ON memdir.schema_version TO agent;
--     GRANT SELECT, INSERT, UPDATE, DELETE ON memdir.node TO agent;
--     GRANT USAGE ON SEQUENCE memdir.node_id TO agent;

-- The store says in every transaction which namespace it is working on, and sees no other row.
-- Whoever owns the table is not bound by this; let the program connect as another role.
ALTER TABLE memdir.node ENABLE ROW LEVEL SECURITY;
CREATE POLICY namespace ON memdir.node
    USING (namespace = current_setting('memdir.namespace', true))
    WITH CHECK (namespace = current_setting('memdir.namespace', true));

-- Where each tenant has a role of its own, and its name is the namespace, this one holds also
-- against a tenant who speaks SQL:
--
--     CREATE POLICY namespace ON memdir.node
--         USING (namespace = current_user) WITH CHECK (namespace = current_user);

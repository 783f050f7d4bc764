//! The SQL of every command, and the types of its rows.
//!
//! A path is resolved from the root of its namespace, one name at a time, each by one index lookup. `LIMIT 1` and
//! `OFFSET 0` keep the planner from joining whole tables while it has no statistics.

use std::time::SystemTime;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};

use memdir_store::micros;
use memdir_store::path::MemoryPath;

/// A statement with the types of its parameters. The types are sent along, which saves the round trip to request
/// them.
pub(super) struct Statement {
    pub(super) sql: &'static str,
    pub(super) types: &'static [Type],
    /// Whether it sets the namespace itself, so a read needs no transaction around it.
    pub(super) sets_namespace: bool,
    /// Whether the server plans it for the parameters of each execution, so it is never prepared.
    pub(super) is_planned_anew: bool,
}

impl Statement {
    pub(super) const fn new(sql: &'static str, types: &'static [Type]) -> Self {
        Self { sql, types, sets_namespace: false, is_planned_anew: false }
    }

    /// One whose best plan depends on the length of its arrays.
    pub(super) const fn planned_anew(sql: &'static str, types: &'static [Type]) -> Self {
        Self { is_planned_anew: true, ..Self::new(sql, types) }
    }

    /// One that begins with `way!`, or sets the namespace in the same way.
    const fn of_path(sql: &'static str, types: &'static [Type]) -> Self {
        Self { sets_namespace: true, ..Self::new(sql, types) }
    }
}

/// Sets the namespace, and resolves the names `$2` in the namespace `$1`, as far as they exist; level 0 is the root.
///
/// A policy of row-level security reads the setting when it looks at a row. So each look at the table is a lateral
/// subquery of something that comes from `tenant`, with a `LIMIT` or an `OFFSET`. Whatever plan the server chooses, it
/// makes the setting first.
macro_rules! way {
    ($more:literal) => {
        concat!(
            "WITH RECURSIVE way (level, id) AS (
                 SELECT 0, root.id
                 FROM (
                     SELECT set_config('memdir.namespace', $1, true) AS namespace OFFSET 0
                 ) AS tenant CROSS JOIN LATERAL (
                     SELECT id FROM memdir.node
                     WHERE namespace = tenant.namespace AND parent = 0 AND name = '' LIMIT 1
                 ) AS root
             UNION ALL
                 SELECT way.level + 1, next.id FROM way CROSS JOIN LATERAL (
                     SELECT id FROM memdir.node WHERE namespace = $1 AND parent = way.id
                     AND name = ($2::text[])[way.level + 1] LIMIT 1
                 ) AS next
             )",
            $more
        )
    };
}

/// The settings of a transaction that changes no file: the namespace, the limit of its statements, and whether a commit waits until
/// it is flushed.
pub(super) static SETTINGS: Statement = Statement::new(
    "SELECT set_config('memdir.namespace', $1, true), set_config('statement_timeout', $2, true),
        set_config('lock_timeout', '0', true), set_config('synchronous_commit', $3, true),
        set_config('idle_in_transaction_session_timeout', $2, true)",
    &[Type::TEXT, Type::TEXT, Type::TEXT],
);

/// The nodes of the path `$2`. If `$3` is set, also the content of the last one, unless it has more than `$4`
/// bytes.
pub(super) static LOOK: Statement = Statement::of_path(
    way!(
        " SELECT node.id, node.content IS NULL, node.modified,
          CASE WHEN $3 AND way.level = cardinality($2) AND octet_length(node.content) <= $4
              THEN node.content END,
          node.accessed, octet_length(node.content)
      FROM way CROSS JOIN LATERAL (
          SELECT id, content, modified, accessed FROM memdir.node WHERE id = way.id LIMIT 1
      ) AS node ORDER BY way.level"
    ),
    &[Type::TEXT, Type::TEXT_ARRAY, Type::BOOL, Type::INT8],
);

/// The node at the path `$2`: a file with its content, or a directory with its entries, `$3` levels deep. Hidden
/// entries are left out unless `$4` is set, by the rule of [`is_hidden`](memdir_store::path::is_hidden). `written`
/// is the id of the transaction that wrote the row. The rows are in any order.
///
/// `levels` is the number of names of the path, and `depth` is `$3`. Most paths are short, and a view shows two levels. For these
/// there are statements without recursion, which take the server three quarters of the time.
pub(super) fn open(levels: usize, depth: usize) -> &'static Statement {
    SHALLOW.get(levels).filter(|_| depth <= 2).unwrap_or(&OPEN)
}

/// Another name of the path.
macro_rules! step {
    ($above:literal, $number:literal) => {
        concat!(
            " CROSS JOIN LATERAL (
                SELECT id FROM memdir.node WHERE namespace = $1 AND parent = way",
            $above,
            ".id AND name = ($2::text[])[",
            $number,
            "] LIMIT 1) AS way",
            $number
        )
    };
}

/// As [`OPEN`], at most two levels deep, for a path of these steps.
macro_rules! shallow {
    ($last:literal $(, $step:expr)*) => {
        Statement::of_path(
            concat!(
                "WITH found AS MATERIALIZED (
                    SELECT node.* FROM (
                        SELECT set_config('memdir.namespace', $1, true) AS namespace OFFSET 0
                    ) AS tenant CROSS JOIN LATERAL (
                        SELECT id FROM memdir.node
                        WHERE namespace = tenant.namespace AND parent = 0 AND name = '' LIMIT 1
                    ) AS way0",
                $($step,)*
                " CROSS JOIN LATERAL (
                    SELECT id, name, content, modified, accessed, xmin::text::bigint AS written
                    FROM memdir.node WHERE id = way",
                $last,
                ".id LIMIT 1
                    ) AS node
                ), entry AS MATERIALIZED (
                    SELECT found.id AS above, entry.* FROM found CROSS JOIN LATERAL (
                        SELECT id, name, octet_length(content) AS size, modified, accessed,
                            xmin::text::bigint AS written
                        FROM memdir.node WHERE namespace = $1 AND parent = found.id
                        AND ($4::boolean OR (left(name, 1) <> '.' AND name <> 'node_modules')) OFFSET 0
                    ) AS entry WHERE found.content IS NULL AND $3::integer >= 1
                )
                SELECT 0::bigint, id, name, octet_length(content), modified, content, accessed,
                    written, 0 AS depth FROM found
                UNION ALL
                SELECT above, id, name, size, modified, NULL, accessed, written, 1 FROM entry
                UNION ALL
                SELECT entry.id, below.id, below.name, below.size, below.modified, NULL,
                    below.accessed, below.written, 2
                FROM entry CROSS JOIN LATERAL (
                    SELECT id, name, octet_length(content) AS size, modified, accessed,
                        xmin::text::bigint AS written
                    FROM memdir.node WHERE namespace = $1 AND parent = entry.id
                    AND ($4 OR (left(name, 1) <> '.' AND name <> 'node_modules')) OFFSET 0
                ) AS below WHERE entry.size IS NULL AND $3 >= 2"
            ),
            &[Type::TEXT, Type::TEXT_ARRAY, Type::INT4, Type::BOOL],
        )
    };
}

/// For paths of no name, of one name, and so on.
pub(super) static SHALLOW: [Statement; 4] = [
    shallow!(0),
    shallow!(1, step!(0, 1)),
    shallow!(2, step!(0, 1), step!(1, 2)),
    shallow!(3, step!(0, 1), step!(1, 2), step!(2, 3)),
];

/// For any path and any depth: see [`open`].
pub(super) static OPEN: Statement = Statement::of_path(
    way!(
    ", below (depth, parent, id, name, size, modified, accessed, written) AS (
          SELECT 0, 0::bigint, node.id, node.name, octet_length(node.content), node.modified,
              node.accessed, node.written
          FROM way CROSS JOIN LATERAL (
              SELECT id, name, content, modified, accessed, xmin::text::bigint AS written
              FROM memdir.node WHERE id = way.id LIMIT 1
          ) AS node WHERE way.level = cardinality($2)
      UNION ALL
          SELECT below.depth + 1, below.id, entry.id, entry.name, octet_length(entry.content),
              entry.modified, entry.accessed, entry.written
          FROM below CROSS JOIN LATERAL (
              SELECT id, name, content, modified, accessed, xmin::text::bigint AS written
              FROM memdir.node WHERE namespace = $1 AND parent = below.id
              AND ($4::boolean OR (left(name, 1) <> '.' AND name <> 'node_modules')) OFFSET 0
          ) AS entry
          WHERE below.size IS NULL AND below.depth < $3::integer
      )
      SELECT parent, id, name, size, modified,
          CASE WHEN depth = 0 THEN (SELECT content FROM memdir.node WHERE id = below.id) END, accessed,
          written, depth
      FROM below"
),
    &[Type::TEXT, Type::TEXT_ARRAY, Type::INT4, Type::BOOL],
);

/// The length of the longest path below the node, in bytes and in levels, relative to the node.
pub(super) static EXTENT: Statement = Statement::of_path(
    way!(
        ", below (id, bytes, levels) AS (
          SELECT id, 0, 0 FROM way WHERE level = cardinality($2)
      UNION ALL
          SELECT entry.id, below.bytes + 1 + octet_length(entry.name), below.levels + 1
          FROM below CROSS JOIN LATERAL (
              SELECT id, name FROM memdir.node
              WHERE namespace = $1 AND parent = below.id OFFSET 0
          ) AS entry
      )
      SELECT coalesce(max(bytes), 0), coalesce(max(levels), 0) FROM below"
    ),
    &[Type::TEXT, Type::TEXT_ARRAY],
);

/// Whether anything is in the directory at the path.
pub(super) static HAS_ENTRIES: Statement = Statement::of_path(
    way!(
        " SELECT EXISTS (
          SELECT FROM way CROSS JOIN LATERAL (
              SELECT id FROM memdir.node WHERE namespace = $1 AND parent = way.id LIMIT 1
          ) AS entry WHERE way.level = cardinality($2)
      )"
    ),
    &[Type::TEXT, Type::TEXT_ARRAY],
);

/// The total of all files in the namespace. It reads all of its rows.
pub(super) static TOTAL: Statement = Statement::new(
    "
    SELECT coalesce(sum(octet_length(content)), 0)::bigint, count(content)
    FROM memdir.node WHERE namespace = $1 AND parent >= 0",
    &[Type::TEXT],
);

/// The total of what memdir keeps for itself in two directories of the root.
pub(super) static OWN_FILES: Statement = Statement::new(
    "
    SELECT coalesce(sum(octet_length(content)), 0)::bigint, count(content)
    FROM memdir.node WHERE namespace = $1 AND parent IN (
        SELECT id FROM memdir.node WHERE namespace = $1 AND name = ANY($2) AND parent = (
            SELECT id FROM memdir.node WHERE namespace = $1 AND parent = 0 AND name = ''
        )
    )",
    &[Type::TEXT, Type::TEXT_ARRAY],
);

/// Keeps the total in the root, as of the change of this transaction.
pub(super) static KEEP_TOTAL: Statement = Statement::new(
    "
    UPDATE memdir.node SET total_bytes = $2, total_files = $3, total_change = changes[1]
    WHERE namespace = $1 AND parent = 0 AND name = ''",
    &[Type::TEXT, Type::INT8, Type::INT8],
);

/// Makes the settings of the transaction, waits until no other change of the namespace is in progress, at most for the time
/// `$2`, and excludes others until the end of the transaction. Adds the change to the namespace's newest ones. Creates the root if
/// it is missing. Returns the id of the change, the id of the change before it, and the total if it is kept.
///
/// The subquery makes the settings that the wait and the policies need. After the wait, `RETURNING` limits the time of each further
/// statement to `$4`. The last setting releases the lock of a client that disappeared without closing its connection.
pub(super) static LOCK: Statement = Statement::new(
    "
    INSERT INTO memdir.node AS root (namespace, parent, name, changes)
    SELECT setting.namespace, 0, '', ARRAY[gen_random_uuid()]
    FROM (
        SELECT set_config('memdir.namespace', $1, true) AS namespace, set_config('lock_timeout', $2, true),
            set_config('synchronous_commit', $3, true),
            set_config('idle_in_transaction_session_timeout', $4, true) OFFSET 0
    ) AS setting
    ON CONFLICT (namespace, parent, name)
    DO UPDATE SET changes = (excluded.changes || root.changes)[1:64]
    RETURNING changes[1]::text, changes[2]::text,
        CASE WHEN total_change = changes[2] THEN total_bytes END,
        CASE WHEN total_change = changes[2] THEN total_files END,
        set_config('statement_timeout', $4, true)",
    &[Type::TEXT, Type::TEXT, Type::TEXT, Type::TEXT],
);

/// The number of newest changes that [`LOCK`] keeps.
pub(super) const REMEMBERED: usize = 64;

/// The newest changes of the namespace. Waits until no change is in progress.
pub(super) static RECALL: Statement = Statement::new(
    "
    SELECT coalesce(changes, '{}')::text[] FROM memdir.node
    WHERE namespace = $1 AND parent = 0 AND name = '' FOR NO KEY UPDATE",
    &[Type::TEXT],
);

/// The newest change of the namespace; no row if the namespace was never written. Sets the namespace, as `way!` does.
pub(super) static NEWEST: Statement = Statement::of_path(
    "
    SELECT coalesce(root.newest, '')
    FROM (
        SELECT set_config('memdir.namespace', $1, true) AS namespace OFFSET 0
    ) AS tenant CROSS JOIN LATERAL (
        SELECT changes[1]::text AS newest FROM memdir.node
        WHERE namespace = tenant.namespace AND parent = 0 AND name = '' LIMIT 1
    ) AS root",
    &[Type::TEXT],
);

/// Adds the names `$3`, each inside the one before it, starting in the directory `$2`. The last one is a file if
/// there is a content `$4`.
pub(super) static ADD: Statement = Statement::new(
    "
    WITH new AS MATERIALIZED (
        SELECT nextval('memdir.node_id') AS id, name, level
        FROM unnest($3::text[]) WITH ORDINALITY AS given (name, level)
    )
    INSERT INTO memdir.node (id, namespace, parent, name, content, modified)
    SELECT id, $1, lag(id, 1, $2::bigint) OVER (ORDER BY level), name,
        CASE WHEN level = cardinality($3) THEN $4::bytea END,
        CASE WHEN level = cardinality($3) AND $4 IS NOT NULL THEN clock_timestamp() END
    FROM new",
    &[Type::TEXT, Type::INT8, Type::TEXT_ARRAY, Type::BYTEA],
);

/// Replaces the content of a file.
pub(super) static REPLACE: Statement = Statement::new(
    "
    UPDATE memdir.node SET content = $3, modified = clock_timestamp()
    WHERE namespace = $1 AND id = $2 AND content IS NOT NULL",
    &[Type::TEXT, Type::INT8, Type::BYTEA],
);

/// The ids of the node `$2` and of everything below it.
macro_rules! gone {
    ($more:literal) => {
        concat!(
            "WITH RECURSIVE gone (id) AS (
                SELECT $2::bigint
            UNION ALL
                SELECT entry.id FROM gone CROSS JOIN LATERAL (
                    SELECT id FROM memdir.node WHERE namespace = $1 AND parent = gone.id OFFSET 0
                ) AS entry
            )",
            $more
        )
    };
}

/// Removes a node and everything below it.
pub(super) static REMOVE: Statement = Statement::new(
    gone!(" DELETE FROM memdir.node WHERE namespace = $1 AND id IN (SELECT id FROM gone)"),
    &[Type::TEXT, Type::INT8],
);

/// The same, if the total is kept. Changes no row if nothing was removed.
pub(super) static REMOVE_COUNTED: Statement = Statement::new(
    gone!(
        ", removed AS (
            DELETE FROM memdir.node WHERE namespace = $1 AND id IN (SELECT id FROM gone)
            RETURNING octet_length(content) AS size
        )
        UPDATE memdir.node SET total_change = changes[1],
            total_bytes = total_bytes - removed.bytes, total_files = total_files - removed.files
        FROM (
            SELECT coalesce(sum(size), 0)::bigint AS bytes, count(size) AS files
            FROM removed HAVING count(*) > 0
        ) AS removed
        WHERE namespace = $1 AND parent = 0 AND name = ''"
    ),
    &[Type::TEXT, Type::INT8],
);

/// Moves the node `$2` to the name `$5` in the last of the new directories `$4`. These are created each inside the
/// one before it, starting in the directory `$3`.
pub(super) static MOVE: Statement = Statement::new(
    "
    WITH new AS MATERIALIZED (
        SELECT nextval('memdir.node_id') AS id, name, level
        FROM unnest($4::text[]) WITH ORDINALITY AS given (name, level)
    ), made AS (
        INSERT INTO memdir.node (id, namespace, parent, name)
        SELECT id, $1, lag(id, 1, $3::bigint) OVER (ORDER BY level), name FROM new
    )
    UPDATE memdir.node SET
        parent = coalesce((SELECT id FROM new ORDER BY level DESC LIMIT 1), $3), name = $5
    WHERE namespace = $1 AND id = $2",
    &[Type::TEXT, Type::INT8, Type::INT8, Type::TEXT_ARRAY, Type::TEXT],
);

/// Sets the time of a file.
pub(super) static DATE: Statement = Statement::new(
    "
    UPDATE memdir.node SET modified = $3
    WHERE namespace = $1 AND id = $2 AND content IS NOT NULL",
    &[Type::TEXT, Type::INT8, Type::TIMESTAMPTZ],
);

/// Records an access of the file at the path. Returns whether the path is a directory, and whether the access was
/// recorded.
pub(super) static ACCESS: Statement = Statement::of_path(
    way!(
        ", noted AS (
          UPDATE memdir.node SET accessed = $3
          WHERE namespace = $1 AND content IS NOT NULL
          AND id = (SELECT id FROM way WHERE level = cardinality($2)) RETURNING id
      )
      SELECT node.is_directory, EXISTS (SELECT FROM noted)
      FROM way CROSS JOIN LATERAL (
          SELECT content IS NULL AS is_directory FROM memdir.node WHERE id = way.id LIMIT 1
      ) AS node WHERE way.level = cardinality($2)"
    ),
    &[Type::TEXT, Type::TEXT_ARRAY, Type::TIMESTAMPTZ],
);

/// Removes everything except the root, whose parent is 0, and the notes.
pub(super) static CLEAR: Statement =
    Statement::new("DELETE FROM memdir.node WHERE namespace = $1 AND parent > 0", &[Type::TEXT]);

/// Removes all rows of the namespace, including the root that the same transaction has locked.
pub(super) static ERASE: Statement =
    Statement::new("DELETE FROM memdir.node WHERE namespace = $1", &[Type::TEXT]);

/// Adds notes: rows that no directory contains, because their parent is -1. Their ids are their numbers, which are drawn in
/// order, under the namespace's lock.
pub(super) static ADD_NOTES: Statement = Statement::new(
    "
    INSERT INTO memdir.node (namespace, parent, name, content)
    SELECT $1, -1, note.id, note.bytes
    FROM unnest($2, $3) WITH ORDINALITY AS note (id, bytes, number) ORDER BY number",
    &[Type::TEXT, Type::TEXT_ARRAY, Type::BYTEA_ARRAY],
);

/// The notes above the number `$2`, with their first `$3` bytes.
pub(super) static NOTES: Statement = Statement::new(
    "
    SELECT id, substring(content FROM 1 FOR $3), octet_length(content) FROM memdir.node
    WHERE namespace = $1 AND parent = -1 AND id > $2 ORDER BY id",
    &[Type::TEXT, Type::INT8, Type::INT4],
);

/// `$4` bytes of a note, starting at the byte `$3`, which is 1 for the first.
pub(super) static READ_NOTE: Statement = Statement::new(
    "
    SELECT substring(content FROM $3 FOR $4) FROM memdir.node
    WHERE namespace = $1 AND parent = -1 AND id = $2",
    &[Type::TEXT, Type::INT8, Type::INT4, Type::INT4],
);

/// The bytes of the notes with the numbers `$2`, in their order.
pub(super) static READ_NOTES: Statement = Statement::planned_anew(
    "
    SELECT note.content FROM unnest($2::bigint[]) WITH ORDINALITY AS wanted (id, place)
    LEFT JOIN LATERAL (
        SELECT content FROM memdir.node
        WHERE id = wanted.id AND namespace = $1 AND parent = -1 LIMIT 1
    ) AS note ON true ORDER BY wanted.place",
    &[Type::TEXT, Type::INT8_ARRAY],
);

/// Replaces the bytes of a note.
pub(super) static REPLACE_NOTE: Statement = Statement::new(
    "UPDATE memdir.node SET content = $3 WHERE namespace = $1 AND parent = -1 AND id = $2",
    &[Type::TEXT, Type::INT8, Type::BYTEA],
);

/// Removes these notes.
pub(super) static REMOVE_NOTES: Statement = Statement::new(
    "DELETE FROM memdir.node WHERE namespace = $1 AND parent = -1 AND id = ANY($2)",
    &[Type::TEXT, Type::INT8_ARRAY],
);

/// The names of a path, for `$2` of the statements above.
pub(super) fn names(path: &MemoryPath) -> Vec<String> {
    path.names().map(str::to_owned).collect()
}

/// The result of [`LOOK`]: the existing nodes of a path, starting at the root.
pub(super) struct Way {
    found: Vec<FoundRow>,
    /// The number of levels of the path.
    levels: usize,
}

/// A node of the path.
pub(super) struct FoundRow {
    pub(super) id: i64,
    pub(super) is_directory: bool,
    pub(super) modified: Option<SystemTime>,
    /// Set for a file at the end of the path, if requested.
    pub(super) content: Option<Vec<u8>>,
    pub(super) accessed: Option<SystemTime>,
    /// Set for a file.
    pub(super) size: Option<u64>,
}

impl Way {
    pub(super) fn of(rows: &[Row], levels: usize) -> Result<Self, Error> {
        let found = rows.iter().map(|row| {
            Ok(FoundRow {
                id: row.try_get(0)?,
                is_directory: row.try_get(1)?,
                modified: row.try_get(2)?,
                content: row.try_get(3)?,
                accessed: row.try_get(4)?,
                size: row.try_get::<_, Option<i32>>(5)?.and_then(|size| size.try_into().ok()),
            })
        });
        Ok(Self { found: found.collect::<Result<_, Error>>()?, levels })
    }

    /// The node at the end of the path.
    pub(super) fn end(self) -> Option<FoundRow> {
        self.found.into_iter().nth(self.levels)
    }

    pub(super) fn has_end(&self) -> bool {
        self.found.len() > self.levels
    }

    /// The last existing node, and how many of the path's names lead to it.
    pub(super) fn last(&self) -> Option<(&FoundRow, usize)> {
        Some((self.found.last()?, self.found.len() - 1))
    }
}

/// The time, or the earliest one that PostgreSQL supports: 4714 BC.
pub(super) fn storable(time: SystemTime) -> SystemTime {
    const EARLIEST: i64 = -210_866_803_200_000_000;
    micros::time(micros::of(time).max(EARLIEST)).unwrap_or(time)
}

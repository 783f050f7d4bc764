//! The SQL of every command, and the types of its rows.
//!
//! A path is found from the root of its namespace down, one name at a time, each by one lookup in the
//! index. The fences (`LIMIT 1`, `OFFSET 0`) keep the server from planning this as a join of whole
//! tables while it has no statistics.

use std::time::SystemTime;

use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};

use memdir_store::micros;
use memdir_store::path::MemoryPath;

/// One statement with the types of its parameters. They are sent along, so no round trip is needed to
/// ask for them. The statement has no name on the server, because a pooled connection does not know the
/// names of another client.
pub(super) struct Statement {
    pub(super) sql: &'static str,
    pub(super) types: &'static [Type],
}

/// The way along the names `$2` in the namespace `$1`, as far as it goes; level 0 is the root.
macro_rules! way {
    ($more:literal) => {
        concat!(
            "WITH RECURSIVE way (level, id) AS (
                 SELECT 0, id FROM memdir.node WHERE namespace = $1 AND parent = 0 AND name = ''
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

/// What is along the way `$2`, and, if `$3`, the content at its end, unless it has more than `$4` bytes.
pub(super) const LOOK: Statement = Statement {
    sql: way!(
        " SELECT node.id, node.content IS NULL, node.modified,
          CASE WHEN $3 AND way.level = cardinality($2) AND octet_length(node.content) <= $4
              THEN node.content END,
          node.accessed, octet_length(node.content)
      FROM way JOIN memdir.node AS node USING (id) ORDER BY way.level"
    ),
    types: &[Type::TEXT, Type::TEXT_ARRAY, Type::BOOL, Type::INT8],
};

/// What is at the end of the way `$2`: a file with its content, or a directory with its entries, as
/// many levels deep as `$3` says. Hidden ones are left out unless `$4`, by the rule of
/// [`is_hidden`](memdir_store::path::is_hidden). `written` is the number of the transaction that wrote the row.
pub(super) const OPEN: Statement = Statement {
    sql: way!(
    ", below (depth, parent, id, name, size, modified, accessed, written) AS (
          SELECT 0, 0::bigint, node.id, node.name, octet_length(node.content), node.modified,
              node.accessed, node.xmin::text::bigint
          FROM way JOIN memdir.node AS node USING (id) WHERE way.level = cardinality($2)
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
          written
      FROM below ORDER BY depth"
),
    types: &[Type::TEXT, Type::TEXT_ARRAY, Type::INT4, Type::BOOL],
};

/// How much longer, in bytes and in levels, the longest path below the end of the way is.
pub(super) const EXTENT: Statement = Statement {
    sql: way!(
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
    types: &[Type::TEXT, Type::TEXT_ARRAY],
};

/// What all files of the namespace hold together.
pub(super) const TOTAL: Statement = Statement {
    sql: "
    SELECT coalesce(sum(octet_length(content)), 0)::bigint, count(content)
    FROM memdir.node WHERE namespace = $1 AND parent >= 0",
    types: &[Type::TEXT],
};

/// Waits until no other change of the namespace is under way, keeps others out until the end of the
/// transaction, and notes a change among the namespace's newest. Makes the root if it is not there.
pub(super) const LOCK: Statement = Statement {
    sql: "
    INSERT INTO memdir.node AS root (namespace, parent, name, changes)
    VALUES ($1, 0, '', ARRAY[gen_random_uuid()])
    ON CONFLICT (namespace, parent, name)
    DO UPDATE SET changes = (excluded.changes || root.changes)[1:64]
    RETURNING changes[1]::text, changes[2]::text",
    types: &[Type::TEXT],
};

/// How many changes [`LOCK`] keeps note of.
pub(super) const REMEMBERED: usize = 64;

/// The newest changes of the namespace, when none is under way.
pub(super) const RECALL: Statement = Statement {
    sql: "
    SELECT coalesce(changes, '{}')::text[] FROM memdir.node
    WHERE namespace = $1 AND parent = 0 AND name = '' FOR NO KEY UPDATE",
    types: &[Type::TEXT],
};

/// The newest change of the namespace; nothing if nobody has written to it yet.
pub(super) const NEWEST: Statement = Statement {
    sql: "
    SELECT coalesce(changes[1]::text, '') FROM memdir.node
    WHERE namespace = $1 AND parent = 0 AND name = ''",
    types: &[Type::TEXT],
};

/// The names `$3`, each in the one before it, from the directory `$2` on; the last one is a file, if
/// there is a content `$4`.
pub(super) const ADD: Statement = Statement {
    sql: "
    WITH new AS MATERIALIZED (
        SELECT nextval('memdir.node_id') AS id, name, level
        FROM unnest($3::text[]) WITH ORDINALITY AS given (name, level)
    )
    INSERT INTO memdir.node (id, namespace, parent, name, content, modified)
    SELECT id, $1, lag(id, 1, $2::bigint) OVER (ORDER BY level), name,
        CASE WHEN level = cardinality($3) THEN $4::bytea END,
        CASE WHEN level = cardinality($3) AND $4 IS NOT NULL THEN clock_timestamp() END
    FROM new",
    types: &[Type::TEXT, Type::INT8, Type::TEXT_ARRAY, Type::BYTEA],
};

/// A file's new content.
pub(super) const REPLACE: Statement = Statement {
    sql: "
    UPDATE memdir.node SET content = $3, modified = clock_timestamp()
    WHERE namespace = $1 AND id = $2 AND content IS NOT NULL",
    types: &[Type::TEXT, Type::INT8, Type::BYTEA],
};

/// A node, and what is below it.
pub(super) const REMOVE: Statement = Statement {
    sql: "
    WITH RECURSIVE gone (id) AS (
        SELECT $2::bigint
    UNION ALL
        SELECT entry.id FROM gone CROSS JOIN LATERAL (
            SELECT id FROM memdir.node WHERE namespace = $1 AND parent = gone.id OFFSET 0
        ) AS entry
    )
    DELETE FROM memdir.node WHERE namespace = $1 AND id IN (SELECT id FROM gone)",
    types: &[Type::TEXT, Type::INT8],
};

/// The node `$2` comes to be the entry `$5` of the last of the new directories `$4`, which are made
/// each in the one before it, from the directory `$3` on.
pub(super) const MOVE: Statement = Statement {
    sql: "
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
    types: &[Type::TEXT, Type::INT8, Type::INT8, Type::TEXT_ARRAY, Type::TEXT],
};

/// A file's time.
pub(super) const DATE: Statement = Statement {
    sql: "
    UPDATE memdir.node SET modified = $3
    WHERE namespace = $1 AND id = $2 AND content IS NOT NULL",
    types: &[Type::TEXT, Type::INT8, Type::TIMESTAMPTZ],
};

/// Notes when the file at the end of the way was accessed; says whether there is a directory, and
/// whether it was noted.
pub(super) const ACCESS: Statement = Statement {
    sql: way!(
        ", noted AS (
          UPDATE memdir.node SET accessed = $3
          WHERE namespace = $1 AND content IS NOT NULL
          AND id = (SELECT id FROM way WHERE level = cardinality($2)) RETURNING id
      )
      SELECT node.content IS NULL, EXISTS (SELECT FROM noted)
      FROM way JOIN memdir.node AS node USING (id) WHERE way.level = cardinality($2)"
    ),
    types: &[Type::TEXT, Type::TEXT_ARRAY, Type::TIMESTAMPTZ],
};

/// All but the root, whose parent is 0, and the notes.
pub(super) const CLEAR: Statement = Statement {
    sql: "DELETE FROM memdir.node WHERE namespace = $1 AND parent > 0",
    types: &[Type::TEXT],
};

/// All rows of the namespace, also the root that the same transaction has locked.
pub(super) const ERASE: Statement =
    Statement { sql: "DELETE FROM memdir.node WHERE namespace = $1", types: &[Type::TEXT] };

/// A note: a row that no directory leads to, because its parent is -1. Its id is its number: it is drawn under the
/// namespace's lock.
pub(super) const NOTE: Statement = Statement {
    sql: "INSERT INTO memdir.node (namespace, parent, name, content) VALUES ($1, -1, $2, $3)",
    types: &[Type::TEXT, Type::TEXT, Type::BYTEA],
};

/// The notes above the number `$2`, with their first `$3` bytes.
pub(super) const NOTES: Statement = Statement {
    sql: "
    SELECT id, substring(content FROM 1 FOR $3), octet_length(content) FROM memdir.node
    WHERE namespace = $1 AND parent = -1 AND id > $2 ORDER BY id",
    types: &[Type::TEXT, Type::INT8, Type::INT4],
};

/// `$4` bytes of a note, from the byte `$3` on, which is 1 for the first.
pub(super) const READ_NOTE: Statement = Statement {
    sql: "
    SELECT substring(content FROM $3 FOR $4) FROM memdir.node
    WHERE namespace = $1 AND parent = -1 AND id = $2",
    types: &[Type::TEXT, Type::INT8, Type::INT4, Type::INT4],
};

/// Other bytes for a note.
pub(super) const REPLACE_NOTE: Statement = Statement {
    sql: "UPDATE memdir.node SET content = $3 WHERE namespace = $1 AND parent = -1 AND id = $2",
    types: &[Type::TEXT, Type::INT8, Type::BYTEA],
};

/// Without these notes.
pub(super) const REMOVE_NOTES: Statement = Statement {
    sql: "DELETE FROM memdir.node WHERE namespace = $1 AND parent = -1 AND id = ANY($2)",
    types: &[Type::TEXT, Type::INT8_ARRAY],
};

/// The names of a path, as `$2` of the statements above.
pub(super) fn names(path: &MemoryPath) -> Vec<String> {
    path.names().map(str::to_owned).collect()
}

/// What [`LOOK`] found: nodes from the root on, as many as there are.
pub(super) struct Way {
    found: Vec<FoundRow>,
    /// How many levels the path has.
    levels: usize,
}

/// A node on the way.
pub(super) struct FoundRow {
    pub(super) id: i64,
    pub(super) is_directory: bool,
    pub(super) modified: Option<SystemTime>,
    /// Of a file at the end of the way, if it was asked for.
    pub(super) content: Option<Vec<u8>>,
    pub(super) accessed: Option<SystemTime>,
    /// Of a file.
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

    /// What is at the end of the path.
    pub(super) fn end(self) -> Option<FoundRow> {
        self.found.into_iter().nth(self.levels)
    }

    pub(super) fn has_end(&self) -> bool {
        self.found.len() > self.levels
    }

    /// The last node that is there, and how many of the path's names lead to it.
    pub(super) fn last(&self) -> Option<(&FoundRow, usize)> {
        Some((self.found.last()?, self.found.len() - 1))
    }
}

/// The time, or the earliest that PostgreSQL can keep: 4714 BC.
pub(super) fn storable(time: SystemTime) -> SystemTime {
    const EARLIEST: i64 = -210_866_803_200_000_000;
    micros::time(micros::of(time).max(EARLIEST)).unwrap_or(time)
}

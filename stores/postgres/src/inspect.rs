//! Finds problems of a namespace that reading its files would not show.

use std::collections::HashMap;

use memdir_store::path::MemoryPath;
use memdir_store::{Namespace, Problem, ProblemKind};
use tokio_postgres::types::Type;
use tokio_postgres::{Error, Row};

use super::statements::Statement;

/// Every node of the namespace, with every directory before its entries. Unreachable nodes come last, with depth -1.
pub(super) static ALL: Statement = Statement::new(
    "
    WITH RECURSIVE found (depth, id) AS (
        SELECT 0, id FROM memdir.node WHERE namespace = $1 AND parent = 0 AND name = ''
    UNION ALL
        SELECT found.depth + 1, below.id FROM found CROSS JOIN LATERAL (
            SELECT node.id FROM memdir.node JOIN memdir.node AS above ON above.id = found.id
            WHERE node.namespace = $1 AND node.parent = found.id AND above.content IS NULL OFFSET 0
        ) AS below
        WHERE found.depth <= 1000
    )
    SELECT coalesce(found.depth, -1), node.parent, node.id, node.name
    FROM memdir.node LEFT JOIN found USING (id) WHERE node.namespace = $1 AND node.parent >= 0
    ORDER BY coalesce(found.depth, 2000)",
    &[Type::TEXT],
);

/// The size of each namespace that is visible to this role. The history is in notes, or in hidden files if the memory is
/// encrypted with plain names. The files that memdir keeps for itself do not count. A namespace without files, directories and notes is left out.
pub(super) static NAMESPACES: Statement = Statement::new(
    "
    WITH history AS (
        SELECT top.id FROM memdir.node AS top JOIN memdir.node AS root ON root.id = top.parent
        WHERE root.parent = 0 AND root.namespace = top.namespace
        AND top.name = '.memdir-history' AND top.content IS NULL
    ), own AS (
        SELECT top.id FROM memdir.node AS top JOIN memdir.node AS root ON root.id = top.parent
        WHERE root.parent = 0 AND root.namespace = top.namespace
        AND top.name IN ('.memdir-search', '.memdir-sync') AND top.content IS NULL
    ), entry AS (
        SELECT namespace, content IS NOT NULL AS is_file, octet_length(content) AS size,
            parent <> 0 AS is_below, parent = -1 OR parent IN (SELECT id FROM history) AS is_record
        FROM memdir.node
        WHERE $1::text IS NOT NULL AND parent NOT IN (SELECT id FROM own)
    )
    SELECT namespace, count(*) FILTER (WHERE is_file AND NOT is_record),
        coalesce(sum(size) FILTER (WHERE NOT is_record), 0)::bigint,
        coalesce(sum(size) FILTER (WHERE is_record), 0)::bigint
    FROM entry GROUP BY namespace HAVING bool_or(is_below) ORDER BY namespace",
    &[Type::TEXT],
);

pub(super) fn namespaces(rows: &[Row]) -> Result<Vec<Namespace>, Error> {
    let namespace = |row: &Row| {
        let number = |at| Ok::<u64, Error>(u64::try_from(row.try_get::<_, i64>(at)?).unwrap_or(0));
        let mut namespace = Namespace::new(row.try_get(0)?);
        namespace.files = number(1)?;
        (namespace.bytes, namespace.history_bytes) = (number(2)?, number(3)?);
        Ok(namespace)
    };
    rows.iter().map(namespace).collect()
}

pub(super) fn inspect(rows: &[Row], report: &mut dyn FnMut(Problem)) -> Result<(), Error> {
    let mut paths: HashMap<i64, MemoryPath> = HashMap::new();
    let mut strays = 0_u64;
    for row in rows {
        let (depth, parent, id): (i32, i64, i64) =
            (row.try_get(0)?, row.try_get(1)?, row.try_get(2)?);
        let name: &str = row.try_get(3)?;
        match (depth, paths.get(&parent)) {
            (0, _) => {
                paths.insert(id, MemoryPath::root());
            }
            (1.., Some(above)) => match above.join(name) {
                Ok(path) => {
                    paths.insert(id, path);
                }
                Err(_) => report(Problem::with_entry(ProblemKind::BadName, above, name.as_bytes())),
            },
            // Below a name that was already reported.
            (1.., None) => {}
            _ => strays += 1,
        }
    }
    if strays > 0 {
        let details = format!("{strays} entries that no directory leads to");
        report(Problem::new(ProblemKind::Damaged, &MemoryPath::root(), details));
    }
    Ok(())
}

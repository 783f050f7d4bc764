//! Looks at the names of the paths of a batch, each once, and reads the files at these paths.

use std::collections::HashMap;
use std::time::SystemTime;

use memdir_store::path::MemoryPath;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

use super::error::PostgresError;
use super::statements::Statement;

/// Looks at the names `$3`, each inside the one with the number in `$2`; 0 is the root. A name that does not exist gets a new id.
pub(super) static PLACES: Statement = Statement::planned_anew(
    "
    WITH RECURSIVE given AS MATERIALIZED (
        SELECT number, above, name
        FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS given (above, name, number)
    ), way (number, id, is_directory, size, used) AS (
        SELECT 0::bigint, id, true, NULL::integer, NULL::timestamptz FROM memdir.node
        WHERE namespace = $1 AND parent = 0 AND name = ''
    UNION ALL
        SELECT given.number, next.id, next.is_directory, next.size, next.used
        FROM way JOIN given ON given.above = way.number CROSS JOIN LATERAL (
            SELECT id, content IS NULL AS is_directory, octet_length(content) AS size,
                greatest(modified, accessed) AS used
            FROM memdir.node
            WHERE namespace = $1 AND parent = way.id AND name = given.name LIMIT 1
        ) AS next
    )
    SELECT coalesce(way.id, nextval('memdir.node_id')), way.is_directory, way.size, way.used
    FROM given LEFT JOIN way USING (number) ORDER BY number",
    &[Type::TEXT, Type::INT8_ARRAY, Type::TEXT_ARRAY],
);

/// The files at the names with the numbers `$4`, in their order: their times, and if `$5` is set their contents. The names are those of
/// [`PLACES`].
pub(super) static FILES: Statement = Statement {
    sql: "
    WITH RECURSIVE given AS MATERIALIZED (
        SELECT number, above, name
        FROM unnest($2::bigint[], $3::text[]) WITH ORDINALITY AS given (above, name, number)
    ), way (number, id) AS (
        SELECT 0::bigint, root.id
        FROM (
            SELECT set_config('memdir.namespace', $1, true) AS namespace OFFSET 0
        ) AS tenant CROSS JOIN LATERAL (
            SELECT id FROM memdir.node
            WHERE namespace = tenant.namespace AND parent = 0 AND name = '' LIMIT 1
        ) AS root
    UNION ALL
        SELECT given.number, next.id
        FROM way JOIN given ON given.above = way.number CROSS JOIN LATERAL (
            SELECT id FROM memdir.node
            WHERE namespace = $1 AND parent = way.id AND name = given.name LIMIT 1
        ) AS next
    )
    SELECT node.is_directory, CASE WHEN $5 THEN node.content END, node.modified, node.accessed
    FROM unnest($4::bigint[]) WITH ORDINALITY AS wanted (number, place)
    LEFT JOIN way USING (number) LEFT JOIN LATERAL (
        SELECT content IS NULL AS is_directory, content, modified, accessed FROM memdir.node
        WHERE id = way.id LIMIT 1
    ) AS node ON true ORDER BY wanted.place",
    types: &[Type::TEXT, Type::INT8_ARRAY, Type::TEXT_ARRAY, Type::INT8_ARRAY, Type::BOOL],
    sets_namespace: true,
    is_planned_anew: true,
};

/// The names of the paths of a batch, each once and after the directory that it is in. They are numbered from 1; 0 is the root.
pub(super) struct Names {
    pub(super) names: Vec<String>,
    /// The number of the directory of each name.
    pub(super) above: Vec<i64>,
    /// The number of the last name of each path.
    pub(super) ends: Vec<usize>,
}

/// The answer about a name.
pub(super) struct Place {
    /// A new id if nothing is there.
    pub(super) id: i64,
    pub(super) state: PlaceState,
}

#[derive(Clone, Copy)]
pub(super) enum PlaceState {
    Missing,
    Directory,
    /// `used` is the later time of its last change and its last recorded access.
    File {
        size: u64,
        used: Option<SystemTime>,
    },
}

impl Names {
    pub(super) fn of<'p>(paths: impl Iterator<Item = &'p MemoryPath>) -> Self {
        let mut numbers: HashMap<(usize, &str), usize> = HashMap::new();
        let (mut names, mut above, mut ends) = (Vec::new(), Vec::new(), Vec::new());
        for path in paths {
            let mut end = 0;
            for name in path.names() {
                end = *numbers.entry((end, name)).or_insert_with(|| {
                    names.push(name.to_owned());
                    above.push(i64::try_from(end).unwrap_or(i64::MAX));
                    names.len()
                });
            }
            ends.push(end);
        }
        Self { names, above, ends }
    }

    /// The number of the directory of a name.
    pub(super) fn above(&self, number: usize) -> usize {
        usize::try_from(self.above[number - 1]).unwrap_or(0)
    }
}

impl Place {
    /// The result of [`PLACES`].
    pub(super) fn of(rows: &[Row]) -> Result<Vec<Self>, PostgresError> {
        let place = |row: &Row| {
            let (is_directory, size): (Option<bool>, Option<i32>) =
                (row.try_get(1)?, row.try_get(2)?);
            let state = match is_directory {
                None => PlaceState::Missing,
                Some(true) => PlaceState::Directory,
                Some(false) => PlaceState::File {
                    size: size.and_then(|size| size.try_into().ok()).unwrap_or(0),
                    used: row.try_get(3)?,
                },
            };
            Ok(Self { id: row.try_get(0)?, state })
        };
        rows.iter().map(place).collect()
    }
}

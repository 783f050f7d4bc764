//! The JSON schemas of values with a custom serialization.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::history_id::HistoryId;
use crate::path::MemoryPath;
use crate::problem::{Problem, ProblemKind};
use crate::schema::formatted;

formatted!(MemoryPath, "MemoryPath", "string", "path");
formatted!(HistoryId, "HistoryId", "string", "id");

// The serialized form of a `Problem`.
#[derive(JsonSchema)]
#[schemars(rename = "Problem")]
#[allow(dead_code, reason = "only its schema is asked for")]
/// A problem in a store.
struct ShownProblem {
    /// The kind of problem.
    kind: ProblemKind,
    /// The path, or a text like a path if no path can contain the name. It is safe to display.
    path: String,
    /// The problem as a sentence, for you.
    description: String,
    /// Whether the problem is about an entry that is not part of the memory. The memory itself is then
    /// intact.
    is_beside: bool,
}

impl JsonSchema for Problem {
    fn schema_name() -> Cow<'static, str> {
        ShownProblem::schema_name()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        ShownProblem::json_schema(generator)
    }
}

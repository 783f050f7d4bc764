//! The JSON schemas of values that serialize in a way of their own. The formats are names of ours: what makes types of the
//! schemas knows them.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::history_id::HistoryId;
use crate::path::MemoryPath;
use crate::problem::{Problem, ProblemKind};

/// A point in time.
pub enum Time {}

/// A duration in seconds.
pub enum Seconds {}

/// A text or a number with a format.
macro_rules! formatted {
    ($name:ty, $title:literal, $type:literal, $format:literal) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                $title.into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": $type, "format": $format })
            }
        }
    };
}

formatted!(Time, "Time", "string", "date-time");
formatted!(Seconds, "Seconds", "number", "seconds");
formatted!(MemoryPath, "MemoryPath", "string", "path");
formatted!(HistoryId, "HistoryId", "string", "id");

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
    /// Whether it is about an entry that is not part of the memory. The memory itself is then in order.
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

//! The JSON schemas of times, as fields serialize them (`time.rs`). The formats are custom names, which the generators of types
//! recognise.

use std::borrow::Cow;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

/// A point in time.
pub enum Time {}

/// A duration in seconds.
pub enum Seconds {}

/// Implements the schema of a text or a number with a format.
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

pub(crate) use formatted;

formatted!(Time, "Time", "string", "date-time");
formatted!(Seconds, "Seconds", "number", "seconds");

//! The operations of an `Engine` for the developer's own code, with named arguments.

use std::time::{Duration, SystemTime};

use memdir::command::{Dialect, search_tool_definition};
use memdir::value::{Fields, Value};
use memdir_bindings_shared::arguments::{Arguments as Named, Times};
use memdir_bindings_shared::operations::{Returned, perform as perform_shared};
use memdir_bindings_shared::search::TextUnit;
use serde_json::Value as Json;

use crate::answer;
use crate::arguments::Arguments;
use crate::border::placed;
use crate::errors::{Failure, unknown};
use crate::handles::MEMORIES;
use crate::input::value;
use crate::options::word;
use crate::results::into_json;
use crate::times::{LAST_NANOS, from_millis};

/// Times are the milliseconds of a `Date`.
const TIMES: Times = Times { read: time, rest: Duration::from_nanos(LAST_NANOS) };

/// Executes a method. The arguments are the number of the memory, whether the call is cancelled, and the named
/// arguments.
pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    let memory = MEMORIES.get(given.number(0))?.cancelled_by(&given.cancellation(1));
    let fields = Object(given.get(2));
    let named = Named::new(&fields, Vec::new(), TIMES)
        .with_omitted("undefined")
        .with_text_unit(TextUnit::Utf16);
    Ok(match method {
        "acting_as" => MEMORIES.add(memory.acting_as(&named.text("actor")?)).into(),
        // The times of entries are numbers.
        "list" => {
            let (path, depth) = (named.text("path")?, named.optional_count("depth")?);
            answer::entries(memory.list(&path, depth)?)
        }
        "tool_definition" => memory.tool_definition(dialect(&fields)?).to_string().into(),
        "tool_definitions" => {
            let tools = memory.tool_definitions(dialect(&fields)?, &named.text("prefix")?)?;
            tools.iter().map(ToString::to_string).collect()
        }
        "search_tool_definition" => {
            search_tool_definition(dialect(&fields)?, &named.text("prefix")?)?.to_string().into()
        }
        _ => match perform_shared::<Failure>(&memory, method, &named)? {
            Some(Returned::Value(result)) => into_json(result),
            Some(Returned::Content(content)) => placed(content),
            None => return Err(unknown(method)),
        },
    })
}

/// The fields of an object of arguments.
struct Object<'a>(&'a Json);

impl Fields for Object<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        self.0.get(name).map(value)
    }
}

fn dialect(fields: &Object<'_>) -> Result<Dialect, Failure> {
    Ok(word("dialect", &fields.get("dialect").unwrap_or(Value::Null))?)
}

fn time(given: &Value<'_>) -> Result<SystemTime, &'static str> {
    #[expect(clippy::cast_precision_loss, reason = "exact for each millisecond of a date")]
    let millis = match given {
        Value::Integer(millis) => *millis as f64,
        Value::Number(millis) => *millis,
        _ => f64::NAN,
    };
    from_millis(millis).ok_or(" must be a valid Date")
}

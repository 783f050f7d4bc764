//! A pending call: it begins, the caller's own hook decides, and it is finished. So the library calls no
//! function of the caller.

use memdir::value::Value as Field;
use memdir::{Call, HookCall, HookDecision, HookError};
use serde_json::{Map, Value, json};

use crate::failure::Failure;
use crate::handles::{Opened, Table};

/// A call that has begun and waits for the decision of the hook.
pub(crate) struct Pending {
    pub(crate) opened: Opened,
    pub(crate) call: Call<'static>,
}

pub(crate) static PENDING: Table<Pending> = Table::new();

/// The command for the hook; `None` if the call is already refused.
pub(crate) fn command(call: &Call<'_>) -> Option<String> {
    let command = call.command()?;
    let fields =
        command.fields().into_iter().map(|(name, field)| (name.to_owned(), json_of(&field)));
    Some(Value::Object(fields.collect::<Map<_, _>>()).to_string())
}

/// The description of a call for the hook; `None` if the call is already refused.
pub(crate) fn call(pending: u64) -> Result<Option<HookCall<'static>>, Failure> {
    let known = |Pending { opened, call }: &Pending| {
        opened.memory.hook_call(call).map(HookCall::into_owned)
    };
    PENDING.with(pending, known).ok_or_else(|| gone(pending))
}

/// The diff of a call's command; `None` if the call is already refused.
pub(crate) fn diff(pending: u64) -> Result<Option<String>, Failure> {
    let Some(known) = call(pending)? else { return Ok(None) };
    let opened = PENDING.with(pending, |pending| pending.opened.clone());
    let opened = opened.ok_or_else(|| gone(pending))?;
    Ok(Some(opened.call(|_| known.diff())?))
}

fn gone(pending: u64) -> Failure {
    Failure::usage(format!("there is no call {pending} that waits for memdir_finish"))
}

fn json_of(field: &Field<'_>) -> Value {
    match field {
        Field::Text(text) => json!(text),
        Field::Integer(integer) => json!(integer),
        Field::List(items) => items.iter().map(json_of).collect(),
        _ => Value::Null,
    }
}

/// The decision of the hook: nothing or null, or an object with one of `deny`, `replace` and `fail`.
pub(crate) fn decision(json: Option<&[u8]>) -> Result<HookDecision, HookError> {
    let Some(json) = json else { return Ok(HookDecision::Allow) };
    let given: Value = serde_json::from_slice(json)?;
    if given.is_null() {
        return Ok(HookDecision::Allow);
    }
    let wrong =
        || "the decision of a hook is null, or an object with one text: deny, replace or fail";
    let mut fields = given.as_object().into_iter().flatten();
    match (fields.next(), fields.next()) {
        (Some((name, Value::String(text))), None) => match name.as_str() {
            "deny" => Ok(HookDecision::Deny(text.clone())),
            "replace" => Ok(HookDecision::Replace(text.clone())),
            "fail" => Err(text.clone().into()),
            _ => Err(wrong().into()),
        },
        _ => Err(wrong().into()),
    }
}

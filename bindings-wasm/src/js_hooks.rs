//! Hooks that are written in JavaScript. The hooks of a call run between its two halves; those of a sync must answer synchronously,
//! because a promise cannot be awaited in the middle of a call.

use memdir::value::Value;
use memdir::{Command, Event, HookCall, HookDecision, HookError, MemoryHooks};
use serde_json::{Value as Json, json};

use crate::answer;
use crate::border::asked;
use crate::input::{OwnFields, value};
use crate::results::shown;

/// The hooks of one of the two memories of a sync: "a" or "b".
pub(crate) struct JsHooks(pub(crate) &'static str);

impl MemoryHooks for JsHooks {
    fn before(
        &self,
        command: &Command<'_>,
        call: &HookCall<'_>,
    ) -> Result<HookDecision, HookError> {
        let (fields, known) = (answer::command(command), known(call));
        let answer = asked(&json!({ "before": fields, "known": known, "of": self.0 }));
        decision(Some(command), answer["how"].as_str().unwrap_or("fail"), &answer["said"])
    }

    fn after(&self, event: &Event) {
        asked(&json!({ "after": shown(event), "of": self.0 }));
    }
}

/// The facts about a call beside its command.
pub(crate) fn known(call: &HookCall<'_>) -> Json {
    let mut known = json!({ "session": call.session() });
    for (name, text) in [("actor", call.actor()), ("toolUseId", call.tool_use_id())] {
        if let Some(text) = text {
            known[name] = text.into();
        }
    }
    known
}

/// The decision of a hook: its return value, a sentence, or the reason why it failed. `command` is absent if the call is refused.
pub(crate) fn decision(
    command: Option<&Command<'_>>,
    how: &str,
    said: &Json,
) -> Result<HookDecision, HookError> {
    match how {
        "deny" => Ok(HookDecision::Deny(said.as_str().unwrap_or_default().to_owned())),
        "fail" => Err(said.as_str().unwrap_or_default().to_owned().into()),
        _ => match value(said) {
            Value::Null => Ok(HookDecision::Allow),
            Value::Object => command.map_or(Ok(HookDecision::Allow), |command| {
                HookDecision::read(command, &OwnFields("input"))
            }),
            other => Err(format!("it returned {other}, and neither nothing nor an object").into()),
        },
    }
}

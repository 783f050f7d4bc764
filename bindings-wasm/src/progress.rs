//! The progress of a long task: a function of JavaScript gets it, and says whether to continue.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::border::asked;
use crate::results::shown;

/// Reports the progress to JavaScript, if it wants it. Returns whether to continue.
pub(crate) fn go_on(watched: bool, at: impl Serialize, thrown: &mut bool) -> ControlFlow<()> {
    if !watched {
        return ControlFlow::Continue(());
    }
    match asked(&json!({ "progress": shown(at) })) {
        Json::Bool(true) => ControlFlow::Continue(()),
        Json::Bool(false) => ControlFlow::Break(()),
        _ => {
            *thrown = true;
            ControlFlow::Break(())
        }
    }
}

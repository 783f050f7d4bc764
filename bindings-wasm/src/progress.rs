//! How far a long task is: a function of JavaScript's is told, and says whether it goes on.

use std::ops::ControlFlow;

use serde::Serialize;
use serde_json::{Value as Json, json};

use crate::border::asked;
use crate::results::shown;

/// Tells JavaScript how far a task is, if it wants to know, and whether it goes on.
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

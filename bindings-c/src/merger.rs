//! [`OwnMerger`]: a function of the application that merges the conflicts of a sync. It gets [requests](crate::request) in JSON, as a store of
//! its own does.

use std::ffi::CString;

use memdir::sync::{MergeError, SyncMerge};
use memdir::{Cancellation, OnConflict};
use serde_json::{Value, json};

use crate::call::Call;
use crate::host::Host;
use crate::own_error::OwnError;
use crate::request::Waiting;
use crate::results::shown;

/// Dropping it tells the application that it can release the function.
pub(crate) struct OwnMerger {
    pub(crate) host: Host,
    pub(crate) number: u64,
}

impl Drop for OwnMerger {
    fn drop(&mut self) {
        self.host.release(self.number);
    }
}

impl OwnMerger {
    pub(crate) fn on_conflict(self) -> OnConflict {
        OnConflict::merge(move |file| self.merge(file))
    }

    fn merge(&self, file: &SyncMerge) -> Result<Option<String>, MergeError> {
        let cancellation = Call::current()
            .map_or(Cancellation::never(), |call| call.asking.cancellation().clone());
        let waiting = Waiting::begin("merge", &cancellation, None)?;
        let mut asked = shown(file);
        asked["operation"] = json!("merge");
        asked["call"] = json!(waiting.call);
        asked["to_the_end"] = json!(false);
        // JSON contains no NUL byte.
        let asked = CString::new(asked.to_string()).unwrap_or_default();
        self.host.serve(self.number, waiting.number, &asked, b"");
        match waiting.end(|answer| Ok(answer.result))? {
            Value::Null => Ok(None),
            Value::String(text) => Ok(Some(text)),
            answer => Err(OwnError::of_answer(&answer, "it answered neither a text nor null")),
        }
    }
}

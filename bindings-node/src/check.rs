//! `check`: reads a whole store and reports its problems.

use std::sync::Arc;

use memdir::store::Problem as Core;
use napi::bindgen_prelude::Object;
use napi::{Env, Result};
use napi_derive::napi;

use crate::errors::Failure;
use crate::native_store::NativeStore;
use crate::progress::number;
use crate::thread_pool::{Purpose, Workers};

/// The result of a check.
#[napi(object, object_from_js = false)]
pub(crate) struct Checked {
    /// Directories, including the root.
    pub directories: i64,
    /// Files; each was read to its end.
    pub files: i64,
    /// The bytes that were read.
    pub bytes: i64,
    /// Versions in the store's history, if it has one.
    pub versions: Option<i64>,
    /// The problems that were found; empty if there are none.
    pub problems: Vec<Problem>,
}

/// A problem in a store.
#[napi(object, object_from_js = false)]
pub(crate) struct Problem {
    /// The kind of problem.
    #[napi(
        ts_type = "'unreadable' | 'wrong-size' | 'damaged' | 'left-over' | 'link' | 'special-file' | 'bad-name'"
    )]
    pub kind: &'static str,
    /// The path, or a text like a path if no path can contain the name.
    pub path: String,
    /// The problem as a sentence.
    pub description: String,
    /// Whether it is about an entry that is not part of the memory.
    pub is_beside: bool,
}

impl From<Core> for Problem {
    fn from(problem: Core) -> Self {
        Self {
            kind: problem.kind.as_str(),
            description: problem.to_string(),
            is_beside: problem.kind.is_beside(),
            path: problem.path,
        }
    }
}

#[napi]
impl NativeStore {
    /// Inspects the store and its history, and reads every file in it.
    #[napi(ts_return_type = "Promise<Checked>")]
    pub fn check<'env>(&self, env: &'env Env) -> Result<Object<'env>> {
        let store = Arc::clone(self.core());
        let work = move || {
            let mut problems = Vec::new();
            let checked = memdir::check(&store, &mut |problem| problems.push(problem.into()))?;
            Ok(Checked {
                directories: number(checked.directories),
                files: number(checked.files),
                bytes: number(checked.bytes),
                versions: checked.versions.map(number),
                problems,
            })
        };
        // Threads of its own: a store may call a memory, whose threads must not be the ones that wait
        // for it.
        Workers::own().promise(
            env,
            Purpose::View,
            None,
            work,
            |env, checked: std::result::Result<_, Failure>| {
                checked.map_err(|failure| failure.into_js(&env))
            },
        )
    }
}

//! Copying from store to store: what `copy` tells JavaScript.

use std::ops::ControlFlow;
use std::sync::Arc;

use memdir::OnExisting;
use memdir::copy::{Copied as Core, Progress};
use napi::bindgen_prelude::{ClassInstance, Function, Object};
use napi::{Env, Result};
use napi_derive::napi;

use crate::errors::copy_to_js;
use crate::native_store::NativeStore;
use crate::progress::{number, progress_callback};
use crate::thread_pool::{Purpose, Workers};

/// What a copy did.
#[napi(object, object_from_js = false)]
pub(crate) struct Copied {
    /// Files that were written.
    pub files: i64,
    /// Their bytes.
    pub bytes: i64,
    /// Files that were there already, with the same content.
    pub equal: i64,
    /// Empty directories that were made.
    pub directories: i64,
    /// What is kept beside the memory that was copied, such as links, and is no part of it.
    pub left_out: Vec<String>,
}

impl From<Core> for Copied {
    fn from(copied: Core) -> Self {
        Self {
            files: number(copied.files),
            bytes: number(copied.bytes),
            equal: number(copied.equal),
            directories: number(copied.directories),
            left_out: copied.left_out.iter().map(ToString::to_string).collect(),
        }
    }
}

/// How far a copy is.
#[napi(object, object_from_js = false)]
pub struct CopyProgress {
    /// `comparing` while both stores are looked through, then `copying`.
    #[napi(ts_type = "'comparing' | 'copying'")]
    pub phase: &'static str,
    /// The file that comes next.
    pub path: String,
    /// The files that this phase is through with.
    pub files: i64,
    /// Their bytes.
    pub bytes: i64,
    /// The files that this phase is about; while comparing, as many as were found so far.
    pub of_files: i64,
    /// Their bytes.
    pub of_bytes: i64,
}

impl From<Progress<'_>> for CopyProgress {
    fn from(progress: Progress<'_>) -> Self {
        Self {
            phase: progress.phase.as_str(),
            path: progress.path.to_string(),
            files: number(progress.files),
            bytes: number(progress.bytes),
            of_files: number(progress.of_files),
            of_bytes: number(progress.of_bytes),
        }
    }
}

#[napi]
impl NativeStore {
    /// Copies all that this store holds into another. `progress` says whether it goes on.
    #[napi(ts_return_type = "Promise<Copied>")]
    pub fn copy_to<'env>(
        &self,
        env: &'env Env,
        destination: ClassInstance<'_, NativeStore>,
        overwrite: bool,
        #[napi(ts_arg_type = "((progress: CopyProgress) => boolean) | undefined")] progress: Option<
            Function<'_, CopyProgress, bool>,
        >,
    ) -> Result<Object<'env>> {
        let existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
        let mut on_progress = progress_callback(progress)?;
        let (from, to) = (Arc::clone(self.core()), Arc::clone(destination.core()));
        let work = move || {
            let mut thrown = None;
            let copied = memdir::copy(&*from, &*to, existing, &mut |progress| match on_progress(
                progress.into(),
            ) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    thrown = Some(error);
                    ControlFlow::Break(())
                }
            });
            (copied, thrown)
        };
        // Threads of its own: a callback or a store may call a memory, whose threads must not be the
        // ones that wait for it.
        Workers::own().promise(env, Purpose::Change, None, work, |env, (copied, thrown)| {
            match (copied, thrown) {
                (_, Some(error)) => Err(error),
                (Ok(copied), None) => Ok(Copied::from(copied)),
                (Err(error), None) => Err(copy_to_js(&env, &error)),
            }
        })
    }
}

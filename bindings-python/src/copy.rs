//! Copies everything from one store to another.

use std::ops::ControlFlow;

use memdir::copy::{Copied, CopyError, Progress};
use memdir::options::Given;
use memdir::{CopyOptions, Error, MemoryOptions, OnExisting};
use pyo3::inspect::PyStaticExpr;
use pyo3::prelude::*;
use pyo3::{type_hint_identifier, type_hint_subscript};

use crate::errors::{copy_error, to_python};
use crate::guarded::call;
use crate::hints::{self, Hint, Hinted, hint};
use crate::options::{OrDefault, callback};
use crate::read_only;
use crate::results::{self, Shown};
use crate::shutdown::{attached, released};
use crate::stores;

hint!(
    /// A callback for the progress of a copy.
    OnProgress = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Callable"),
        PyStaticExpr::List { elts: &[<Progress<'_> as Hint>::HINT] },
        hints::OBJECT
    )
);

/// Copies everything from one store into another: contents, times, hidden files, empty directories,
/// the history.
///
/// Nothing is ever deleted. Both stores are compared first. If a file with the same content already
/// exists, only its time is set. If a file with another content exists, nothing is copied at all,
/// unless `overwrite` is true. Everything that is written is read back and compared. After an
/// interruption, the same call copies the rest.
///
/// If the history of the destination has changes that the source does not have, or the history of the
/// source is damaged, nothing is copied at all, unless `without_history` is true.
///
/// Args:
///     source: The store to copy from, or its address. It must exist, and is only read.
///     destination: The store to copy to, or its address. A directory or database is created.
///     overwrite: Replace files that have another content.
///     without_history: Copy only the files, and not the history.
///     durability: The failure that a copied file survives: `"full"` a loss of power, `"relaxed"` a
///         crash of the process, which is faster for many small files.
///     on_progress: Called before each file. An exception that it raises stops the copy.
///
/// Raises:
///     CopyError: The destination holds something else, or the history cannot be copied.
///     StoreError: A store cannot be opened, or failed. Files that are already copied stay.
///     ConfigError: An address is wrong.
///
/// >>> from memdir import copy, open_store
/// >>> old, new = open_store("memory:"), open_store("memory:")
/// >>> old.write("/memories/notes.md", b"- likes tea\n")
/// >>> copy(old, new)
/// Copied(files=1, bytes=12, equal=0, directories=0, left_out=(), changes=None)
/// >>> copy(old, new)
/// Copied(files=0, bytes=0, equal=1, directories=0, left_out=(), changes=None)
#[pyfunction]
#[pyo3(
    signature = (
        source,
        destination,
        *,
        overwrite = OrDefault::Default,
        without_history = OrDefault::Default,
        durability = OrDefault::Default,
        on_progress = None,
    ),
    text_signature = "(source, destination, *, overwrite=False, without_history=False, durability='full', on_progress=None)",
)]
pub(crate) fn copy(
    py: Python<'_>,
    source: Hinted<'_, read_only::Places>,
    destination: Hinted<'_, read_only::Places>,
    overwrite: OrDefault<'_, hints::Flag>,
    without_history: OrDefault<'_, hints::Flag>,
    durability: OrDefault<'_, hints::Durability>,
    on_progress: Option<Hinted<'_, OnProgress>>,
) -> PyResult<Shown<Copied>> {
    let mut options = MemoryOptions::default();
    options.durability = durability.or("durability", options.durability, Given::word)?;
    let overwrite = overwrite.or("overwrite", false, Given::flag)?;
    let mut how = CopyOptions::default();
    how.existing = if overwrite { OnExisting::Overwrite } else { OnExisting::Error };
    how.without_history = without_history.or("without_history", false, Given::flag)?;
    how.durability = options.durability;
    let to_read = {
        let mut options = options.clone();
        options.read_only = true;
        options
    };
    let on_progress = callback("on_progress", on_progress.map(Hinted::into_inner))?;
    let from = stores::open("source", &source.into_inner(), &to_read)?;
    let to = stores::open("destination", &destination.into_inner(), &options)?;
    let mut raised = None;
    let copied = released(py, || {
        memdir::copy(&from, &to, how, &mut |progress| {
            let told = attached(|py| {
                py.check_signals()?;
                match &on_progress {
                    Some(function) => {
                        let progress = results::to_python(py, &progress)?;
                        call(function.bind(py), (progress,), None).map(drop)
                    }
                    None => Ok(()),
                }
            });
            match told {
                Some(Ok(())) => ControlFlow::Continue(()),
                Some(Err(error)) => {
                    raised = Some(error);
                    ControlFlow::Break(())
                }
                None => ControlFlow::Break(()),
            }
        })
    });
    match (copied, raised) {
        (Ok(copied), _) => Ok(Shown(copied)),
        (Err(CopyError::Stopped), Some(error)) => Err(error),
        (Err(CopyError::Source { error, .. } | CopyError::Destination { error, .. }), _) => {
            Err(to_python(py, &Error::Store(error)))
        }
        (Err(refused), _) => Err(copy_error(py, &refused)),
    }
}

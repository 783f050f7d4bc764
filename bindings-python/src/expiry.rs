//! `Memory.expire`.

use std::ops::ControlFlow;
use std::time::Duration;

use memdir::{Expired, Memory};
use pyo3::prelude::*;

use crate::cancel::detached;
use crate::errors::to_python;
use crate::guarded::call;
use crate::logging;
use crate::results;
use crate::shutdown::attached;

/// Removes unused files with the interpreter released. An exception of the callback stops it.
pub(crate) fn expire(
    py: Python<'_>,
    memory: &Memory,
    older_than: Duration,
    dry_run: bool,
    on_progress: Option<&Py<PyAny>>,
) -> PyResult<Vec<Expired>> {
    logging::refresh();
    let mut raised = None;
    let expired = detached(py, |cancellation| {
        memory.cancelled_by(cancellation).expire(older_than, dry_run, &mut |progress| {
            let told = attached(|py| {
                py.check_signals()?;
                match on_progress {
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
    match raised {
        Some(error) => Err(error),
        None => expired.map_err(|error| to_python(py, &error)),
    }
}

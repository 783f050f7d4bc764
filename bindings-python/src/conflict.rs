//! [`Conflict`]: why a file is not brought back. An error has it, and so has what was restored.

use std::time::SystemTime;

use memdir::history::Conflict as CoreConflict;
use pyo3::prelude::*;
use pyo3::types::PyDateTime;

use crate::time::{Time, shown};

/// A path that was changed since, or where something is in the way, so a file is not brought back there.
///
/// `in_the_way` says whether it is in the way: a file where a directory is needed, or a directory or
/// something else where a file is needed; it is never overwritten. `change` is the id of the newest later
/// change of the file, `actor` made it, and `time` is when. They are `None` if it is not recorded: another
/// program changed the file since its last version, or something is in the way.
#[pyclass(module = "memdir", frozen, eq, hash)]
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Conflict {
    /// The path.
    #[pyo3(get)]
    path: String,
    /// Whether it is in the way.
    #[pyo3(get)]
    in_the_way: bool,
    /// The id of the newest later change of the file.
    #[pyo3(get)]
    change: Option<String>,
    /// Who made this change.
    #[pyo3(get)]
    actor: Option<String>,
    time: Option<SystemTime>,
}

#[pymethods]
impl Conflict {
    #[new]
    #[pyo3(signature = (path, in_the_way = false, change = None, actor = None, time = None))]
    fn new(
        path: String,
        in_the_way: bool,
        change: Option<String>,
        actor: Option<String>,
        time: Option<Time>,
    ) -> Self {
        let time = time.map(|Time(time)| time);
        Self { path, in_the_way, change, actor, time }
    }

    /// An exception that has it can be pickled.
    #[allow(clippy::type_complexity, reason = "the arguments of `new`")]
    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> (&str, bool, Option<&str>, Option<&str>, Option<Bound<'py, PyDateTime>>) {
        let (change, actor) = (self.change.as_deref(), self.actor.as_deref());
        (&self.path, self.in_the_way, change, actor, self.time(py))
    }

    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str) {
        ("path", "change", "actor")
    }

    /// When this change was made, or noticed.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyDateTime>> {
        self.time.and_then(|time| shown(py, time))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.path.as_str().into_pyobject(py)?.repr()?;
        let in_the_way = self.in_the_way.into_pyobject(py)?.repr()?;
        let change = self.change.as_deref().into_pyobject(py)?.repr()?;
        let actor = self.actor.as_deref().into_pyobject(py)?.repr()?;
        let time = self.time(py).into_pyobject(py)?.repr()?;
        Ok(format!("Conflict({path}, {in_the_way}, {change}, {actor}, {time})"))
    }
}

impl From<&CoreConflict> for Conflict {
    fn from(conflict: &CoreConflict) -> Self {
        Self {
            path: conflict.path.as_str().to_owned(),
            in_the_way: conflict.in_the_way,
            change: conflict.change.as_ref().map(ToString::to_string),
            actor: conflict.actor.clone(),
            time: conflict.time,
        }
    }
}

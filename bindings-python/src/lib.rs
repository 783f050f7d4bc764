//! memdir for Python: the native half of the package `memdir`.
//!
//! It connects Python's values, exceptions and threads with the core. A command is decoded directly
//! from its dict or object (`fields`). The interpreter is released while the core works. A store
//! written in Python is a store like any other (`python_store`). Abstract classes, exceptions and
//! the SDK's tools are written in Python, in `python/memdir`. Results are dataclasses (`results`).

mod calls;
mod cancel;
mod check;
#[cfg(feature = "program")]
mod cli;
mod context_management;
mod contract;
mod copy;
mod embedder;
mod entry;
mod errors;
mod expiry;
mod fields;
mod fork;
mod guarded;
mod hints;
mod history;
mod hooks;
mod image;
mod interruption;
mod json;
mod logging;
mod memory;
mod moment;
mod namespaces;
mod native_store;
mod opened;
mod opening;
mod options;
mod pending;
mod pool;
mod python_store;
mod read_only;
mod reply;
mod results;
mod shutdown;
mod stores;
mod submit;
mod swap;
mod sync;
mod time;
mod tool;
mod watch;

/// The native half of memdir; import `memdir`.
#[pyo3::pymodule]
mod _memdir {
    #[pymodule_export]
    #[allow(non_upper_case_globals, reason = "Python's name")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
    #[pymodule_export]
    use crate::cancel::Cancellation;
    #[pymodule_export]
    use crate::check::check;
    #[cfg(feature = "program")]
    #[pymodule_export]
    use crate::cli::run_command_line;
    #[pymodule_export]
    use crate::context_management::context_management;
    #[pymodule_export]
    use crate::contract::check_contract;
    #[pymodule_export]
    use crate::copy::copy;
    #[pymodule_export]
    use crate::embedder::takes_is_query;
    #[pymodule_export]
    use crate::fork::{after_fork_in_child, after_fork_in_parent, before_fork};
    #[pymodule_export]
    use crate::hooks::{HookCall, is_coroutine_function, takes_call};
    #[pymodule_export]
    use crate::image::image_type;
    #[pymodule_export]
    use crate::memory::Memory;
    #[pymodule_export]
    use crate::namespaces::namespaces;
    #[pymodule_export]
    use crate::native_store::{NativeStore, listed_time, open_whole};
    #[pymodule_export]
    use crate::opening::{key_from_file, open_store, read_only, rekey};
    #[pymodule_export]
    use crate::options::check_names;
    #[pymodule_export]
    use crate::pending::{PendingCall, begin, begin_command, begin_execute, open_async};
    #[pymodule_export]
    use crate::read_only::ReadOnly;
    #[pymodule_export]
    use crate::shutdown::before_exit;
    #[pymodule_export]
    use crate::submit::{submit, when_idle};
    #[pymodule_export]
    use crate::tool::{
        answer, answer_nowait, answer_search, decode, execute_failed, execute_nowait, fail,
        search_failed, view_nowait,
    };
    #[pymodule_export]
    use crate::watch::{Watch, is_due, wait_seconds};
}

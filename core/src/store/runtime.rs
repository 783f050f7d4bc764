//! The one runtime of all remote stores, started by the first command that needs it.
//!
//! Commands are synchronous, and may come from a thread that is itself part of somebody's runtime;
//! so the work is handed to threads of ours, and the caller waits for the answer.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::StoreError;
use super::per_process::PerProcess;
use crate::cancel::{self, Cancellation};

/// How often work that waits looks whether its caller is still there.
const LOOK: Duration = Duration::from_millis(10);

tokio::task_local! {
    /// Of the call that the work is done for.
    static CALLER: Option<Cancellation>;
}

static RUNTIME: PerProcess<Threads> = PerProcess::new();

/// `None` only while it is dropped: the plain way waits, which some threads must not.
struct Threads(Option<Runtime>);

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Does the work on the runtime and waits for it.
///
/// # Errors
/// [`StoreError::Failed`] if the runtime cannot be started, or the work broke off.
pub(super) fn run<T, W>(work: W) -> Result<T, StoreError>
where
    T: Send + 'static,
    W: Future<Output = Result<T, StoreError>> + Send + 'static,
{
    let runtime = RUNTIME
        .get(|| {
            // Two: they only hand bytes on, and one shall not wait for the other's decryption.
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(2).thread_name("memdir").enable_io().enable_time();
            builder.build().map(|runtime| Threads(Some(runtime)))
        })
        .map_err(|error| {
            StoreError::failed("starting the threads of remote stores", error).unchanged()
        })?;
    let Some(runtime) = &runtime.0 else {
        let ended = StoreError::failed("asking a remote store", "its threads have ended");
        return Err(ended.unchanged());
    };
    let (answer, answered) = mpsc::sync_channel(1);
    runtime.spawn(CALLER.scope(cancel::current(), async move {
        // Whoever asked waits for as long as it takes.
        let _ = answer.send(work.await);
    }));
    answered.recv().unwrap_or_else(|_| {
        Err(StoreError::failed("asking a remote store", "the work broke off without an answer"))
    })
}

/// Waits for `work`, unless the caller goes: then it is dropped. For what changes nothing, or is undone
/// when it is dropped.
///
/// # Errors
/// [`StoreError::Cancelled`], and those of `work`.
#[cfg(feature = "postgres")]
pub(super) async fn unless_cancelled<T, E: From<StoreError>>(
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::select! {
        biased;
        done = work => done,
        () = caller_gone() => Err(StoreError::Cancelled.into()),
    }
}

/// Whether the caller is still there, for work that is about to change something.
///
/// # Errors
/// [`StoreError::Cancelled`] if not.
#[cfg(feature = "object-storage")]
pub(super) fn check() -> Result<(), StoreError> {
    match caller() {
        Some(caller) if caller.is_cancelled() => Err(StoreError::Cancelled),
        _ => Ok(()),
    }
}

fn caller() -> Option<Cancellation> {
    CALLER.try_with(Clone::clone).ok().flatten()
}

/// Waits until the caller has gone; for ever, if that cannot be known.
pub(super) async fn caller_gone() {
    match caller() {
        Some(cancellation) => {
            while !cancellation.is_cancelled() {
                tokio::time::sleep(LOOK).await;
            }
        }
        None => std::future::pending().await,
    }
}

//! The asynchronous runtime of all remote stores. The first command that needs it starts it.
//!
//! Commands are synchronous, and may run on a thread of another runtime. So the work runs on threads of this runtime,
//! and the caller waits for the result.

use std::future::Future;
use std::sync::mpsc;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use super::StoreError;
use crate::cancel::Cancellation;
use crate::per_process::PerProcess;

/// How often waiting work checks for cancellation.
const LOOK: Duration = Duration::from_millis(10);

static RUNTIME: PerProcess<Threads> = PerProcess::new();

/// `None` only during the drop. Dropping a `Runtime` directly waits for its threads, which some threads must not do.
struct Threads(Option<Runtime>);

impl Drop for Threads {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// Runs the work on the runtime and waits for its end. Work that can be cancelled must end early by itself: pass it
/// the cancellation of its call, for [`unless_cancelled`].
///
/// # Errors
/// [`StoreError::Failed`] if the runtime cannot be started, or the work ends without a result.
pub fn run<T, W>(work: W) -> Result<T, StoreError>
where
    T: Send + 'static,
    W: Future<Output = Result<T, StoreError>> + Send + 'static,
{
    let runtime = RUNTIME
        .get(|| {
            // Two threads suffice, because they only transfer bytes. With two, decryption on one does not block the
            // other.
            let mut builder = Builder::new_multi_thread();
            builder.worker_threads(2).thread_name("memdir").enable_io().enable_time();
            builder.build().map(|runtime| Threads(Some(runtime)))
        })
        .map_err(|error| {
            StoreError::failed("starting the threads of remote stores", error).unchanged()
        })?;
    let Some(runtime) = &runtime.0 else {
        let ended = StoreError::failed(
            "calling a remote store",
            "the threads for remote stores have ended",
        );
        return Err(ended.unchanged());
    };
    let (answer, answered) = mpsc::sync_channel(1);
    runtime.spawn(async move {
        // Sending cannot fail, because the caller waits without limit.
        let _ = answer.send(work.await);
    });
    answered.recv().unwrap_or_else(|_| {
        Err(StoreError::failed("calling a remote store", "the call ended without an answer"))
    })
}

/// Waits for `work`, and drops it if the call is cancelled. Use it for work that changes nothing, or that is undone
/// when it is dropped.
///
/// # Errors
/// [`StoreError::Cancelled`], and those of `work`.
pub async fn unless_cancelled<T, E: From<StoreError>>(
    cancellation: &Cancellation,
    work: impl Future<Output = Result<T, E>>,
) -> Result<T, E> {
    tokio::select! {
        biased;
        done = work => done,
        () = cancelled(cancellation) => Err(StoreError::Cancelled.into()),
    }
}

/// Waits until the call is cancelled. Waits forever if it cannot be cancelled.
pub async fn cancelled(cancellation: &Cancellation) {
    if !cancellation.is_possible() {
        std::future::pending::<()>().await;
    }
    while !cancellation.is_cancelled() {
        tokio::time::sleep(LOOK).await;
    }
}

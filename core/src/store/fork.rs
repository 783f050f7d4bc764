//! Functions that a program must call when it forks while its threads use stores.

/// Call this before a fork whose child goes on without `exec`, if other threads use stores. It waits,
/// ten seconds at most, until no other thread is in the middle of a command on an SQLite database. It
/// keeps threads from beginning one until [`after_fork_in_parent`] or [`after_fork_in_child`] is called.
///
/// Without it, a child that was forked in the middle of another thread's command on an SQLite database
/// gets a [`StoreError::Failed`](crate::StoreError::Failed) that says so. The other stores do not need
/// it.
pub fn before_fork() {
    #[cfg(feature = "sqlite")]
    memdir_sqlite::before_fork();
}

/// Call this in the parent after [`before_fork`], also if the fork failed.
pub fn after_fork_in_parent() {
    #[cfg(feature = "sqlite")]
    memdir_sqlite::after_fork_in_parent();
}

/// Call this in the child after [`before_fork`].
pub fn after_fork_in_child() {
    #[cfg(feature = "sqlite")]
    memdir_sqlite::after_fork_in_child();
}

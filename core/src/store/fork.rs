//! Functions that a program must call when it forks while its threads use stores.

/// Prepares for a fork whose child continues without `exec`. Call this before the fork if other threads use
/// stores. It waits up to ten seconds until no other thread is executing a command on an SQLite database. No
/// thread can start such a command until [`after_fork_in_parent`] or [`after_fork_in_child`] is called.
///
/// Without it, a child that was forked during another thread's command on an SQLite database gets a
/// [`StoreError::Failed`](crate::StoreError::Failed) that says so. The other stores do not need it.
pub fn before_fork() {
    #[cfg(feature = "sqlite")]
    memdir_sqlite::before_fork();
}

/// Call this in the parent after [`before_fork`], even if the fork failed.
pub fn after_fork_in_parent() {
    #[cfg(feature = "sqlite")]
    memdir_sqlite::after_fork_in_parent();
}

/// Call this in the child after [`before_fork`].
pub fn after_fork_in_child() {
    #[cfg(feature = "sqlite")]
    memdir_sqlite::after_fork_in_child();
}

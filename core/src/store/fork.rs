//! What a program that forks has to call, for the stores of this process.

/// To be called by a program that forks (and goes on in the child without `exec`) while other
/// threads use stores: waits, ten seconds at most, until none is where a child could not go on from,
/// and keeps others out until [`after_fork_in_parent`] or [`after_fork_in_child`] is called.
///
/// Without it, a child that was forked in the middle of another thread's command on an SQLite
/// database gets a [`StoreError::Failed`](crate::StoreError::Failed) that says so; the other stores do not mind.
pub fn before_fork() {
    #[cfg(feature = "sqlite")]
    super::sqlite::connection::before_fork();
}

/// To be called in the parent after [`before_fork`], also where forking failed.
pub fn after_fork_in_parent() {
    #[cfg(feature = "sqlite")]
    super::sqlite::connection::after_fork_in_parent();
}

/// To be called in the child after [`before_fork`].
pub fn after_fork_in_child() {
    #[cfg(feature = "sqlite")]
    super::sqlite::connection::after_fork_in_child();
}

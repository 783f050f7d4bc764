//! Connections: opens them, and keeps idle ones for the next command, also in a process that forks.
//!
//! SQLite's state (its locks, its list of open files) belongs to the whole process. A forked child inherits an invalid copy,
//! because the operating system's locks stay with the parent. So a child must not use the parent's connections. All stores
//! keep their idle connections in one place, and the first command in a new process drops them there. This only frees memory
//! and descriptors: these connections do not touch the file when they are dropped, unless [`close`] closes them.
//!
//! This is sound only if no other thread was inside SQLite at the moment of the fork; otherwise every command in the child
//! fails. For the same reason only a thread that is counted as inside takes the lock on the idle connections: a child that
//! continues cannot have inherited it locked.

use std::cell::{Cell, RefCell};
use std::fs;
use std::io::ErrorKind;
use std::ops::Deref;
use std::path::Path;
use std::process;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use memdir_store::Cancellation;
use memdir_store::StoreError;
use memdir_store::settings::Durability;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::{Database, SqliteError, schema};

/// The limit of idle connections: about the usual number of concurrent commands.
const KEPT: usize = 16;

/// The connections that no command uses.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());
/// The process that the idle connections and the count below belong to; 0 at the start.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// The number of threads that are inside SQLite or about to enter. In units of [`FORKER`], also the number that are about to
/// fork and keep others from entering. It is one number, so both parts change in one step.
static PRESENT: AtomicU64 = AtomicU64::new(0);
const FORKER: u64 = 1 << 32;
/// The number of the next connection.
static NUMBERS: AtomicU64 = AtomicU64::new(0);
/// Locked while a forked process takes over from its parent.
static TAKING_OVER: Mutex<()> = Mutex::new(());

struct Idle {
    database: Database,
    file: FileId,
    connection: Connection,
    /// Unique among the connections of this process.
    number: u64,
    /// Whether it was opened on the assumption that no process writes the file.
    frozen: bool,
}

/// A connection for one command. Dropping it returns it to the idle ones, and rolls back uncommitted changes.
pub(super) struct Lease {
    /// `None` only during the drop.
    idle: Option<Idle>,
    inside: Inside,
}

impl Lease {
    /// A connection to `database`, which must exist.
    pub(super) fn take(database: &Database) -> Result<Self, SqliteError> {
        let inside = Inside::enter()?;
        // If another file has replaced the opened one, it is another database.
        let file = FileId::of(&database.path)?;
        while let Some(idle) = take_idle(database) {
            if idle.file == file {
                return Ok(Self { idle: Some(idle), inside });
            }
        }
        let (connection, frozen) = connect(database)?;
        let number = NUMBERS.fetch_add(1, SeqCst);
        let idle = Idle { database: database.clone(), file, connection, number, frozen };
        Ok(Self { idle: Some(idle), inside })
    }

    /// The unique number of this connection; `None` if the connection is not used again.
    pub(super) fn number(&self) -> Option<u64> {
        self.idle.as_ref().filter(|idle| !idle.frozen).map(|idle| idle.number)
    }

    /// Whether this process may use it: a forked child may not.
    pub(super) fn is_ours(&self) -> bool {
        self.inside.process == process::id()
    }
}

impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        match &self.idle {
            Some(idle) => &idle.connection,
            None => unreachable!("a lease is not used while it is dropped"),
        }
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(idle) = self.idle.take() else { return };
        if !self.is_ours() {
            // It belongs to the parent, so it must not even be closed.
            std::mem::forget(idle);
            return;
        }
        if !idle.connection.is_autocommit() {
            let _ = idle.connection.execute_batch("ROLLBACK");
        }
        // Drop a connection that cannot leave its transaction, or that would not notice later writes.
        if idle.connection.is_autocommit() && !idle.frozen {
            let mut kept = all_idle();
            if kept.len() < KEPT {
                kept.push(idle);
            } else {
                drop(kept);
                close(idle.connection);
            }
        }
    }
}

/// Closes the idle connections to `database`.
pub(super) fn forget(database: &Database) {
    if OWNER.load(SeqCst) != process::id() {
        return;
    }
    let Ok(_inside) = Inside::enter() else { return };
    while let Some(idle) = take_idle(database) {
        close(idle.connection);
    }
}

/// The idle connections. Only for a thread that is inside.
fn all_idle() -> MutexGuard<'static, Vec<Idle>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take_idle(database: &Database) -> Option<Idle> {
    let mut kept = all_idle();
    let found = kept.iter().rposition(|idle| idle.database == *database)?;
    Some(kept.swap_remove(found))
}

/// Closes a connection. Closing the last one to a database leaves a single file, without a write-ahead log.
fn close(connection: Connection) {
    // If this fails, the log stays, and the next program that opens the database reads it.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
    drop(connection);
}

/// Marks a thread as inside SQLite.
struct Inside {
    process: u32,
}

impl Inside {
    fn enter() -> Result<Self, StoreError> {
        let process = process::id();
        if OWNER.load(SeqCst) != process {
            take_over(process)?;
        }
        // A thread that is kept out for too long enters nevertheless. A child forked meanwhile then returns errors.
        let enter = |present: u64| (present < FORKER).then_some(present + 1);
        if !wait_until(|| PRESENT.fetch_update(SeqCst, SeqCst, enter).is_ok()) {
            PRESENT.fetch_add(1, SeqCst);
        }
        Ok(Self { process })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // In a child the count is still that of the parent at the moment of the fork.
        if self.process == process::id() {
            PRESENT.fetch_sub(1, SeqCst);
        }
    }
}

/// Waits until no thread is inside, and keeps others out, so the child will be able to use SQLite.
pub fn before_fork() {
    PRESENT.fetch_add(FORKER, SeqCst);
    // In a child that cannot use SQLite, the count is that of the parent and never decreases.
    if OWNER.load(SeqCst) == process::id() {
        wait_until(|| PRESENT.load(SeqCst).is_multiple_of(FORKER));
    }
}

/// Lets other threads continue in the parent of a fork.
pub fn after_fork_in_parent() {
    PRESENT.fetch_sub(FORKER, SeqCst);
}

/// Lets the child of a fork continue.
pub fn after_fork_in_child() {
    // Of all threads that were about to fork, the child has only this one.
    PRESENT.fetch_and(FORKER - 1, SeqCst);
}

/// Waits until `ready` returns true, at most ten seconds, and returns whether it did. The wait is limited, because the other
/// threads may be waiting for this one.
fn wait_until(mut ready: impl FnMut() -> bool) -> bool {
    for _ in 0..20_000 {
        if ready() {
            return true;
        }
        thread::sleep(Duration::from_micros(500));
    }
    false
}

/// Makes `process` the owner. If it was forked, drops the inherited connections.
fn take_over(process: u32) -> Result<(), StoreError> {
    let refused = || {
        StoreError::failed(
            "using SQLite in a forked process",
            "the process was forked while another of its threads was using SQLite: fork before \
             threads use the memory, or start processes by \"spawn\" and not by \"fork\"",
        )
    };
    for _ in 0..5000 {
        let Ok(_turn) = TAKING_OVER.try_lock() else {
            thread::sleep(Duration::from_millis(1));
            continue;
        };
        let owner = OWNER.load(SeqCst);
        if owner == process {
            return Ok(());
        }
        if owner != 0 {
            if !PRESENT.load(SeqCst).is_multiple_of(FORKER) {
                return Err(refused());
            }
            all_idle().clear();
        }
        OWNER.store(process, SeqCst);
        return Ok(());
    }
    Err(refused())
}

/// The identity of a file, independent of its name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    fn of(path: &Path) -> Result<Self, StoreError> {
        let failed =
            |problem: String| StoreError::failed(format!("opening {}", path.display()), problem);
        let found = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
        // Opening a FIFO would wait for a process at its other end.
        if !found.is_file() {
            let what = if found.is_dir() { "it is a directory" } else { "it is not a plain file" };
            return Err(failed(format!("{what} and no SQLite database")));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(Self(found.dev(), found.ino()))
        }
        // On other systems an open file cannot be replaced.
        #[cfg(not(unix))]
        Ok(Self(0, 0))
    }
}

/// Opens a connection, checks that the database belongs to memdir, and upgrades it. Also returns whether it was opened on
/// the assumption that no process writes the file.
fn connect(database: &Database) -> Result<(Connection, bool), SqliteError> {
    let mut attempt = 0;
    loop {
        match try_to_connect(database) {
            // Enabling the log of a new database fails immediately if another process is doing it.
            Err(SqliteError::Engine(error))
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait(attempt) =>
            {
                attempt += 1;
            }
            // Even a reader needs the files beside the database, which neither exist here nor can be created.
            Err(SqliteError::Engine(error))
                if matches!(
                    error.sqlite_error_code(),
                    Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
                ) && is_alone(&database.path) =>
            {
                return Ok((connect_to_frozen(&database.path)?, true));
            }
            result => return Ok((result?, false)),
        }
    }
}

/// Whether all changes are in the database file, without other files beside it.
fn is_alone(path: &Path) -> bool {
    ["-wal", "-journal"].iter().all(|end| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        matches!(fs::metadata(beside), Err(error) if error.kind() == ErrorKind::NotFound)
    })
}

/// Opens a database in a directory where no file can be created. SQLite then checks no lock. No lock can matter, because a
/// writer needs the files beside the database.
fn connect_to_frozen(path: &Path) -> Result<Connection, SqliteError> {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/-_.~".contains(byte);
    let bytes = path.as_os_str().as_encoded_bytes().iter();
    let path: String = bytes
        .map(|byte| if plain(byte) { char::from(*byte).into() } else { format!("%{byte:02X}") })
        .collect();
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_NO_MUTEX
        | OpenFlags::SQLITE_OPEN_URI;
    let db = Connection::open_with_flags(format!("file:{path}?immutable=1"), flags)?;
    distrust(&db)?;
    schema::prepare(&db)?;
    Ok(db)
}

/// Makes SQLite treat the schema of an untrusted database as data only.
fn distrust(db: &Connection) -> Result<(), SqliteError> {
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    Ok(db.pragma_update(None, "cell_size_check", true)?)
}

fn try_to_connect(database: &Database) -> Result<Connection, SqliteError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut db = Connection::open_with_flags(&database.path, flags)?;
    db.busy_handler(Some(wait))?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    distrust(&db)?;
    db.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_FKEY, true)?;
    // Overwrites deleted or replaced content in free pages, so redacting it later needs to change only the history.
    db.pragma_update(None, "secure_delete", true)?;
    match database.durability {
        // Each commit is flushed. The second setting is for Apple's systems, whose fsync does not reach the disk.
        Durability::Full => {
            db.pragma_update(None, "synchronous", "FULL")?;
            db.pragma_update(None, "fullfsync", true)?;
        }
        // Only checkpoints are flushed. A loss of power may lose the newest commits, but does not damage the database, as
        // `OFF` could.
        Durability::Relaxed => db.pragma_update(None, "synchronous", "NORMAL")?,
    }
    schema::prepare(&db)?;
    Ok(db)
}

thread_local! {
    /// The deadline of this thread's command for waiting for other writers, if it has set one. The inner `None` means no
    /// limit.
    static UNTIL: Cell<Option<Option<Instant>>> = const { Cell::new(None) };
}

thread_local! {
    /// The cancellation of the call whose transaction this thread begins. A static is needed, because SQLite calls [`wait`]
    /// as a plain function without context.
    static CANCELLATION: RefCell<Cancellation> = const { RefCell::new(Cancellation::never()) };
}

/// While this lives, this thread's waits for locks of SQLite end when the call is cancelled.
#[must_use]
pub(super) struct Waits(Cancellation);

pub(super) fn waits_for(cancellation: &Cancellation) -> Waits {
    Waits(CANCELLATION.replace(cancellation.clone()))
}

impl Drop for Waits {
    fn drop(&mut self) {
        // The callback that checks for cancellation may have begun a transaction of its own.
        CANCELLATION.set(std::mem::replace(&mut self.0, Cancellation::never()));
    }
}

/// Runs `work`, which waits for other writers at most for `timeout`, or without limit.
pub(super) fn waiting_for<T>(timeout: Option<Duration>, work: impl FnOnce() -> T) -> T {
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    UNTIL.set(Some(until));
    let done = work();
    UNTIL.set(None);
    done
}

/// Sleeps before the next attempt to get a lock. Returns false after the deadline or if the call is cancelled. Outside of
/// changes the limit is about two minutes, which exceeds the duration of any lock.
fn wait(attempt: i32) -> bool {
    let tenths = u64::try_from(attempt.clamp(0, 19)).unwrap_or(19) + 1;
    let mut pause = Duration::from_micros(100 * tenths);
    match UNTIL.get() {
        Some(Some(until)) => {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return false;
            }
            pause = pause.min(left);
        }
        Some(None) => {}
        None if attempt >= 60_000 => return false,
        None => {}
    }
    thread::sleep(pause);
    // Without the borrow, because the callback may use a database itself.
    let cancellation = CANCELLATION.with_borrow(Clone::clone);
    !cancellation.is_cancelled()
}

//! Connections: opens them, and keeps idle ones for the next command, also in a process that forks.
//!
//! SQLite's state (its locks, its list of open files) belongs to the whole process. A forked child
//! inherits a copy that is wrong, because the operating system's locks stay with the parent. So a child
//! must not use the parent's connections. All stores keep their idle connections in one place, and the
//! first command in a new process drops them there. This only frees memory and descriptors: our
//! connections do not touch the file when they are dropped, unless [`close`] closes them. It is sound
//! only if no other thread was inside SQLite at the moment of the fork; otherwise the child refuses to
//! go on. For the same reason only a thread that is counted as inside takes the lock on the idle
//! connections: a child that goes on cannot have inherited it locked.

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

/// The most idle connections to keep: about as many as commands usually run at once.
const KEPT: usize = 16;

/// The connections that no command is using.
static IDLE: Mutex<Vec<Idle>> = Mutex::new(Vec::new());
/// The process that the idle connections and the count below belong to; 0 at the start.
static OWNER: AtomicU32 = AtomicU32::new(0);
/// How many threads are inside SQLite or about to enter, and (in units of [`FORKER`]) how many are about
/// to fork and keep others from entering. It is one number, so both parts change in one step.
static PRESENT: AtomicU64 = AtomicU64::new(0);
const FORKER: u64 = 1 << 32;
/// The number of the next connection.
static NUMBERS: AtomicU64 = AtomicU64::new(0);
/// Held while a forked process takes over from its parent.
static TAKING_OVER: Mutex<()> = Mutex::new(());

struct Idle {
    database: Database,
    file: FileId,
    connection: Connection,
    /// No other connection of this process has the same.
    number: u64,
    /// Whether it was opened on the assumption that nobody writes the file.
    frozen: bool,
}

/// A connection for one command. When it is dropped, it goes back to the idle ones, and uncommitted
/// changes are undone.
pub(super) struct Lease {
    /// `None` only while it is dropped.
    idle: Option<Idle>,
    inside: Inside,
}

impl Lease {
    /// A connection to `database`, which must exist.
    pub(super) fn take(database: &Database) -> Result<Self, SqliteError> {
        let inside = Inside::enter()?;
        // If another file has replaced the one that was opened, it is another database.
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

    /// What tells this connection from all others of this process; `None` if it is not used again.
    pub(super) fn number(&self) -> Option<u64> {
        self.idle.as_ref().filter(|idle| !idle.frozen).map(|idle| idle.number)
    }

    /// Whether this process may still use it: a forked child may not.
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
        // Not one that cannot leave its transaction, nor one that would not notice later writes.
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

/// The idle connections, for a thread that is inside.
fn all_idle() -> MutexGuard<'static, Vec<Idle>> {
    IDLE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn take_idle(database: &Database) -> Option<Idle> {
    let mut kept = all_idle();
    let found = kept.iter().rposition(|idle| idle.database == *database)?;
    Some(kept.swap_remove(found))
}

/// Closes a connection; the last one to a database leaves one file, without a write-ahead log.
fn close(connection: Connection) {
    // If this fails, the log stays, and the next program that opens the database reads it.
    let _ = connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false);
    drop(connection);
}

/// The presence of a thread in SQLite.
struct Inside {
    process: u32,
}

impl Inside {
    fn enter() -> Result<Self, StoreError> {
        let process = process::id();
        if OWNER.load(SeqCst) != process {
            take_over(process)?;
        }
        // A thread that is kept out for too long enters all the same, and the child refuses to go on.
        let enter = |present: u64| (present < FORKER).then_some(present + 1);
        if !wait_until(|| PRESENT.fetch_update(SeqCst, SeqCst, enter).is_ok()) {
            PRESENT.fetch_add(1, SeqCst);
        }
        Ok(Self { process })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        // In a child the count stays that of the parent at the moment of the fork.
        if self.process == process::id() {
            PRESENT.fetch_sub(1, SeqCst);
        }
    }
}

/// Waits until no thread is inside and keeps others out, so that a child will be able to go on.
pub fn before_fork() {
    PRESENT.fetch_add(FORKER, SeqCst);
    // In a child that refuses to go on, the count is that of the parent and never falls.
    if OWNER.load(SeqCst) == process::id() {
        wait_until(|| PRESENT.load(SeqCst).is_multiple_of(FORKER));
    }
}

/// Lets other threads go on in the parent of a fork.
pub fn after_fork_in_parent() {
    PRESENT.fetch_sub(FORKER, SeqCst);
}

/// Lets the child of a fork go on.
pub fn after_fork_in_child() {
    // Of all threads that were about to fork, the child has only this one.
    PRESENT.fetch_and(FORKER - 1, SeqCst);
}

/// Waits until `ready` returns true, ten seconds at most, and returns whether it did. The wait is
/// bounded, because the others may be waiting for this very thread.
fn wait_until(mut ready: impl FnMut() -> bool) -> bool {
    for _ in 0..20_000 {
        if ready() {
            return true;
        }
        thread::sleep(Duration::from_micros(500));
    }
    false
}

/// Makes `process` the owner: drops the connections that it inherited, if it was forked.
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

/// The identity of a file, whatever its name.
#[derive(Clone, Copy, PartialEq, Eq)]
struct FileId(u64, u64);

impl FileId {
    fn of(path: &Path) -> Result<Self, StoreError> {
        let failed =
            |problem: String| StoreError::failed(format!("opening {}", path.display()), problem);
        let found = fs::metadata(path).map_err(|error| failed(error.to_string()))?;
        // Opening a FIFO would wait for somebody at its other end.
        if !found.is_file() {
            let what = if found.is_dir() { "it is a directory" } else { "it is not a plain file" };
            return Err(failed(format!("{what} and no SQLite database")));
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            Ok(Self(found.dev(), found.ino()))
        }
        // Elsewhere an open file cannot be replaced.
        #[cfg(not(unix))]
        Ok(Self(0, 0))
    }
}

/// Opens a connection, checks that the database is ours, and brings it up to date. Also returns whether
/// it was opened on the assumption that nobody writes the file.
fn connect(database: &Database) -> Result<(Connection, bool), SqliteError> {
    let mut attempt = 0;
    loop {
        match try_to_connect(database) {
            // Turning on the log of a new database fails at once if another process is doing it.
            Err(SqliteError::Engine(error))
                if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) && wait(attempt) =>
            {
                attempt += 1;
            }
            // Even a reader needs the files beside it, and here they can neither be made nor found.
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

/// Whether all changes are in the database file, with no other files beside it.
fn is_alone(path: &Path) -> bool {
    ["-wal", "-journal"].iter().all(|end| {
        let mut beside = path.as_os_str().to_owned();
        beside.push(end);
        matches!(fs::metadata(beside), Err(error) if error.kind() == ErrorKind::NotFound)
    })
}

/// Opens a database in a directory in which no file can be made. SQLite then checks no lock. Nobody can
/// hold one that matters, because a writer needs the files beside the database.
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
    // What is deleted or replaced does not stay in free pages: what is redacted later is then in the history only.
    db.pragma_update(None, "secure_delete", true)?;
    match database.durability {
        // Each commit is flushed. The second setting is for Apple's systems, whose fsync does not reach
        // the disk.
        Durability::Full => {
            db.pragma_update(None, "synchronous", "FULL")?;
            db.pragma_update(None, "fullfsync", true)?;
        }
        // Only checkpoints are flushed. A loss of power may take the newest commits, but does not damage
        // the database, as OFF could.
        Durability::Relaxed => db.pragma_update(None, "synchronous", "NORMAL")?,
    }
    schema::prepare(&db)?;
    Ok(db)
}

thread_local! {
    /// The deadline of this thread's command for other writers, if it has set one; the inner `None` is
    /// for ever.
    static UNTIL: Cell<Option<Option<Instant>>> = const { Cell::new(None) };
}

thread_local! {
    /// What cancels the call whose transaction this thread begins. SQLite calls [`wait`], which is a plain function, without
    /// anything of the transaction.
    static CANCELLATION: RefCell<Cancellation> = const { RefCell::new(Cancellation::never()) };
}

/// While this lives, this thread waits for locks of SQLite until the call is cancelled.
#[must_use]
pub(super) struct Waits(Cancellation);

pub(super) fn waits_for(cancellation: &Cancellation) -> Waits {
    Waits(CANCELLATION.replace(cancellation.clone()))
}

impl Drop for Waits {
    fn drop(&mut self) {
        // What asks whether a call is cancelled may have begun a transaction of its own.
        CANCELLATION.set(std::mem::replace(&mut self.0, Cancellation::never()));
    }
}

/// Runs `work`, which waits for other writers for `timeout` at most, or for ever.
pub(super) fn waiting_for<T>(timeout: Option<Duration>, work: impl FnOnce() -> T) -> T {
    let until = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    UNTIL.set(Some(until));
    let done = work();
    UNTIL.set(None);
    done
}

/// Sleeps before the next attempt to get a lock. Returns false when the time is over or the call is
/// cancelled. Outside of changes the time is about two minutes; nobody keeps a lock for so long.
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
    // Not under the borrow: what is asked may use a database itself.
    let cancellation = CANCELLATION.with_borrow(Clone::clone);
    !cancellation.is_cancelled()
}

//! A real PostgreSQL server for tests: the one shared by this test run (`tests/servers/run`), or else one that stops
//! when the test program ends, however it ends.
//!
//! If none is installed, the tests that need one print a message and are skipped; in CI they fail.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use tempfile::TempDir;

const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../servers");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../servers/postgres");
/// The exit code of the script if no server is installed.
const MISSING: i32 = 3;
/// The exit code of the script if the installed server is too old for the test.
const TOO_OLD: i32 = 4;

/// A PostgreSQL server, or a pooler in front of one.
pub struct Server {
    /// The directory of its files.
    place: PathBuf,
    /// Without a namespace.
    address: String,
    /// Only for a separate server: its directory, and the process that runs until its input ends.
    _own: Option<(TempDir, Child)>,
}

/// The server that all tests share.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(|| Server::shared().unwrap_or_else(|| Server::start(""))).as_ref()
}

/// Starts a server with a script, and returns its address.
fn started(serve: &mut Command, name: &str) -> Option<(Child, String)> {
    let mut keeper = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut address).unwrap();
    if address.is_empty() {
        let status = keeper.wait().unwrap();
        // Debian's stable release has an older PgBouncer, so CI allows that.
        if status.code() == Some(TOO_OLD) {
            left_out(&format!("{name} is too old"));
            return None;
        }
        assert_eq!(status.code(), Some(MISSING), "the server {name} did not start");
        not_installed(name);
        return None;
    }
    Some((keeper, address.trim().to_owned()))
}

/// Reports skipped tests, which CI does not allow.
fn not_installed(name: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{name} is not installed");
    left_out(&format!("{name} is not installed"));
}

fn left_out(reason: &str) {
    // Not with a macro, whose output is hidden when a test passes.
    let said = format!("==> LEFT OUT: {reason}\n");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

impl Server {
    /// The shared server of this test run, if there is one.
    fn shared() -> Option<Option<Self>> {
        let place = PathBuf::from(std::env::var_os("MEMDIR_TEST_SERVERS")?).join("postgres");
        let Ok(address) = std::fs::read_to_string(place.join("address")) else {
            not_installed("PostgreSQL");
            return Some(None);
        };
        Some(Some(Self { place, address: address.trim().to_owned(), _own: None }))
    }

    /// A separate server, which a test may stop or configure, with additional `settings`, one per line.
    pub fn start(settings: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        // The server's user needs access.
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let place = directory.path().join("server");
        let (keeper, address) = started(
            Command::new(SCRIPT).arg("serve").arg(&place).env("MEMDIR_TEST_POSTGRES", settings),
            "PostgreSQL",
        )?;
        Some(Self { place, address, _own: Some((directory, keeper)) })
    }

    /// A server behind a separate PgBouncer, which shares the server's connections between transactions, and does not
    /// support prepared statements.
    pub fn behind_pooler() -> Option<Self> {
        Self::behind_pooler_with(0)
    }

    /// As [`behind_pooler`](Self::behind_pooler), with PgBouncer's `max_prepared_statements`; 0 for no support.
    pub fn behind_pooler_with(max_prepared_statements: u32) -> Option<Self> {
        let direct = server()?;
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let place = directory.path().join("pooler");
        let mut serve = Command::new(format!("{SERVERS}/pgbouncer"));
        serve.arg("serve").arg(&place).arg(direct.base()).arg(max_prepared_statements.to_string());
        let (keeper, address) = started(&mut serve, "PgBouncer")?;
        Some(Self { place, address, _own: Some((directory, keeper)) })
    }

    /// The directory of the server's files.
    pub fn path(&self) -> &Path {
        &self.place
    }

    /// An address without a namespace and without a `?`.
    pub fn base(&self) -> &str {
        &self.address
    }

    pub fn address(&self, namespace: &str) -> String {
        format!("{}?namespace={namespace}", self.address)
    }

    /// The address of a namespace that no other test uses.
    pub fn fresh(&self) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.address(&format!("fresh-{}-{number}", std::process::id()))
    }

    /// The address of a new database. One left by an earlier run on the same server is dropped.
    pub fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address.replace("/postgres", &format!("/{name}")) + "?"
    }

    /// The server's answer to the superuser.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.run(&["sql"], &[database], sql);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Whether the superuser's SQL succeeded.
    pub fn try_sql(&self, database: &str, sql: &str) -> bool {
        self.run(&["sql"], &[database], sql).status.success()
    }

    pub fn kill(&self) {
        assert!(self.run(&["kill"], &[], "").status.success());
    }

    pub fn stop(&self) {
        assert!(self.run(&["stop"], &[], "").status.success());
    }

    /// After a kill or stop, on the same port.
    pub fn start_again(&self) {
        let output = self.run(&["start"], &[], "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn run(&self, action: &[&str], arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(SCRIPT)
            .args(action)
            .arg(&self.place)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

//! A real PostgreSQL server for tests: the one of the run (`tests/servers/run`), or else one that stops when the test
//! program ends, however it ends.
//!
//! Where none is installed, the tests that need one say so and are left out; in CI they fail.
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
/// What the script answers where no server is installed.
const MISSING: i32 = 3;

/// A PostgreSQL server, or the way to one through a pooler.
pub struct Server {
    /// Where its files are.
    place: PathBuf,
    /// Without a namespace.
    address: String,
    /// If it is a server of our own: its directory, and what runs until its input ends.
    _own: Option<(TempDir, Child)>,
}

/// The server that all tests share.
pub fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(|| Server::shared().unwrap_or_else(|| Server::start(""))).as_ref()
}

/// The server that a script starts, and where it is.
fn started(serve: &mut Command, name: &str) -> Option<(Child, String)> {
    let mut keeper = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut address).unwrap();
    if address.is_empty() {
        let status = keeper.wait().unwrap();
        assert_eq!(status.code(), Some(MISSING), "the server {name} did not start");
        not_installed(name);
        return None;
    }
    Some((keeper, address.trim().to_owned()))
}

/// Says that tests are left out, which CI does not allow.
fn not_installed(name: &str) {
    assert!(std::env::var("CI").as_deref() != Ok("true"), "{name} is not installed");
    // Not by a macro, whose output a test that passes shows nobody.
    let said = format!("==> LEFT OUT: {name} is not installed\n");
    std::io::stderr().write_all(said.as_bytes()).unwrap();
}

impl Server {
    /// The one of the run, if it has one.
    fn shared() -> Option<Option<Self>> {
        let place = PathBuf::from(std::env::var_os("MEMDIR_TEST_SERVERS")?).join("postgres");
        let Ok(address) = std::fs::read_to_string(place.join("address")) else {
            not_installed("PostgreSQL");
            return Some(None);
        };
        Some(Some(Self { place, address: address.trim().to_owned(), _own: None }))
    }

    /// One of one's own, to stop or to configure, with more `settings`, one a line.
    pub fn start(settings: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        // The server's user has to get in.
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let place = directory.path().join("server");
        let (keeper, address) = started(
            Command::new(SCRIPT).arg("serve").arg(&place).env("MEMDIR_TEST_POSTGRES", settings),
            "PostgreSQL",
        )?;
        Some(Self { place, address, _own: Some((directory, keeper)) })
    }

    /// One behind a PgBouncer of its own, which shares the connections of the server among transactions.
    pub fn behind_pooler() -> Option<Self> {
        let direct = server()?;
        let directory = tempfile::tempdir().unwrap();
        std::fs::set_permissions(directory.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let place = directory.path().join("pooler");
        let mut serve = Command::new(format!("{SERVERS}/pgbouncer"));
        serve.arg("serve").arg(&place).arg(direct.base());
        let (keeper, address) = started(&mut serve, "PgBouncer")?;
        Some(Self { place, address, _own: Some((directory, keeper)) })
    }

    /// Where the server's files are.
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

    /// The address of a namespace that nobody else has.
    pub fn fresh(&self) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        self.address(&format!("fresh-{}-{number}", std::process::id()))
    }

    /// The address of a new database. One that an earlier run on the same server left is dropped.
    pub fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address.replace("/postgres", &format!("/{name}")) + "?"
    }

    /// What the server answers to the superuser.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.run(&["sql"], &[database], sql);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Whether the superuser's SQL came to its end.
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

//! A real PostgreSQL server for tests, which stops when the test program ends, however it ends.
//!
//! Where none is installed, the tests that need one say so and are left out; in CI they fail.
#![allow(dead_code, reason = "each test file uses its part")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

const SERVERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/servers");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/servers/postgres");
/// What the script answers where no server is installed.
const MISSING: i32 = 3;

/// A cluster of its own.
pub(crate) struct Server {
    place: tempfile::TempDir,
    /// Without a namespace.
    address: String,
    /// The server runs until this one's input ends.
    _keeper: Child,
}

/// The server of this test program.
pub(crate) fn server() -> Option<&'static Server> {
    static SERVER: OnceLock<Option<Server>> = OnceLock::new();
    SERVER.get_or_init(|| Server::start("")).as_ref()
}

/// The server that a script starts, and where it is.
fn started(serve: &mut Command, name: &str) -> Option<(Child, String)> {
    let mut keeper = serve.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut address = String::new();
    BufReader::new(keeper.stdout.take().unwrap()).read_line(&mut address).unwrap();
    if address.is_empty() {
        let status = keeper.wait().unwrap();
        assert_eq!(status.code(), Some(MISSING), "the server {name} did not start");
        assert!(std::env::var("CI").as_deref() != Ok("true"), "{name} is not installed");
        // Not by a macro, whose output a test that passes shows nobody.
        let said = format!("==> LEFT OUT: {name} is not installed\n");
        std::io::stderr().write_all(said.as_bytes()).unwrap();
        return None;
    }
    Some((keeper, address.trim().to_owned()))
}

impl Server {
    /// A further one, with more `settings`, one a line.
    pub(crate) fn start(settings: &str) -> Option<Self> {
        let place = tempfile::tempdir().unwrap();
        // The server's user has to get in.
        std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let server = place.path().join("server");
        let (keeper, address) = started(
            Command::new(SCRIPT).arg("serve").arg(server).env("MEMDIR_TEST_POSTGRES", settings),
            "PostgreSQL",
        )?;
        Some(Self { place, address, _keeper: keeper })
    }

    /// One behind a PgBouncer of its own, which shares the connections of the server among transactions.
    pub(crate) fn behind_pooler() -> Option<Self> {
        let direct = server()?;
        let place = tempfile::tempdir().unwrap();
        std::fs::set_permissions(place.path(), PermissionsExt::from_mode(0o755)).unwrap();
        let pooler = place.path().join("pooler");
        let mut serve = Command::new(format!("{SERVERS}/pgbouncer"));
        serve.arg("serve").arg(pooler).arg(direct.base());
        let (keeper, address) = started(&mut serve, "PgBouncer")?;
        Some(Self { place, address, _keeper: keeper })
    }

    /// Where the server's files are.
    pub(crate) fn path(&self) -> &Path {
        self.place.path()
    }

    /// An address without a namespace and without a `?`.
    pub(crate) fn base(&self) -> &str {
        &self.address
    }

    pub(crate) fn address(&self, namespace: &str) -> String {
        format!("{}?namespace={namespace}", self.address)
    }

    /// The address of a namespace that nobody else has.
    pub(crate) fn fresh(&self) -> String {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        self.address(&format!("fresh-{}", NEXT.fetch_add(1, Ordering::Relaxed)))
    }

    /// The address of a new database.
    pub(crate) fn database(&self, name: &str) -> String {
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        self.address.replace("/postgres", &format!("/{name}")) + "?"
    }

    /// What the server answers to the superuser.
    pub(crate) fn sql(&self, database: &str, sql: &str) -> String {
        let output = self.run(&["sql"], &[database], sql);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{sql}: {said}");
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    }

    /// Whether the superuser's SQL came to its end.
    pub(crate) fn try_sql(&self, database: &str, sql: &str) -> bool {
        self.run(&["sql"], &[database], sql).status.success()
    }

    pub(crate) fn kill(&self) {
        assert!(self.run(&["kill"], &[], "").status.success());
    }

    pub(crate) fn stop(&self) {
        assert!(self.run(&["stop"], &[], "").status.success());
    }

    /// After a kill or stop, on the same port.
    pub(crate) fn start_again(&self) {
        let output = self.run(&["start"], &[], "");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    fn run(&self, action: &[&str], arguments: &[&str], input: &str) -> Output {
        let mut child = Command::new(SCRIPT)
            .args(action)
            .arg(self.path().join("server"))
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

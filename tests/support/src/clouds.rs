//! Object storage for tests: a real server for each protocol that is installed, and plain requests to
//! it, as another program would send them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a panic is how a test fails")]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Once, OnceLock};
use std::time::Duration;

use memdir_object_storage::ObjectStorage;
use reqwest::{Method, Url};
use tokio::runtime::Runtime;

/// The name of the bucket or container on each server.
pub const BUCKET: &str = "memdir";

/// The account on Azure's server. Its name and key are public.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// A shared access signature, made with the key, which allows the plain requests to do everything.
const SIGNATURE: &str = "sv=2020-12-06&ss=b&srt=sco&sp=rwdlac&se=2199-01-01T00:00:00Z&spr=https,http&\
                         sig=OYe7okbn9HWtaT2g2gT6DxaE8q7tkOAF8bPCw5zX25g%3D";

/// The client for the plain requests.
static CLIENT: LazyLock<(Runtime, reqwest::Client)> = LazyLock::new(|| {
    // Azure's server closes connections that were idle for five seconds. With this limit it never does so while a request is
    // on its way.
    let client = reqwest::Client::builder().no_proxy().pool_idle_timeout(Duration::from_secs(1));
    (Runtime::new().unwrap(), client.build().unwrap())
});

/// No error and no reply may contain one of these.
pub const SECRETS: [&str; 6] =
    ["test-key-id", "test-secret-key", "Signature=", "AWS4", ACCOUNT, "Eby8vdM02"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    S3,
    Azure,
}

/// A server: the one shared by this test run (`tests/servers/run`), or else a separate one for as
/// long as the program runs.
#[derive(Debug)]
pub struct Cloud {
    protocol: Protocol,
    /// Its location: `127.0.0.1:port`.
    pub server: String,
    /// The directory of its files.
    _place: tempfile::TempDir,
}

/// The answer to a plain request.
pub struct Answer {
    pub status: u16,
    /// The version of the object.
    pub tag: String,
    pub body: Vec<u8>,
}

/// The server of S3's protocol; `None`, with a message, if it is not installed. In CI that is a failure.
pub fn s3() -> Option<&'static Cloud> {
    static SERVER: OnceLock<Option<Cloud>> = OnceLock::new();
    SERVER.get_or_init(|| Cloud::start(Protocol::S3)).as_ref()
}

/// The server of Azure's protocol, likewise.
pub fn azure() -> Option<&'static Cloud> {
    static SERVER: OnceLock<Option<Cloud>> = OnceLock::new();
    SERVER.get_or_init(|| Cloud::start(Protocol::Azure)).as_ref()
}

/// All installed servers.
pub fn all() -> impl Iterator<Item = &'static Cloud> {
    [s3(), azure()].into_iter().flatten()
}

/// A prefix that no other test uses.
pub fn prefix() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    format!("test/{}-{number}", std::process::id())
}

#[allow(unsafe_code, reason = "the keys come from the environment, as everywhere")]
fn set_keys() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        for (name, value) in [
            ("AWS_ACCESS_KEY_ID", "test-key-id"),
            ("AWS_SECRET_ACCESS_KEY", "test-secret-key"),
            ("AZURE_STORAGE_ACCOUNT_NAME", ACCOUNT),
            ("AZURE_STORAGE_ACCOUNT_KEY", ACCOUNT_KEY),
            // Reading them for each of many stores would take most of the tests' time.
            ("AWS_DISABLE_SYSTEM_CERTIFICATES", "true"),
            ("AZURE_DISABLE_SYSTEM_CERTIFICATES", "true"),
        ] {
            // SAFETY: every test of these programs does this first, and the others wait for it.
            unsafe { std::env::set_var(name, value) };
        }
    });
}

impl Cloud {
    fn start(protocol: Protocol) -> Option<Self> {
        set_keys();
        let name = match protocol {
            Protocol::S3 => "s3",
            Protocol::Azure => "azure",
        };
        let place = tempfile::tempdir().unwrap();
        let endpoint = if let Some(shared) = std::env::var_os("MEMDIR_TEST_SERVERS") {
            std::fs::read_to_string(PathBuf::from(shared).join(name).join("address")).ok()
        } else {
            Self::started(name, place.path())
        };
        let Some(endpoint) = endpoint else {
            assert!(
                std::env::var("CI").is_err(),
                "the {name} server is not installed: make servers"
            );
            // Bypasses the capture of a test's output.
            let _ = writeln!(std::io::stderr(), "==> LEFT OUT: {name} storage: make servers");
            return None;
        };
        let server = endpoint.trim().trim_start_matches("http://").to_owned();
        let cloud = Self { protocol, server, _place: place };
        if protocol == Protocol::Azure {
            // 409: another program that shares the server has created it.
            let made = cloud.request(Method::PUT, "", "restype=container", &[], b"").status;
            assert!([201, 409].contains(&made), "{made}");
        }
        Some(cloud)
    }

    /// The endpoint of a separate server; `None` if it is not installed.
    fn started(name: &str, place: &Path) -> Option<String> {
        let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../servers").join(name);
        let started = Command::new(script).arg("start").arg(place).output().unwrap();
        if started.status.code() == Some(3) {
            return None;
        }
        assert!(started.status.success(), "{}", String::from_utf8_lossy(&started.stderr));
        Some(String::from_utf8(started.stdout).unwrap())
    }

    pub fn is_azure(&self) -> bool {
        self.protocol == Protocol::Azure
    }

    /// A number of repetitions: Azure's server takes five times as long as the one of S3's protocol.
    pub fn few(&self, s3: usize, azure: usize) -> usize {
        if self.is_azure() { azure } else { s3 }
    }

    /// The address of a memory, through `host`, which may be a proxy.
    pub fn address_at(&self, host: &str, bucket: &str, prefix: &str) -> String {
        match self.protocol {
            Protocol::S3 => format!(
                "s3://{bucket}/{prefix}?endpoint=http://{host}&region=us-east-1&allow_http=true"
            ),
            Protocol::Azure => {
                format!("az://{bucket}/{prefix}?endpoint=http://{host}/{ACCOUNT}&allow_http=true")
            }
        }
    }

    pub fn address(&self, prefix: &str) -> String {
        self.address_at(&self.server, BUCKET, prefix)
    }

    /// An address on the server that no other test uses.
    pub fn fresh(&self) -> String {
        self.address(&prefix())
    }

    pub fn open(&self, prefix: &str) -> ObjectStorage {
        ObjectStorage::open(&self.address(prefix)).unwrap()
    }

    /// A store, through `host`.
    pub fn open_at(&self, host: &str, prefix: &str) -> ObjectStorage {
        ObjectStorage::open(&self.address_at(host, BUCKET, prefix)).unwrap()
    }

    /// Whether an object was written.
    pub fn put(&self, key: &str, headers: &[(&str, &str)], body: &[u8]) -> bool {
        let blob = [("x-ms-blob-type", "BlockBlob")];
        let own: &[_] = if self.is_azure() { &blob } else { &[] };
        let status = self.request(Method::PUT, key, "", &[own, headers].concat(), body).status;
        // The last three if a condition is not met.
        assert!(matches!(status, 200 | 201 | 404 | 409 | 412), "{status}");
        status < 300
    }

    /// The header of the metadata that memdir writes.
    pub fn metadata(&self) -> &'static str {
        if self.is_azure() { "x-ms-meta-memdir" } else { "x-amz-meta-memdir" }
    }

    pub fn get(&self, key: &str) -> Answer {
        self.request(Method::GET, key, "", &[], b"")
    }

    /// The keys below a prefix, as listed by the server; at most the first thousand.
    pub fn keys(&self, prefix: &str) -> Vec<String> {
        let (query, element) = match self.protocol {
            Protocol::S3 => ("list-type=2", "Key"),
            Protocol::Azure => ("restype=container&comp=list", "Name"),
        };
        let answer = self.request(Method::GET, "", &format!("{query}&prefix={prefix}/"), &[], b"");
        assert_eq!(answer.status, 200);
        let body = String::from_utf8(answer.body).unwrap();
        let (start, end) = (format!("<{element}>"), format!("</{element}>"));
        let keys = body.split(&start).skip(1).map(|key| key.split_once(&end).unwrap().0);
        keys.map(|key| key[prefix.len() + 1..].replace("&#34;", "\"")).collect()
    }

    fn request(
        &self,
        method: Method,
        key: &str,
        query: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let (place, signature) = match self.protocol {
            Protocol::S3 => (BUCKET.to_owned(), String::new()),
            Protocol::Azure => (format!("{ACCOUNT}/{BUCKET}"), format!("&{SIGNATURE}")),
        };
        let mut address = Url::parse(&format!("http://{}/{place}", self.server)).unwrap();
        if !key.is_empty() || !self.is_azure() {
            address.path_segments_mut().unwrap().extend(key.split('/'));
        }
        address.set_query(Some(&format!("{query}{signature}")));
        let (runtime, client) = &*CLIENT;
        // An empty body does not set its length, which servers require.
        let mut request = client.request(method, address).header("Content-Length", body.len());
        request = request.body(body.to_vec());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        runtime.block_on(async {
            let answer = request.send().await.unwrap();
            let tag = answer.headers().get("etag").map(|tag| tag.to_str().unwrap().to_owned());
            let status = answer.status().as_u16();
            Answer {
                status,
                tag: tag.unwrap_or_default(),
                body: answer.bytes().await.unwrap().into(),
            }
        })
    }
}

/// Makes a separate test for each server, or for the named one, from each function, which gets the server.
#[macro_export]
macro_rules! on_servers {
    (all: $($all:ident),+; $(s3: $($s3:ident),+;)? $(azure: $($azure:ident),+;)?) => {
        $crate::on_servers! { @s3 $($all)+ $($($s3)+)? }
        $crate::on_servers! { @azure $($all)+ $($($azure)+)? }
    };
    (@$server:ident $($test:ident)+) => {
        mod $server {
            $(#[test]
            fn $test() {
                if let Some(cloud) = $crate::clouds::$server() {
                    super::$test(cloud);
                }
            })+
        }
    };
}

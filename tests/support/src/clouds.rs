//! Object storage for the tests of a program: a real server of each protocol that can be had, and plain
//! requests to it, as another program would send them.
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

/// The bucket or container that each server has.
pub const BUCKET: &str = "memdir";

/// The account that Azure's server has, whose name and key are public.
const ACCOUNT: &str = "devstoreaccount1";
const ACCOUNT_KEY: &str =
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";

/// What allows everything in it to the plain requests: a shared access signature, made with the key.
const SIGNATURE: &str = "sv=2020-12-06&ss=b&srt=sco&sp=rwdlac&se=2199-01-01T00:00:00Z&spr=https,http&\
                         sig=OYe7okbn9HWtaT2g2gT6DxaE8q7tkOAF8bPCw5zX25g%3D";

/// What sends the plain requests.
static CLIENT: LazyLock<(Runtime, reqwest::Client)> = LazyLock::new(|| {
    // The server of Azure's protocol closes a connection that was idle for five seconds: never when a request is on its way.
    let client = reqwest::Client::builder().no_proxy().pool_idle_timeout(Duration::from_secs(1));
    (Runtime::new().unwrap(), client.build().unwrap())
});

/// No error and no reply may hold one of these.
pub const SECRETS: [&str; 6] =
    ["test-key-id", "test-secret-key", "Signature=", "AWS4", ACCOUNT, "Eby8vdM02"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Protocol {
    S3,
    Azure,
}

/// A server: the one of the run (`tests/servers/run`), or else one for as long as the program runs.
#[derive(Debug)]
pub struct Cloud {
    protocol: Protocol,
    /// Where it is: `127.0.0.1:port`.
    pub server: String,
    /// Where its notes are.
    _place: tempfile::TempDir,
}

/// What a plain request was answered.
pub struct Answer {
    pub status: u16,
    /// Which version of the object it is.
    pub tag: String,
    pub body: Vec<u8>,
}

/// The server of S3's protocol; `None`, said aloud, where it is not installed; in CI that is a failure.
pub fn s3() -> Option<&'static Cloud> {
    static SERVER: OnceLock<Option<Cloud>> = OnceLock::new();
    SERVER.get_or_init(|| Cloud::start(Protocol::S3)).as_ref()
}

/// The server of Azure's protocol, likewise.
pub fn azure() -> Option<&'static Cloud> {
    static SERVER: OnceLock<Option<Cloud>> = OnceLock::new();
    SERVER.get_or_init(|| Cloud::start(Protocol::Azure)).as_ref()
}

/// All that there are.
pub fn all() -> impl Iterator<Item = &'static Cloud> {
    [s3(), azure()].into_iter().flatten()
}

/// A prefix that no other test has.
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
            // SAFETY: the first thing that any test of these programs does, for which all wait.
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
            // Past what keeps a test's words to itself.
            let _ = writeln!(std::io::stderr(), "==> LEFT OUT: {name} storage: make servers");
            return None;
        };
        let server = endpoint.trim().trim_start_matches("http://").to_owned();
        let cloud = Self { protocol, server, _place: place };
        if protocol == Protocol::Azure {
            // 409: another program that shares the server has made it.
            let made = cloud.request(Method::PUT, "", "restype=container", &[], b"").status;
            assert!([201, 409].contains(&made), "{made}");
        }
        Some(cloud)
    }

    /// The endpoint of a server of our own; `None` where it is not installed.
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

    /// How often something is done: Azure's server takes five times as long as the one of S3's protocol.
    pub fn few(&self, s3: usize, azure: usize) -> usize {
        if self.is_azure() { azure } else { s3 }
    }

    /// The address of a memory; on the way through `host`, which may be a proxy.
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

    /// The address of a place on the server that no other test has.
    pub fn fresh(&self) -> String {
        self.address(&prefix())
    }

    pub fn open(&self, prefix: &str) -> ObjectStorage {
        ObjectStorage::open(&self.address(prefix)).unwrap()
    }

    /// On the way through `host`.
    pub fn open_at(&self, host: &str, prefix: &str) -> ObjectStorage {
        ObjectStorage::open(&self.address_at(host, BUCKET, prefix)).unwrap()
    }

    /// Whether an object was written.
    pub fn put(&self, key: &str, headers: &[(&str, &str)], body: &[u8]) -> bool {
        let blob = [("x-ms-blob-type", "BlockBlob")];
        let own: &[_] = if self.is_azure() { &blob } else { &[] };
        let status = self.request(Method::PUT, key, "", &[own, headers].concat(), body).status;
        // The last three where a condition is not met.
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

    /// The keys below a prefix, as the server tells them; at most the first thousand.
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
        // An empty body does not bring its length, and servers ask for it.
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

/// Each test, which gets the server, as a test of its own for each server, or for the one that is named.
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

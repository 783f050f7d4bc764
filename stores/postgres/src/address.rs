//! Parses addresses such as `postgres://user:password@host/database?namespace=user-42`.
//!
//! An error repeats no part of the address, because a password that is not encoded properly may appear
//! anywhere in it.

use std::net::IpAddr;
use std::path::PathBuf;
use std::time::Duration;

use percent_encoding::percent_decode_str;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// The namespace of an address without one.
const DEFAULT_NAMESPACE: &str = "default";
/// The limit of a namespace, in bytes: it is a part of every row's key.
const MAX_NAMESPACE_BYTES: usize = 255;
/// The default number of connections from a process to one server. A server accepts 100 by default, and only
/// one writer of a namespace works at a time.
const POOL_SIZE: usize = 8;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
const STATEMENT_TIMEOUT: Duration = Duration::from_secs(60);

/// The parameters that are passed to the driver unchanged.
const PASSED_ON: &[&str] = &[
    "user",
    "password",
    "dbname",
    "host",
    "hostaddr",
    "port",
    "options",
    "application_name",
    "connect_timeout",
    "tcp_user_timeout",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "target_session_attrs",
    "channel_binding",
    "load_balance_hosts",
    "sslnegotiation",
];
/// The parameters that are parsed here.
const OWN: &[&str] = &[
    "namespace",
    "pool_size",
    "prepared_statements",
    "sslmode",
    "sslrootcert",
    "statement_timeout",
];

/// A parsed address.
pub(super) struct Address {
    pub(super) server: Settings,
    /// The namespace in the address, if any.
    namespace: Option<String>,
    /// The limit of one statement's duration; zero means no limit.
    pub(super) statement_timeout: Duration,
}

/// The settings of a connection. Stores with the same settings share their connections.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Settings {
    pub(super) config: Config,
    /// The file with the trusted certificates, instead of the system's.
    pub(super) root_certificates: Option<PathBuf>,
    pub(super) pool_size: usize,
    pub(super) connect_timeout: Duration,
    pub(super) prepared_statements: PreparedStatements,
}

/// Whether statements are prepared once for each connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum PreparedStatements {
    /// If the connection's session belongs to it alone, or its pooler is known to support them.
    Auto,
    On,
    Off,
}

impl Address {
    /// # Errors
    /// A sentence about the problem, without a part of the address.
    pub(super) fn parse(address: &str) -> Result<Self, String> {
        let (base, query) = address.split_once('?').unwrap_or((address, ""));
        let mut namespace = None;
        let (mut pool_size, mut statement_timeout) = (POOL_SIZE, STATEMENT_TIMEOUT);
        let mut prepared_statements = PreparedStatements::Auto;
        let (mut tls, mut root_certificates) = (None, None);
        let (mut passed_on, mut seen) = (Vec::new(), Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (name, raw) = pair.split_once('=').ok_or("a parameter has no value")?;
            let value = || {
                let decoded = percent_decode_str(raw).decode_utf8();
                decoded.map_err(|_| format!("the value of \"{name}\" is not UTF-8"))
            };
            // Only one of two values would count. If a program inserts untrusted text into an address, that
            // text could then override a parameter.
            if seen.contains(&name) {
                return Err(match [OWN, PASSED_ON].concat().contains(&name) {
                    true => format!("it has the parameter \"{name}\" twice"),
                    false => unknown(),
                });
            }
            seen.push(name);
            match name {
                "namespace" => {
                    let named = value()?.into_owned();
                    check_namespace(&named)?;
                    namespace = Some(named);
                }
                "pool_size" => {
                    pool_size = value()?
                        .parse()
                        .ok()
                        .filter(|size| (1..=1000).contains(size))
                        .ok_or("\"pool_size\" must be a number from 1 to 1000")?;
                }
                "prepared_statements" => {
                    prepared_statements = match &*value()? {
                        "auto" => PreparedStatements::Auto,
                        "on" => PreparedStatements::On,
                        "off" => PreparedStatements::Off,
                        _ => return Err("\"prepared_statements\" must be auto, on or off".into()),
                    };
                }
                "statement_timeout" => statement_timeout = duration(&value()?)?,
                "sslmode" => tls = Some(ssl_mode(&value()?)?),
                "sslrootcert" => root_certificates = Some(PathBuf::from(value()?.into_owned())),
                // The driver searches the whole address for the `@` after the user.
                name if PASSED_ON.contains(&name) => passed_on.push(pair.replace('@', "%40")),
                _ => return Err(unknown()),
            }
        }
        check_not_repeated(base, &seen)?;
        let mut config: Config =
            format!("{base}?{}", passed_on.join("&")).parse().map_err(|error| invalid(&error))?;
        if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
            return Err("it has no host: for a Unix socket, give its directory as \"host\"".into());
        }
        config.ssl_mode(tls.unwrap_or_else(|| default_tls(&config)));
        let connect_timeout = config.get_connect_timeout().copied().unwrap_or(CONNECT_TIMEOUT);
        config.connect_timeout(connect_timeout);
        if config.get_application_name().is_none() {
            config.application_name("memdir");
        }
        // Every other client of PostgreSQL uses this variable, too.
        if let (None, Some(password)) = (config.get_password(), std::env::var_os("PGPASSWORD")) {
            config.password(password.into_encoded_bytes());
        }
        let server =
            Settings { config, root_certificates, pool_size, connect_timeout, prepared_statements };
        Ok(Self { server, namespace, statement_timeout })
    }

    /// Determines the namespace. `option` is the namespace given separately from the address.
    ///
    /// # Errors
    /// A sentence about the problem, without a part of the address or of the option.
    pub(super) fn namespace(&self, option: Option<&str>) -> Result<String, String> {
        match (&self.namespace, option) {
            (Some(_), Some(_)) => {
                Err("both it and the option \"namespace\" say whose memory it is: leave it out of \
                     the address"
                    .to_owned())
            }
            (None, Some(namespace)) => {
                check_namespace(namespace)?;
                Ok(namespace.to_owned())
            }
            (Some(namespace), None) => Ok(namespace.clone()),
            (None, None) => Ok(DEFAULT_NAMESPACE.to_owned()),
        }
    }
}

fn unknown() -> String {
    let mut known = [OWN, PASSED_ON].concat();
    known.sort_unstable();
    format!("it has a parameter that is not known; known are {}", known.join(", "))
}

/// Checks that no parameter repeats a part of the address before the `?`.
fn check_not_repeated(base: &str, parameters: &[&str]) -> Result<(), String> {
    let before: Config = base.parse().map_err(|error| invalid(&error))?;
    let said = [
        ("user", before.get_user().is_some()),
        ("password", before.get_password().is_some()),
        ("dbname", before.get_dbname().is_some()),
        ("host", !before.get_hosts().is_empty()),
        ("port", !before.get_ports().is_empty()),
    ];
    match said.iter().find(|(name, said)| *said && parameters.contains(name)) {
        Some((name, _)) => Err(format!("it says \"{name}\" twice, before the \"?\" and after it")),
        None => Ok(()),
    }
}

fn check_namespace(namespace: &str) -> Result<(), String> {
    if namespace.is_empty() || namespace.len() > MAX_NAMESPACE_BYTES || namespace.contains('\0') {
        return Err(format!(
            "\"namespace\" must have 1 to {MAX_NAMESPACE_BYTES} bytes, and none of them zero"
        ));
    }
    Ok(())
}

/// Contains the name of the parameter, but not its value.
fn invalid(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error);
    cause.map_or_else(|| error.to_string(), ToString::to_string)
}

/// Parses a duration in PostgreSQL's format: a number of milliseconds, or a number with a unit.
fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "ms" => 1,
        "s" => 1000,
        "min" => 60_000,
        _ => 0,
    };
    // The limit of the server.
    let milliseconds = digits.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    match milliseconds {
        Some(milliseconds) if unit > 0 && milliseconds <= 2_147_483_647 => {
            Ok(Duration::from_millis(milliseconds))
        }
        _ => Err("\"statement_timeout\" must be a number of milliseconds, or one such as 30s or \
                  2min; 0 is no limit"
            .to_owned()),
    }
}

/// The certificate is always verified with TLS, so the strictest mode equals `require`.
fn ssl_mode(text: &str) -> Result<SslMode, String> {
    match text {
        "disable" => Ok(SslMode::Disable),
        "prefer" => Ok(SslMode::Prefer),
        "require" | "verify-ca" | "verify-full" => Ok(SslMode::Require),
        _ => Err("\"sslmode\" must be disable, prefer, require, verify-ca or verify-full".into()),
    }
}

/// Without TLS for a connection within this machine. Otherwise TLS is used if the server supports it.
fn default_tls(config: &Config) -> SslMode {
    let local_host = |host: &Host| match host {
        Host::Tcp(name) => {
            name == "localhost" || name.parse().is_ok_and(|ip: IpAddr| ip.is_loopback())
        }
        #[cfg(unix)]
        Host::Unix(_) => true,
    };
    let local = if config.get_hostaddrs().is_empty() {
        config.get_hosts().iter().all(local_host)
    } else {
        config.get_hostaddrs().iter().all(IpAddr::is_loopback)
    };
    if local { SslMode::Disable } else { SslMode::Prefer }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(address: &str) -> Address {
        Address::parse(address).unwrap_or_else(|problem| panic!("{address}: {problem}"))
    }

    fn problem(address: &str) -> String {
        Address::parse(address).err().unwrap_or_else(|| panic!("{address} was taken"))
    }

    #[test]
    fn everything_may_be_percent_encoded() {
        let address = parse(
            "postgres://a%40b:p%3A%2F%3F%23%40%25@db.example:6000/my%20db?namespace=a%26b@c%25",
        );
        let config = &address.server.config;
        assert_eq!(config.get_user(), Some("a@b"));
        assert_eq!(config.get_password(), Some(&b"p:/?#@%"[..]));
        assert_eq!(config.get_dbname(), Some("my db"));
        assert_eq!(config.get_ports(), [6000]);
        assert_eq!(address.namespace(None).unwrap(), "a&b@c%");
    }

    #[test]
    fn what_is_left_out_has_a_default() {
        let address = parse("postgresql://u@db.example/d");
        assert_eq!(address.namespace(None).unwrap(), "default");
        assert_eq!(address.statement_timeout, Duration::from_secs(60));
        assert_eq!(address.server.pool_size, 8);
        assert_eq!(address.server.connect_timeout, Duration::from_secs(10));
        assert_eq!(address.server.prepared_statements, PreparedStatements::Auto);
        assert_eq!(address.server.config.get_application_name(), Some("memdir"));
        let other = parse("postgres://u@h/d?connect_timeout=3&application_name=x@y&pool_size=2");
        assert_eq!(other.server.connect_timeout, Duration::from_secs(3));
        assert_eq!(other.server.config.get_application_name(), Some("x@y"));
        assert_eq!(other.server.pool_size, 2);
    }

    #[test]
    fn stores_of_one_server_differ_in_their_namespace_only() {
        let one = parse("postgres://u:p@h/d?namespace=a&statement_timeout=1s");
        assert!(one.server == parse("postgres://u:p@h/d?namespace=b").server);
        assert!(one.server != parse("postgres://u:q@h/d?namespace=a").server);
        assert!(one.server != parse("postgres://u:p@h/d?prepared_statements=off").server);
        assert!(one.server == parse("postgres://u:p@h/d?prepared_statements=auto").server);
    }

    #[test]
    fn tls_is_for_what_leaves_the_machine() {
        for (address, mode) in [
            ("postgres://h/d", SslMode::Prefer),
            ("postgres://localhost/d", SslMode::Disable),
            ("postgres://127.0.0.1,[::1]/d", SslMode::Disable),
            ("postgres://localhost,h/d", SslMode::Prefer),
            ("postgres://h/d?hostaddr=10.0.0.1", SslMode::Prefer),
            ("postgres://localhost/d?sslmode=verify-full", SslMode::Require),
            ("postgres://h/d?sslmode=require", SslMode::Require),
            ("postgres://h/d?sslmode=disable", SslMode::Disable),
        ] {
            assert_eq!(parse(address).server.config.get_ssl_mode(), mode, "{address}");
        }
        #[cfg(unix)]
        for address in ["postgres://%2Fvar%2Frun/d", "postgres:///d?host=/var/run"] {
            assert_eq!(parse(address).server.config.get_ssl_mode(), SslMode::Disable, "{address}");
        }
    }

    #[test]
    fn times_are_written_as_postgresql_writes_them() {
        for (text, milliseconds) in
            [("0", 0), ("250", 250), ("7ms", 7), ("30s", 30_000), ("2min", 120_000)]
        {
            assert_eq!(duration(text), Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for text in ["", "s", "-1", "1h", "1.5s", "99999999999999999999", "2147483648", "3 s"] {
            assert!(duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_said_without_the_secret() {
        for (address, word) in [
            ("postgres://u:hunter2@h/d?hunter2=1", "not known"),
            ("postgres://u:p?hunter2@h/d", "no value"),
            ("postgres://u:p?hunter2@h/d?a=b", "not known"),
            ("postgres://u:hunter2@h:hunter2/d", "port"),
            ("postgres://u:hunter2@/d", "no host"),
            ("postgres://u:hunter2@h/d?namespace=", "namespace"),
            ("postgres://u:hunter2@h/d?namespace=a%00hunter2", "namespace"),
            ("postgres://u:hunter2@h/d?namespace=%ff", "UTF-8"),
            ("postgres://u:hunter2@h/d?sslmode=hunter2", "sslmode"),
            ("postgres://u:hunter2@h/d?statement_timeout=hunter2", "statement_timeout"),
            ("postgres://u:hunter2@h/d?pool_size=0", "pool_size"),
            ("postgres://u:hunter2@h/d?prepared_statements=hunter2", "auto, on or off"),
            ("postgres://u:hunter2@h/d?connect_timeout=hunter2", "connect_timeout"),
            ("postgres://u:hunter2@h/d?hunter2=1&hunter2=2", "not known"),
        ] {
            let problem = problem(address);
            assert!(problem.contains(word) && !problem.contains("hunter2"), "{address}: {problem}");
        }
        let long = format!("postgres://h/d?namespace={}", "n".repeat(256));
        assert!(problem(&long).contains("255"));
    }

    #[test]
    fn nothing_can_be_said_twice() {
        for name in [OWN, PASSED_ON].concat() {
            for (one, two) in [("1", "2"), ("require", "require"), ("a", "a"), ("%31", "1")] {
                let address = format!("postgres://h/d?{name}={one}&{name}={two}");
                assert!(Address::parse(&address).is_err(), "{address}");
            }
        }
        for (address, name) in [
            ("postgres://h/d?namespace=me&namespace=victim", "namespace"),
            ("postgres://me@h/d?user=you", "user"),
            ("postgres://me:mine@h/d?password=yours", "password"),
            ("postgres://h/d?dbname=e", "dbname"),
            ("postgres://h/d?host=i", "host"),
            ("postgres://h:1/d?port=2", "port"),
        ] {
            let problem = problem(address);
            assert!(problem.contains(&format!("\"{name}\"")), "{address}: {problem}");
            assert!(problem.contains("twice"), "{address}: {problem}");
        }
        // Another spelling or separator does not bypass the check.
        for spelling in ["Namespace=b", "%6eamespace=b", "namespace%3db", ";namespace=b"] {
            assert!(Address::parse(&format!("postgres://h/d?namespace=a&{spelling}")).is_err());
        }
        assert_eq!(parse("postgres:///d?host=/a&user=u").server.config.get_user(), Some("u"));
    }

    #[test]
    fn the_option_is_taken_as_it_is() {
        let plain = parse("postgres://h/d");
        for text in ["me&namespace=victim", "a%20b", "../b", "\u{1}", "A", "a", " ", "#", "?x"] {
            assert_eq!(plain.namespace(Some(text)).unwrap(), text);
        }
        for text in ["", "a\0b", &"n".repeat(256)] {
            assert!(plain.namespace(Some(text)).unwrap_err().contains("namespace"), "{text:?}");
        }
        let named = parse("postgres://h/d?namespace=mine");
        let problem = named.namespace(Some("hunter2")).unwrap_err();
        assert!(problem.contains("both") && !problem.contains("hunter2"), "{problem}");
    }
}

//! Addresses and keys as text: a password is never shown. The target opens nothing, because a path could
//! be that of any file.

use memdir::EncryptionKey;
use memdir::store::redact_address;

use crate::UNIT;

/// The password in an address.
const SECRET: &str = "S3cr3tWord";

/// The input is an address, or the units of one: scheme, user, the parts of the password before and after the
/// secret, host, path and parameters.
pub fn addresses(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let shown = redact_address(&text);
    assert!(!shown.contains(char::is_control), "{shown:?}");
    assert!(shown.len() <= 3 * text.len() + 8);
    if let Ok(key) = text.parse::<EncryptionKey>() {
        assert_eq!(format!("{key:?}"), "EncryptionKey(…)");
    }

    let units: Vec<&str> = text.split(UNIT).collect();
    let [scheme, user, before, after, host, path, parameters] = units[..] else { return };
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric());
    // A text outside the password may be shown.
    if scheme.len() < 2 || !plain(scheme) || [scheme, user, host, path].concat().contains(SECRET) {
        return;
    }
    for address in [
        format!("{scheme}://{user}:{before}{SECRET}{after}@{host}{path}?{parameters}"),
        format!("{scheme}://{user}:{before}{SECRET}{after}@{host}{path}"),
        format!("{scheme}://{host}{path}?{parameters}&password={before}{SECRET}{after}"),
        format!("{scheme}:{user}:{before}{SECRET}{after}@{host}"),
        format!("{user}:{before}{SECRET}{after}@{host}"),
        format!("{path}password={before}{SECRET}{after}"),
    ] {
        // After these, an address with neither a user nor a name of a secret is a path.
        let local = ["dir:", "sqlite:", "memory:"].iter().find_map(|it| address.strip_prefix(it));
        if local.is_some_and(|path| !path.contains(':') && !path.contains("password=")) {
            continue;
        }
        let shown = redact_address(&address);
        assert!(!shown.contains(SECRET), "{address:?} is shown as {shown:?}");
    }
}

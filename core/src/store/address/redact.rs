//! Removes secrets from addresses for display.

use super::scheme::scheme;

/// Redacts an address for display: removes user, password and parameters. If it is uncertain which part is a
/// secret, only the scheme is shown.
///
/// ```
/// use memdir::store::redact_address;
///
/// let address = "postgres://user:hunter2@db.example.com/agents?namespace=user-42";
/// assert_eq!(redact_address(address), "postgres://***@db.example.com/agents?***");
/// assert_eq!(redact_address("./memory"), "./memory");
/// ```
#[must_use]
pub fn redact_address(address: &str) -> String {
    const HIDDEN: &str = "***";
    let scheme = scheme(address);
    let rest = address.get(scheme.map_or(0, |scheme| scheme.len() + 1)..).unwrap_or("");
    let shown = match scheme {
        None | Some("dir" | "sqlite" | "memory") if !looks_secret(rest) => address.to_owned(),
        None => HIDDEN.to_owned(),
        Some(scheme) => format!("{scheme}:{}", redacted_place(rest).unwrap_or(HIDDEN.to_owned())),
    };
    shown.chars().map(|c| if c.is_control() { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Redacts the part after the scheme. `None` if it is uncertain where secrets begin and end.
fn redacted_place(rest: &str) -> Option<String> {
    let place = rest.trim_start_matches('/');
    let slashes = &rest[..rest.len() - place.len()];
    let (place, parameters) = match place.find(['?', '#']) {
        Some(end) => (&place[..end], &place[end..]),
        None => (place, ""),
    };
    // A password may contain any character, although it should be encoded. An `@` in a parameter would look
    // like the end of the user.
    if parameters.contains('@')
        || parameters.contains("%40")
        || place.contains("%40")
        || names_secret(place)
    {
        return None;
    }
    let (user, place) = match place.rsplit_once('@') {
        Some((_, place)) => ("***@", place),
        None => ("", place),
    };
    let (host, below) = place.find('/').map_or((place, ""), |end| place.split_at(end));
    let plain = |host: &str| host.chars().all(|c| c.is_ascii_alphanumeric() || "-._".contains(c));
    let host = match host.split_once(':') {
        None if plain(host) => host.to_owned(),
        // Without a user, an apparent port may be a password whose host was left out.
        Some((host, port)) if plain(host) && port.bytes().all(|c| c.is_ascii_digit()) => {
            format!("{host}:{}", if user.is_empty() { "***" } else { port })
        }
        _ => return None,
    };
    if looks_secret(place) {
        return None;
    }
    let parameters = if parameters.is_empty() { "" } else { "?***" };
    Some(format!("{slashes}{user}{host}{below}{parameters}"))
}

/// Returns whether a text that should be a path, or a host and a path, may contain a secret.
fn looks_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let user = text.contains('@') || text.contains("%40");
    (user && (text.contains(':') || text.contains("%3a"))) || names_secret(&text)
}

/// Returns whether a text labels one of its parts as a secret.
fn names_secret(text: &str) -> bool {
    const SECRETS: &[&str] = &[
        "password=",
        "passwd=",
        "pwd=",
        "pass=",
        "secret=",
        "token=",
        "key=",
        "signature=",
        "sig=",
        "credential=",
        "credentials=",
    ];
    let text = text.to_ascii_lowercase().replace("%3d", "=");
    SECRETS.iter().any(|secret| text.contains(secret))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_of_an_address_is_no_secret() {
        for (address, shown) in [
            ("./memory", "./memory"),
            ("/home/me@work/memory", "/home/me@work/memory"),
            ("C:\\memory", "C:\\memory"),
            ("sqlite:agent.db", "sqlite:agent.db"),
            ("memory:", "memory:"),
            ("s3://bucket/agents/42", "s3://bucket/agents/42"),
            ("postgres://db/agents", "postgres://db/agents"),
            ("postgres://db:5432/agents", "postgres://db:***/agents"),
            ("postgres://me:hunter2@db:5432/agents", "postgres://***@db:5432/agents"),
            ("postgres://hunter2@db/agents#x", "postgres://***@db/agents?***"),
            ("postgres://me:hun@ter2@db/agents", "postgres://***@db/agents"),
            ("postgres://me:hun/ter2@db/agents", "postgres://***@db/agents"),
            ("postgres:me:hunter2@db", "postgres:***@db"),
            ("POSTGRES://me:hunter2@[::1]:5432/a", "POSTGRES:***"),
            ("postgres://me:hun?ter2@db/agents", "postgres:***"),
            ("postgres://me:hun#ter2@db/agents", "postgres:***"),
            ("postgres://me:hunter2", "postgres:***"),
            ("postgres://me:123456", "postgres://me:***"),
            ("postgres://me%3Ahunter2%40db/agents", "postgres:***"),
            ("postgres://db/agents?password=hunter2", "postgres://db/agents?***"),
            ("postgres://db/a?options=x@hunter2", "postgres:***"),
            ("s3://bucket/x;secret=hunter2", "s3:***"),
            ("s3://AKIA:hunter2@bucket/x", "s3://***@bucket/x"),
            ("env:postgres://me:hunter2@db", "env:***@db"),
            // Typing errors that turn an address into a path.
            ("postgres//me:hunter2@db", "***"),
            (" postgres://me:hunter2@db", "***"),
            ("//me:hunter2@db", "***"),
            ("host=db user=me password=hunter2", "***"),
            ("sqlite:me:hunter2@db", "sqlite:***@db"),
            ("postgres:host=db password=hu@nter2", "postgres:***"),
            ("dir:x password=hu@nter2", "dir:***"),
            ("dir:x?Password%3Dhunter2", "dir:x?***"),
            ("./mem\u{1b}[2Jory", "./mem\u{fffd}[2Jory"),
        ] {
            assert_eq!(redact_address(address), shown, "{address}");
        }
    }

    proptest::proptest! {
        #![proptest_config(memdir_test_support::effort::cases(200))]
        #[test]
        fn no_part_of_a_password_is_shown(
            parts in proptest::collection::vec("[QXZ]{4,8}", 1..4),
            separators in proptest::collection::vec("[/@:?#%&;= \\\\]{1,2}", 4),
            before in "(postgres|s3|redis):/{0,3}(me)?:|(me)?:|postgres//me:|((postgres|dir):)?x?password=",
            after in "@db[.]example/agents([?]namespace=a)?|@db:5432|@\\[::1\\]/a|@db",
        ) {
            let secret: Vec<String> = parts
                .iter()
                .zip(&separators)
                .map(|(part, separator)| format!("{part}{separator}"))
                .collect();
            let address = format!("{before}{}{}{after}", secret.concat(), parts[0]);
            let shown = redact_address(&address);
            for part in &parts {
                proptest::prop_assert!(!shown.contains(part), "{address}: {shown}");
            }
        }
    }
}

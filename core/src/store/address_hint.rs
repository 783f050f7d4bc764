//! The error for an address with an unknown scheme. It lists the known addresses, and suggests the one that was
//! probably meant.

use crate::text::most_similar;

/// The schemes of store addresses, with an example of each.
const ADDRESSES: [(&str, &str); 8] = [
    ("dir", "dir:./notes"),
    ("sqlite", "sqlite:agent.db"),
    ("postgres", "postgres://…"),
    ("postgresql", "postgres://…"),
    ("s3", "s3://bucket/prefix"),
    ("gs", "gs://bucket/prefix"),
    ("az", "az://container/prefix"),
    ("memory", "memory:"),
];

/// Other common names of the schemes.
const OTHER_NAMES: [(&str, &str); 9] = [
    ("file", "dir"),
    ("sql", "sqlite"),
    ("pg", "postgres"),
    ("psql", "postgres"),
    ("pgsql", "postgres"),
    ("minio", "s3"),
    ("gcs", "gs"),
    ("azure", "az"),
    ("mem", "memory"),
];

/// Returns the sentence about an address that starts with `scheme` and a colon.
pub(super) fn unknown_scheme(scheme: &str) -> String {
    let meant = match meant(scheme) {
        Some(example) => format!("did you mean \"{example}\"? There are "),
        None => "there are ".to_owned(),
    };
    format!(
        "a store address that starts with \"{scheme}:\" is not known to this build of memdir: \
         {meant}directories such as \"./memory\" or \"dir:./notes\", \"sqlite:agent.db\", \
         \"postgres://…\", \"s3://…\", \"gs://…\", \"az://…\", and \"memory:\" for one in this process"
    )
}

/// Returns an example of an address with a scheme that resembles `scheme`.
fn meant(scheme: &str) -> Option<&'static str> {
    let scheme = scheme.to_ascii_lowercase();
    let other = OTHER_NAMES.iter().find(|(name, _)| *name == scheme).map(|(_, known)| *known);
    let known = other.unwrap_or(&scheme);
    let name = most_similar(ADDRESSES.iter().map(|(name, _)| *name), known)?;
    ADDRESSES.iter().find(|(scheme, _)| *scheme == name).map(|(_, example)| *example)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_the_hand_is_told_from_something_else() {
        for (scheme, example) in [
            ("postgre", Some("postgres://…")),
            ("postgress", Some("postgres://…")),
            ("POSTGRES", Some("postgres://…")),
            ("pg", Some("postgres://…")),
            ("sqlite3", Some("sqlite:agent.db")),
            ("Sqlite", Some("sqlite:agent.db")),
            ("sqllite", Some("sqlite:agent.db")),
            ("S3", Some("s3://bucket/prefix")),
            ("gcs", Some("gs://bucket/prefix")),
            ("azure", Some("az://container/prefix")),
            ("file", Some("dir:./notes")),
            ("memroy", Some("memory:")),
            ("redis", None),
            ("mysql", None),
            ("http", None),
            ("s4x", None),
        ] {
            assert_eq!(meant(scheme), example, "{scheme}");
            let sentence = unknown_scheme(scheme);
            for address in ["./memory", "sqlite:", "postgres://", "s3://", "gs://", "az://"] {
                assert!(sentence.contains(address), "{sentence}");
            }
        }
    }
}

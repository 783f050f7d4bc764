//! Distinguishes addresses with a scheme from paths.

/// Returns whether an address is a path without a scheme.
pub(in crate::store) fn is_path(address: &str) -> bool {
    !address.is_empty() && scheme(address).is_none()
}

/// Returns the scheme of an address such as `memory:` or `postgres://…`. A single letter is a drive.
pub(super) fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let plain = scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    (scheme.len() > 1 && plain && scheme.starts_with(|c: char| c.is_ascii_alphabetic()))
        .then_some(scheme)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_are_told_from_paths() {
        assert_eq!(scheme("memory:"), Some("memory"));
        assert_eq!(scheme("postgres://u:p@h/db"), Some("postgres"));
        for path in ["./memory", "/var/memory", "memory", "./a:b", "../x:y"] {
            assert_eq!(scheme(path), None, "{path}");
        }
        for path in [
            r"C:\Users\x",
            "C:/Users/x",
            "c:",
            "C:memory",
            r"\\server\share\memory",
            "//server/share",
            r"\\?\C:\memory",
            r"\\?\UNC\server\share",
            r"\\.\C:\memory",
            r"..\x:y",
        ] {
            assert_eq!(scheme(path), None, "{path}");
        }
        // The rest of the address is the path, even if it looks like a scheme.
        assert_eq!(scheme(r"dir:C:\memory"), Some("dir"));
        assert_eq!(scheme(r"sqlite:\\?\C:\agent.db"), Some("sqlite"));
    }
}

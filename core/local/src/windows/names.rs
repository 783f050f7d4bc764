//! Encodes a name of a [`MemoryPath`](memdir_store::MemoryPath) for Windows, and decodes it.
//!
//! A model may use every name that a path can contain, and a memory can be copied from Linux to Windows and back
//! without loss. Windows forbids some characters, ignores dots and spaces at the end, and treats names such as
//! `aux.txt` as devices. So each such character is replaced by the one that is 0xF000 higher, in Unicode's
//! private area. Other systems that share files with Windows do the same. A character of the original name in
//! this area is written after [`ESCAPE`].

/// Precedes a character that is not encoded.
const ESCAPE: char = '\u{F0FF}';
const PRIVATE: u32 = 0xF000;

/// Names that Windows treats as devices, with any extension.
const DEVICES: [&str; 6] = ["con", "prn", "aux", "nul", "conin$", "conout$"];

/// The name on disk, for the kernel.
pub(super) fn encoded(name: &str) -> Vec<u16> {
    let mut text = String::with_capacity(name.len());
    let last = name.chars().count().saturating_sub(1);
    let device = is_device(name);
    for (at, c) in name.chars().enumerate() {
        let ends = at == last && matches!(c, '.' | ' ');
        if is_private(c) {
            text.push(ESCAPE);
            text.push(c);
        } else if is_forbidden(c) || ends || (device && at == 0) {
            text.push(moved(c));
        } else {
            text.push(c);
        }
    }
    text.encode_utf16().collect()
}

/// The name in a path; `None` if [`encoded`] cannot produce this name.
pub(super) fn decoded(name: &[u16]) -> Option<String> {
    let text = String::from_utf16(name).ok()?;
    let mut decoded = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ESCAPE => decoded.push(chars.next()?),
            c if is_private(c) => decoded.push(char::from_u32(u32::from(c) - PRIVATE)?),
            c => decoded.push(c),
        }
    }
    // Otherwise two files could have the same path.
    (encoded(&decoded) == name).then_some(decoded)
}

fn is_forbidden(c: char) -> bool {
    c < ' ' || matches!(c, '<' | '>' | ':' | '"' | '|' | '?' | '*' | '\\')
}

/// Whether the character is in the range that replaces others.
fn is_private(c: char) -> bool {
    (PRIVATE..=u32::from(ESCAPE)).contains(&u32::from(c))
}

fn moved(c: char) -> char {
    char::from_u32(u32::from(c) + PRIVATE).unwrap_or(c)
}

/// Whether Windows treats the name as a device. The part before the first dot decides, without spaces at its end.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default().trim_end_matches(' ').to_lowercase();
    if DEVICES.contains(&stem.as_str()) {
        return true;
    }
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    numbered.is_some_and(|number| {
        matches!(
            number,
            "0" | "1" | "2" | "3" | "4" | "5" | "6" | "7" | "8" | "9" | "¹" | "²" | "³"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spelled(name: &str) -> String {
        String::from_utf16(&encoded(name)).unwrap()
    }

    #[test]
    fn ordinary_names_stay_as_they_are() {
        for name in [
            "notes.md", "a b", ".hidden", "été", "日本", "console", "com", "com10", "nul-1", "a.b.",
        ] {
            let kept = name.trim_end_matches('.');
            assert!(spelled(name).starts_with(kept), "{name}");
        }
    }

    #[test]
    fn no_name_is_one_that_windows_changes_or_refuses() {
        for name in [
            "con",
            "AUX.txt",
            "nul .tar.gz",
            "COM1",
            "lpt¹.x",
            "a:b",
            "a\\b",
            "x.",
            "x ",
            "a?",
            "\u{1}",
        ] {
            let on_disk = spelled(name);
            assert!(!on_disk.chars().any(is_forbidden), "{name}");
            assert!(!on_disk.ends_with(['.', ' ']) && !is_device(&on_disk), "{name}");
        }
    }

    #[test]
    fn every_name_comes_back() {
        for name in [
            "a",
            "con",
            "x.",
            "x..",
            " ",
            "a:b|c",
            "\u{F03A}",
            "\u{F0FF}x",
            "con\u{F063}on",
            "\u{F0FF}\u{F0FF}",
        ] {
            assert_eq!(decoded(&encoded(name)).as_deref(), Some(name));
        }
    }

    #[test]
    fn what_is_spelled_otherwise_is_no_name() {
        for on_disk in ["\u{F061}", "a\u{F0FF}", "\u{F0FF}a", "con"] {
            assert_eq!(decoded(&on_disk.encode_utf16().collect::<Vec<_>>()), None, "{on_disk}");
        }
        assert_eq!(decoded(&[0xD800]), None);
    }
}

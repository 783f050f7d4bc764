//! Encrypts names with AES-SIV, because a name must always encrypt to the same text, and in lower-case
//! Base32, because some file systems ignore case.

use aes_siv::KeyInit;
use aes_siv::siv::Aes256Siv;
use data_encoding::{BASE32_DNSSEC, Encoding};
use zeroize::Zeroizing;

use memdir_store::path::{MemoryPath, PathError, is_hidden};

pub(super) const KEY: usize = 64;
/// The digits 0-9 and a-v, which every file system distinguishes.
const DIGITS: Encoding = BASE32_DNSSEC;

/// Encrypts and decrypts names with one key.
#[derive(Clone)]
pub(super) struct Names {
    key: Zeroizing<[u8; KEY]>,
}

impl Names {
    pub(super) fn new(key: Zeroizing<[u8; KEY]>) -> Self {
        Self { key }
    }

    pub(super) fn key(&self) -> &[u8; KEY] {
        &self.key
    }

    /// Encrypts a path into a path of the underlying store.
    pub(super) fn encrypt(&self, path: &MemoryPath) -> Result<MemoryPath, PathError> {
        path.names().try_fold(MemoryPath::root(), |directory, name| {
            // Cannot fail for a name: it is short enough, and has only one header.
            let sealed = self.cipher().encrypt([CONTEXT], name.as_bytes());
            let mut written = DIGITS.encode(&sealed.map_err(|_| PathError::NameTooLong)?);
            // A hidden name is hidden in the underlying store as well, so one view of the underlying store
            // suffices for a view of this one.
            if is_hidden(name) {
                written.insert(0, '.');
            }
            directory.join(&written)
        })
    }

    /// Decrypts a name; `None` if this key did not encrypt it.
    pub(super) fn decrypt(&self, written: &str) -> Option<String> {
        let digits = written.strip_prefix('.').unwrap_or(written);
        let sealed = DIGITS.decode(digits.as_bytes()).ok()?;
        let name = String::from_utf8(self.cipher().decrypt([CONTEXT], &sealed).ok()?).ok()?;
        // Each name has one encrypted form only: upper-case letters or an added dot are rejected.
        let same =
            DIGITS.encode(&sealed) == digits && is_hidden(&name) == (digits.len() < written.len());
        same.then_some(name)
    }

    fn cipher(&self) -> Aes256Siv {
        Aes256Siv::new((&*self.key).into())
    }
}

const CONTEXT: &[u8] = b"memdir name";

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Names {
        Names::new(Zeroizing::new(std::array::from_fn(|n| u8::try_from(n).unwrap())))
    }

    fn written(name: &str) -> Result<String, PathError> {
        let path = MemoryPath::root().join(name).unwrap();
        names().encrypt(&path).map(|path| path.relative().to_owned())
    }

    #[test]
    fn names_come_back_and_show_nothing() {
        for name in ["a", "notes.md", ".hidden", "node_modules", "猫 %41", &"n".repeat(142)] {
            let hidden = written(name).unwrap();
            assert_eq!(names().decrypt(&hidden).as_deref(), Some(name));
            assert_eq!(hidden.starts_with('.'), is_hidden(name), "{name}");
            assert_eq!(hidden.to_lowercase(), hidden);
            assert!(name.len() < 3 || !hidden.contains(name));
        }
    }

    #[test]
    fn the_limit_is_where_the_page_says() {
        assert!(written(&"n".repeat(143)).is_ok());
        assert_eq!(written(&"n".repeat(144)), Err(PathError::NameTooLong));
        assert!(written(&format!(".{}", "n".repeat(141))).is_ok());
        assert_eq!(written(&format!(".{}", "n".repeat(142))), Err(PathError::NameTooLong));
    }

    #[test]
    fn no_other_way_of_writing_a_name_is_taken() {
        let hidden = written("notes.md").unwrap();
        let dotted = format!(".{hidden}");
        let mut flipped = hidden.clone().into_bytes();
        flipped[0] = if flipped[0] == b'0' { b'1' } else { b'0' };
        let flipped = String::from_utf8(flipped).unwrap();
        for other in [&*hidden.to_uppercase(), &dotted, &flipped, &hidden[1..], "", ".", "notes.md"]
        {
            assert_eq!(names().decrypt(other), None, "{other}");
        }
        let other = Names::new(Zeroizing::new([9; KEY]));
        assert_eq!(other.decrypt(&hidden), None);
    }
}

//! [`EncryptionKey`], and the derivation of the key that opens a store's record.

use std::fmt;
#[cfg(any(unix, windows))]
use std::path::Path;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use argon2::{Algorithm, Argon2, Params, Version};
use data_encoding::{BASE64, HEXLOWER_PERMISSIVE};
use memdir_store::StoreError;
use memdir_store::error::{ConfigError, Error};
use serde::{Deserialize, Deserializer, Serialize};
use unicode_normalization::UnicodeNormalization;
use zeroize::Zeroizing;

use super::hex;
use super::seal::{self, KEY, Key};

/// The key of an encrypted store: 32 bytes, or a passphrase.
///
/// `Debug` does not show the key, and its memory is overwritten when it is dropped.
///
/// As text (`str::parse`), a key of 32 bytes is `hex:` and 64 digits, or `base64:` and 44 characters. Any other text is a
/// passphrase.
///
/// ```
/// use memdir::EncryptionKey;
///
/// let key = EncryptionKey::from_bytes([7; 32]);
/// assert_eq!(format!("hex:{}", "07".repeat(32)).parse::<EncryptionKey>()?, key);
/// assert!("hex:07".parse::<EncryptionKey>().is_err());
///
/// let phrase: EncryptionKey = "correct horse battery staple".parse()?;
/// assert_eq!(format!("{phrase:?}"), "EncryptionKey(…)");
/// # Ok::<(), memdir::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey(Kind);

#[derive(Clone, PartialEq, Eq)]
enum Kind {
    Bytes(Key),
    Passphrase(Zeroizing<String>),
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey(…)")
    }
}

impl EncryptionKey {
    /// A key of 32 bytes. Generate them with a secure random generator.
    #[must_use]
    pub fn from_bytes(bytes: [u8; KEY]) -> Self {
        Self(Kind::Bytes(Zeroizing::new(bytes)))
    }

    /// As [`from_bytes`](Self::from_bytes), for a slice.
    ///
    /// # Errors
    /// [`Error::Config`] if the slice does not have 32 bytes.
    pub fn from_slice(bytes: &[u8]) -> Result<Self, Error> {
        <[u8; KEY]>::try_from(bytes).map(Self::from_bytes).map_err(|_| {
            let got = bytes.len();
            wrong_key(format!("must have {KEY} bytes, got {got}"))
        })
    }

    /// A passphrase. Argon2id derives the key from it each time a store is opened, which takes 64 MiB of
    /// memory and about a tenth of a second.
    ///
    /// # Errors
    /// [`Error::Config`] if the passphrase is empty.
    pub fn passphrase(phrase: impl Into<String>) -> Result<Self, Error> {
        let phrase = Zeroizing::new(phrase.into());
        if phrase.is_empty() {
            return Err(wrong_key("must not be empty".to_owned()));
        }
        Ok(Self(Kind::Passphrase(phrase)))
    }

    /// The key of 32 bytes in a file. If `path` does not exist, this generates a random key and creates the file with it, readable
    /// only by its owner. The directory must exist. If several threads or processes make the first call at the same time, all get
    /// the same key.
    ///
    /// The file is never overwritten. Do not lose it: without it the memory cannot be read. `~` as the first component of `path`
    /// is the home directory.
    ///
    /// ```
    /// use memdir::EncryptionKey;
    ///
    /// # let directory = tempfile::tempdir().unwrap();
    /// let path = directory.path().join("memory.key");
    /// assert_eq!(EncryptionKey::from_file(&path)?, EncryptionKey::from_file(&path)?);
    /// # Ok::<(), memdir::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Config`] if the file does not have exactly 32 bytes, or cannot be read or created.
    #[cfg(any(unix, windows))]
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, Error> {
        super::key_file::key_in(path.as_ref()).map(|key| Self(Kind::Bytes(key)))
    }

    /// The bytes of the key of [`from_file`](Self::from_file), for a program that passes them on, such as to another language.
    /// They are overwritten when they are dropped.
    ///
    /// # Errors
    /// As [`from_file`](Self::from_file).
    #[cfg(any(unix, windows))]
    pub fn bytes_from_file(path: impl AsRef<Path>) -> Result<Zeroizing<[u8; KEY]>, Error> {
        super::key_file::key_in(path.as_ref())
    }
}

/// The error for an invalid key. It never contains the value.
fn wrong_key(problem: String) -> Error {
    ConfigError::of_option("encryption_key").and(" ").and(problem).into()
}

impl FromStr for EncryptionKey {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (digits, bytes, what) = if let Some(digits) = text.strip_prefix("hex:") {
            (digits, HEXLOWER_PERMISSIVE.decode(digits.as_bytes()).ok(), "64 hexadecimal digits")
        } else if let Some(digits) = text.strip_prefix("base64:") {
            (digits, BASE64.decode(digits.as_bytes()).ok(), "44 characters of Base64")
        } else {
            return Self::passphrase(text);
        };
        let wrong = || {
            let prefix = &text[..text.len() - digits.len()];
            wrong_key(format!("must have {what} after \"{prefix}\""))
        };
        let bytes = Zeroizing::new(bytes.ok_or_else(wrong)?);
        Self::from_slice(&bytes).map_err(|_| wrong())
    }
}

/// How the key for a store's record is derived from the given key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "derivation", rename_all = "lowercase")]
pub(super) enum Derivation {
    /// No derivation: the given key of 32 bytes is used.
    None,
    /// Argon2id of a passphrase. The record is not trusted before its seal is verified, so these limits bound the work that it can
    /// request: the larger recommendation of RFC 9106 uses 2 GiB.
    Argon2id {
        #[serde(deserialize_with = "at_most::<16, _>")]
        lanes: u32,
        #[serde(deserialize_with = "at_most::<{ 2 * 1024 * 1024 }, _>")]
        memory_kib: u32,
        #[serde(deserialize_with = "at_most::<16, _>")]
        passes: u32,
        /// `None` for the unchanged bytes of the passphrase, which the first stores used.
        passphrase: Option<PassphraseForm>,
        #[serde(with = "hex")]
        salt: [u8; 16],
    },
}

/// The normalization of a passphrase before derivation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum PassphraseForm {
    /// Unicode's NFKC.
    Nfkc,
}

fn at_most<'de, const MOST: u32, D: Deserializer<'de>>(from: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(from)?;
    if number > MOST {
        return Err(serde::de::Error::custom("a number is larger than any that memdir writes"));
    }
    Ok(number)
}

impl Derivation {
    /// The derivation for a new record, with the second recommended parameters of RFC 9106.
    pub(super) fn new(key: &EncryptionKey) -> Result<Self, StoreError> {
        Ok(match key.0 {
            Kind::Bytes(_) => Self::None,
            Kind::Passphrase(_) => Self::Argon2id {
                memory_kib: 64 * 1024,
                passes: 3,
                lanes: 4,
                salt: *seal::random()?,
                passphrase: Some(PassphraseForm::Nfkc),
            },
        })
    }
}

/// Derives keys from the given key and caches the last result, so Argon2id runs only once.
#[derive(Debug)]
pub(super) struct KeyDeriver {
    key: EncryptionKey,
    last: Mutex<Option<(Derivation, Derived)>>,
}

/// A key that is hidden in `Debug`.
#[derive(Clone)]
struct Derived(Key);

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Derived(…)")
    }
}

impl KeyDeriver {
    pub(super) fn new(key: &EncryptionKey) -> Self {
        Self { key: key.clone(), last: Mutex::new(None) }
    }

    pub(super) fn key(&self) -> &EncryptionKey {
        &self.key
    }

    /// The key for `derivation`; `None` if the given key is of another kind.
    pub(super) fn derive(&self, derivation: &Derivation) -> Result<Option<Key>, StoreError> {
        let (phrase, memory_kib, passes, lanes, salt, form) = match (&self.key.0, derivation) {
            (Kind::Bytes(key), Derivation::None) => return Ok(Some(key.clone())),
            (
                Kind::Passphrase(phrase),
                Derivation::Argon2id { memory_kib, passes, lanes, salt, passphrase },
            ) => (phrase, *memory_kib, *passes, *lanes, salt, *passphrase),
            _ => return Ok(None),
        };
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((made_by, key)) = &*last
            && made_by == derivation
        {
            return Ok(Some(key.0.clone()));
        }
        let failed = |error| StoreError::failed("making the key of the passphrase", error);
        let params = Params::new(memory_kib, passes, lanes, Some(KEY))
            .map_err(|error| failed(error.to_string()))?;
        let normal = form.map(|PassphraseForm::Nfkc| normal_form(phrase));
        let phrase = normal.as_ref().unwrap_or(phrase);
        let mut key = Key::default();
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(phrase.as_bytes(), salt, &mut *key)
            .map_err(|error| failed(error.to_string()))?;
        *last = Some((derivation.clone(), Derived(key.clone())));
        Ok(Some(key))
    }
}

/// Normalizes a passphrase, independently of the keyboard: `é` is one character on some keyboards and two on others, and a
/// full-width letter equals a plain one.
fn normal_form(phrase: &str) -> Zeroizing<String> {
    // Enough capacity for nearly all passphrases, so the string does not grow and leave copies in freed memory.
    let mut normal = Zeroizing::new(String::with_capacity(phrase.len().saturating_mul(4)));
    normal.extend(phrase.nfkc());
    normal
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_a_key_or_a_passphrase_by_its_beginning() {
        let key = EncryptionKey::from_bytes([0xab; 32]);
        for text in [
            format!("hex:{}", "ab".repeat(32)),
            format!("hex:{}", "AB".repeat(32)),
            format!("base64:{}", BASE64.encode(&[0xab; 32])),
        ] {
            assert_eq!(text.parse::<EncryptionKey>().unwrap(), key, "{text}");
        }
        for wrong in ["", "hex:", "hex:ab", "base64:abcd", "base64:!"] {
            assert!(wrong.parse::<EncryptionKey>().is_err(), "{wrong}");
        }
        let phrase: EncryptionKey = "ab".repeat(32).parse().unwrap();
        assert_eq!(phrase, EncryptionKey::passphrase("ab".repeat(32)).unwrap());
    }

    #[test]
    fn nothing_shows_a_key() {
        let secrets =
            [EncryptionKey::from_bytes([7; 32]), EncryptionKey::passphrase("hunter2").unwrap()];
        for secret in secrets {
            assert_eq!(format!("{secret:?}"), "EncryptionKey(…)");
            let deriver = KeyDeriver::new(&secret);
            let derivation = Derivation::Argon2id {
                memory_kib: 64,
                passes: 1,
                lanes: 1,
                salt: [1; 16],
                passphrase: Some(PassphraseForm::Nfkc),
            };
            deriver.derive(&derivation).unwrap();
            let shown = format!("{deriver:?}");
            assert!(!shown.contains("hunter2") && !shown.contains("7, 7"), "{shown}");
        }
        let error = "hex:hunter2".parse::<EncryptionKey>().unwrap_err();
        assert!(!error.to_string().contains("hunter2"), "{error}");
    }

    /// The test vector of RFC 9106 uses a secret and associated data, which are not used here. The reference implementation's
    /// command line produced this one: `printf password | argon2 somesalt16bytes! -id -v 13 -t 3 -k 64 -p 4 -l 32 -r`.
    #[test]
    fn a_passphrase_gives_the_key_that_it_always_gave() {
        let deriver = KeyDeriver::new(&EncryptionKey::passphrase("password").unwrap());
        let salt = *b"somesalt16bytes!";
        for passphrase in [None, Some(PassphraseForm::Nfkc)] {
            let derivation =
                Derivation::Argon2id { memory_kib: 64, passes: 3, lanes: 4, salt, passphrase };
            let key = deriver.derive(&derivation).unwrap().unwrap();
            assert_eq!(
                data_encoding::HEXLOWER.encode(&*key),
                "a2e8c4f1fdd9ab5587aa92a09112fb045fd8392f53885469ae47674e63e33b4e"
            );
        }
    }

    #[test]
    fn a_passphrase_is_one_key_however_it_is_typed() {
        let key = |phrase: &str, normalized: bool| {
            let (memory_kib, passes, lanes, salt) = (64, 1, 1, [1; 16]);
            let passphrase = normalized.then_some(PassphraseForm::Nfkc);
            let derivation = Derivation::Argon2id { memory_kib, passes, lanes, salt, passphrase };
            KeyDeriver::new(&EncryptionKey::passphrase(phrase).unwrap())
                .derive(&derivation)
                .unwrap()
        };
        for (one, other) in [
            ("caf\u{e9}", "cafe\u{301}"),
            ("\u{c5}", "\u{212b}"),
            ("\u{ac00}", "\u{1100}\u{1161}"),
            ("pass", "\u{ff50}\u{ff41}\u{ff53}\u{ff53}"),
            ("a b", "a\u{a0}b"),
        ] {
            assert!(key(one, true) == key(other, true), "{one}");
            assert!(key(one, false) != key(other, false), "{one}");
        }
        assert!(key("pass", true) != key("Pass", true));
        assert!(key("pass", true) != key(" pass", true));
    }
}

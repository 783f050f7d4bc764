//! Values of the host that Rust's types cannot represent: a text that is not valid Unicode, a duration that is negative or
//! not a number, an invalid time. They cross unchanged and are validated here, because UniFFI's own conversions end the
//! process in Swift and throw an undeclared exception in Kotlin.
//!
//! Keys also cross here. Neither language may print them.

use std::fmt;
use std::time::{Duration, SystemTime};

use memdir::ConfigError;
use memdir::store::micros;
use memdir::value::Value;
use zeroize::Zeroizing;

use crate::error::MemdirError;

/// A text. In Kotlin it may contain an unpaired surrogate; these bytes are then not UTF-8.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct MemdirText(Vec<u8>);

uniffi::custom_type!(MemdirText, Vec<u8>, {
    try_lift: |bytes| Ok(MemdirText(bytes)),
    lower: |text| text.0,
});

impl From<&str> for MemdirText {
    fn from(text: &str) -> Self {
        Self(text.as_bytes().to_vec())
    }
}

impl MemdirText {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As text with replacement characters, for uses that must not fail.
    pub(crate) fn shown(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }

    /// As a field of a command.
    pub(crate) fn field(&self) -> Value<'_> {
        match str::from_utf8(&self.0) {
            Ok(text) => Value::Text(text.into()),
            Err(_) => Value::Other("text that is not valid Unicode".into()),
        }
    }
}

/// A duration in seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemdirDuration(f64);

uniffi::custom_type!(MemdirDuration, f64, {
    try_lift: |seconds| Ok(MemdirDuration(seconds)),
    lower: |duration| duration.0,
});

impl From<Duration> for MemdirDuration {
    fn from(duration: Duration) -> Self {
        Self(duration.as_secs_f64())
    }
}

impl MemdirDuration {
    /// `None` if it is negative, not a number, or too large.
    pub(crate) fn value(self) -> Option<Duration> {
        Duration::try_from_secs_f64(self.0).ok()
    }

    /// The form in error messages.
    pub(crate) fn shown(self) -> Value<'static> {
        Value::Other(format!("{} seconds", self.0).into())
    }
}

/// A time in seconds since 1970. Swift's may be infinite or not a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemdirTime(f64);

uniffi::custom_type!(MemdirTime, f64, {
    try_lift: |seconds| Ok(MemdirTime(seconds)),
    lower: |time| time.0,
});

impl MemdirTime {
    /// The nearest microsecond, because the error of a floating-point number is smaller. A time outside the core's range,
    /// such as Kotlin's `Instant.MIN`, becomes the first or the last time.
    pub(crate) fn argument(self, name: &str) -> Result<SystemTime, MemdirError> {
        let furthest = match self.0 {
            past if past < 0.0 => micros::time(i64::MIN),
            _ => micros::time(i64::MAX),
        };
        let time = micros::time_of_float(self.0 * 1e6);
        time.or(furthest.filter(|_| self.0.is_finite())).ok_or_else(|| {
            let error = ConfigError::of_option(name).and(" must be a time");
            error.got(format_args!("{} seconds since 1970", self.0)).into()
        })
    }
}

/// A key of an encrypted store. The host's language has a class for it that never prints it. Its encoding is one byte for
/// the kind, then either the key's own bytes or a text.
#[derive(Clone, PartialEq, Eq)]
pub struct MemdirKey(Zeroizing<Vec<u8>>);

uniffi::custom_type!(MemdirKey, Vec<u8>, {
    try_lift: |bytes| Ok(MemdirKey(Zeroizing::new(bytes))),
    lower: |key| key.0.to_vec(),
});

impl fmt::Debug for MemdirKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey(…)")
    }
}

impl MemdirKey {
    /// The key of these bytes.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        Self(Zeroizing::new([&[0], bytes].concat()))
    }

    /// The key that a text encodes, or a passphrase.
    #[must_use]
    pub fn of_text(text: &str) -> Self {
        Self(Zeroizing::new([&[1], text.as_bytes()].concat()))
    }

    /// `None` if it is text that is not valid Unicode.
    #[cfg(feature = "encryption")]
    pub(crate) fn value(&self) -> Option<Result<memdir::EncryptionKey, memdir::Error>> {
        match self.0.split_first() {
            Some((1, text)) => str::from_utf8(text).ok().map(str::parse),
            Some((_, bytes)) => Some(memdir::EncryptionKey::from_slice(bytes)),
            None => Some(memdir::EncryptionKey::from_slice(&[])),
        }
    }
}

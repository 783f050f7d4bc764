//! [`Stamp`]: the user metadata of an object.
//!
//! An answer can be lost after the server has carried out the request. So every write has an id, and an
//! object carries the ids of its latest writes. If a command does not know the outcome of its write, it reads
//! the object and looks for its id, which is there even if others have written after it.

use std::fmt;
use std::time::SystemTime;

use memdir_store::micros;
use object_store::{Attribute, AttributeValue, Attributes};

use super::error::ObjectError;

/// The number of writes that an object carries. This takes 1.1 KiB of metadata, of which S3 allows 2 KiB.
const REMEMBERED: usize = 64;

/// The name of the metadata, without a hyphen, which Azure does not allow.
const NAME: &str = "memdir";

/// The id of one write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Id(u64);

impl Id {
    /// A random id from the operating system, so a forked process gets different ones.
    pub(super) fn new() -> Result<Self, ObjectError> {
        getrandom::u64()
            .map(Self)
            .map_err(|error| ObjectError::Broken(format!("there is no randomness: {error}")))
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        u64::from_str_radix(text, 16).ok().map(Self)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// The metadata of an object.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// When the file was last written, in microseconds since 1970.
    pub(super) modified: Option<i64>,
    /// The latest writes, newest first.
    writes: Vec<Id>,
    /// Whether the file was moved away. This object is then a mark that will be removed.
    pub(super) moved: bool,
    /// The version of another object that this is a copy of.
    pub(super) source: Option<String>,
}

impl Stamp {
    /// The stamp of a new file, written now.
    pub(super) fn new(write: Id) -> Self {
        Self {
            modified: Some(micros::of(SystemTime::now())),
            writes: vec![write],
            ..Self::default()
        }
    }

    /// The stamp after another write, now.
    pub(super) fn written(&self, write: Id) -> Self {
        let mut stamp = self.touched(write);
        stamp.modified = Some(micros::of(SystemTime::now()));
        stamp
    }

    /// The stamp after a write of the same content.
    pub(super) fn touched(&self, write: Id) -> Self {
        let mut stamp = self.clone();
        stamp.writes.retain(|earlier| *earlier != write);
        stamp.writes.insert(0, write);
        stamp.writes.truncate(REMEMBERED);
        stamp
    }

    /// The stamp of a mark that replaces a moved file.
    pub(super) fn gone(write: Id) -> Self {
        Self { writes: vec![write], moved: true, ..Self::default() }
    }

    /// The stamp of a note: the access time and the file's latest write.
    pub(super) fn note(micros: i64, write: Option<Id>) -> Self {
        Self { modified: Some(micros), writes: Vec::from_iter(write), ..Self::default() }
    }

    pub(super) fn has(&self, write: Id) -> bool {
        self.writes.contains(&write)
    }

    pub(super) fn newest(&self) -> Option<Id> {
        self.writes.first().copied()
    }

    pub(super) fn attributes(&self) -> Attributes {
        let mut text = String::new();
        if let Some(modified) = self.modified {
            text = format!("m={modified};");
        }
        let writes: Vec<String> = self.writes.iter().map(Id::to_string).collect();
        text += &format!("w={};", writes.join("."));
        if self.moved {
            text += "moved;";
        }
        if let Some(source) = &self.source {
            text += &format!("s={source}");
        }
        Attributes::from_iter([(Attribute::Metadata(NAME.into()), AttributeValue::from(text))])
    }

    /// Empty for an object that another program wrote.
    pub(super) fn of(attributes: &Attributes) -> Self {
        let mut stamp = Self::default();
        let text = attributes.get(&Attribute::Metadata(NAME.into()));
        let mut rest = text.map_or("", |text| text.as_ref());
        while !rest.is_empty() {
            // The source is the last field and may contain any character.
            if let Some(source) = rest.strip_prefix("s=") {
                stamp.source = Some(source.to_owned());
                break;
            }
            let (field, next) = rest.split_once(';').unwrap_or((rest, ""));
            match field.split_once('=') {
                Some(("m", modified)) => stamp.modified = modified.parse().ok(),
                Some(("w", writes)) => {
                    stamp.writes = writes.split('.').filter_map(Id::parse).collect();
                }
                None if field == "moved" => stamp.moved = true,
                _ => {}
            }
            rest = next;
        }
        stamp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_come_back_and_stay_small() {
        let mut stamp = Stamp::default();
        assert_eq!(Stamp::of(&Attributes::new()), stamp);
        for number in 0..100 {
            stamp = stamp.written(Id(u64::MAX - number));
            assert_eq!(stamp.newest(), Some(Id(u64::MAX - number)));
            assert_eq!(Stamp::of(&stamp.attributes()), stamp);
        }
        assert!(stamp.has(Id(u64::MAX - 99)) && stamp.has(Id(u64::MAX - 36)));
        assert!(!stamp.has(Id(u64::MAX - 35)));
        stamp.source = Some("\"0123456789abcdef;0123=456789abcdef-10000\"".to_owned());
        stamp.modified = Some(-1);
        assert_eq!(Stamp::of(&stamp.attributes()), stamp);
        let size: usize = stamp.attributes().iter().map(|(_, value)| value.len()).sum();
        assert!(size < 1300, "{size}");
        let gone = Stamp::gone(Id(7));
        assert_eq!(Stamp::of(&gone.attributes()), gone);
    }
}

//! [`Plain`]: a value of the engine, taken apart, from which a binding constructs a value of its language.
//!
//! Results and events serialize themselves, so a binding knows no individual fields: it constructs a record by its name, a list, a text, a
//! time. The types in each language are generated from the same definitions (`core/generate-results`).

use std::fmt::{self, Display};
use std::time::SystemTime;

use memdir_store::micros;
use memdir_store::time::{SECONDS, TIME};
use serde::ser::{self, Impossible, Serialize, Serializer};

/// A value without its type.
#[derive(Debug, Clone, PartialEq)]
pub enum Plain {
    /// No value.
    Nothing,
    /// A boolean.
    Flag(bool),
    /// A number: a size, a count.
    Count(u64),
    /// A text, which includes paths, ids, and words such as `created`.
    Text(String),
    /// A point in time.
    Time(SystemTime),
    /// A duration in seconds.
    Seconds(f64),
    /// Any other number with a fraction: a score.
    Number(f64),
    /// Values of the same kind.
    List(Vec<Plain>),
    /// The name of a type, and its fields in their order.
    Record(&'static str, Vec<(&'static str, Plain)>),
}

impl Plain {
    /// Takes a value apart. A part of a kind that no result has becomes [`Nothing`](Self::Nothing). A test of each type shows that no
    /// result has such a part.
    #[must_use]
    pub fn of(value: &(impl Serialize + ?Sized)) -> Self {
        value.serialize(Apart).unwrap_or(Self::Nothing)
    }
}

/// A kind of value that no result has.
#[derive(Debug)]
struct Unknown;

impl Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a result has a value of an unknown kind")
    }
}

impl std::error::Error for Unknown {}

impl ser::Error for Unknown {
    fn custom<T: Display>(_: T) -> Self {
        Self
    }
}

/// The serializer that takes values apart.
struct Apart;

/// Methods for kinds of values that no result has.
macro_rules! unknown {
    ($($method:ident($($argument:ty),*) -> $ok:ty;)*) => {
        $(fn $method(self $(, _: $argument)*) -> Result<$ok, Unknown> {
            Err(Unknown)
        })*
    };
}

impl Serializer for Apart {
    type Ok = Plain;
    type Error = Unknown;
    type SerializeSeq = Items;
    type SerializeTuple = Impossible<Plain, Unknown>;
    type SerializeTupleStruct = Impossible<Plain, Unknown>;
    type SerializeTupleVariant = Impossible<Plain, Unknown>;
    type SerializeMap = Impossible<Plain, Unknown>;
    type SerializeStruct = Fields;
    type SerializeStructVariant = Impossible<Plain, Unknown>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<Plain, Unknown> {
        Ok(Plain::Flag(value))
    }

    fn serialize_u64(self, value: u64) -> Result<Plain, Unknown> {
        Ok(Plain::Count(value))
    }

    /// The only numbers with a sign are the microseconds of times.
    fn serialize_i64(self, micros: i64) -> Result<Plain, Unknown> {
        Ok(micros::time(micros).map_or(Plain::Nothing, Plain::Time))
    }

    /// Durations have a name around the number.
    fn serialize_f64(self, number: f64) -> Result<Plain, Unknown> {
        Ok(Plain::Number(number))
    }

    fn serialize_str(self, value: &str) -> Result<Plain, Unknown> {
        Ok(Plain::Text(value.to_owned()))
    }

    fn serialize_none(self) -> Result<Plain, Unknown> {
        Ok(Plain::Nothing)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Plain, Unknown> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<Plain, Unknown> {
        Ok(Plain::Nothing)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        word: &'static str,
    ) -> Result<Plain, Unknown> {
        self.serialize_str(word)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        value: &T,
    ) -> Result<Plain, Unknown> {
        match (name, value.serialize(self)?) {
            (SECONDS, Plain::Number(seconds)) => Ok(Plain::Seconds(seconds)),
            (TIME, time) => Ok(time),
            _ => Err(Unknown),
        }
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Items, Unknown> {
        Ok(Items(Vec::new()))
    }

    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Fields, Unknown> {
        Ok(Fields(name, Vec::with_capacity(len)))
    }

    unknown! {
        serialize_i8(i8) -> Plain;
        serialize_i16(i16) -> Plain;
        serialize_i32(i32) -> Plain;
        serialize_u8(u8) -> Plain;
        serialize_u16(u16) -> Plain;
        serialize_u32(u32) -> Plain;
        serialize_f32(f32) -> Plain;
        serialize_char(char) -> Plain;
        serialize_bytes(&[u8]) -> Plain;
        serialize_unit_struct(&'static str) -> Plain;
        serialize_tuple(usize) -> Self::SerializeTuple;
        serialize_tuple_struct(&'static str, usize) -> Self::SerializeTupleStruct;
        serialize_tuple_variant(&'static str, u32, &'static str, usize) -> Self::SerializeTupleVariant;
        serialize_map(Option<usize>) -> Self::SerializeMap;
        serialize_struct_variant(&'static str, u32, &'static str, usize) -> Self::SerializeStructVariant;
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Plain, Unknown> {
        Err(Unknown)
    }
}

struct Items(Vec<Plain>);

impl ser::SerializeSeq for Items {
    type Ok = Plain;
    type Error = Unknown;

    fn serialize_element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Unknown> {
        self.0.push(value.serialize(Apart)?);
        Ok(())
    }

    fn end(self) -> Result<Plain, Unknown> {
        Ok(Plain::List(self.0))
    }
}

struct Fields(&'static str, Vec<(&'static str, Plain)>);

impl ser::SerializeStruct for Fields {
    type Ok = Plain;
    type Error = Unknown;

    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unknown> {
        self.1.push((name, value.serialize(Apart)?));
        Ok(())
    }

    fn end(self) -> Result<Plain, Unknown> {
        Ok(Plain::Record(self.0, self.1))
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use memdir::store::{Entry, EntryKind};
    use memdir::{Memory, MemoryOptions, MemoryPath};

    use super::*;

    #[test]
    fn a_record_has_its_name_and_its_fields_in_their_order() {
        let path = MemoryPath::parse("/memories/tea.md").unwrap();
        let time = UNIX_EPOCH + Duration::from_micros(1_500_001);
        let entry = Entry::file(path.clone(), 6).modified_at(Some(time));
        let text = |text: &str| Plain::Text(text.to_owned());
        let fields = |size, modified| {
            let path = ("path", text("/memories/tea.md"));
            vec![path, ("size", size), ("modified", modified), ("accessed", Plain::Nothing)]
        };
        let file = Plain::Record("Entry", fields(Plain::Count(6), Plain::Time(time)));
        let directory = Plain::Record("Entry", fields(Plain::Nothing, Plain::Nothing));
        let entries = [entry, Entry::directory(path).of_kind(EntryKind::Directory)];
        assert_eq!(Plain::of(&entries[..]), Plain::List(vec![file, directory]));
    }

    #[test]
    fn times_before_1970_and_words_come_as_they_are() {
        let mut options = MemoryOptions::default();
        options.history = true;
        let memory = Memory::open("memory:", options).unwrap();
        memory.create("/memories/tea.md", "green\n").unwrap();
        let versions = memory.history(&memdir::history::HistoryQuery::default()).unwrap();
        let Plain::List(versions) = Plain::of(&versions) else { panic!() };
        let Plain::Record("Version", fields) = &versions[0] else { panic!() };
        assert!(fields.contains(&("operation", Plain::Text("created".to_owned()))));
        assert!(fields.contains(&("is_current", Plain::Flag(true))));
        assert!(matches!(fields[5], ("time", Plain::Time(_))), "{fields:?}");
    }
}

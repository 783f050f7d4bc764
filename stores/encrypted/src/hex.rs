//! Serializes bytes of the record as hexadecimal digits with serde.

use data_encoding::HEXLOWER;
use serde::{Deserialize, Deserializer, Serializer, de::Error};

pub(super) fn serialize<S: Serializer>(bytes: &impl AsRef<[u8]>, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(&HEXLOWER.encode(bytes.as_ref()))
}

pub(super) fn deserialize<'de, T, D>(from: D) -> Result<T, D::Error>
where
    T: TryFrom<Vec<u8>>,
    D: Deserializer<'de>,
{
    let digits = String::deserialize(from)?;
    let bytes = HEXLOWER.decode(digits.as_bytes()).map_err(Error::custom)?;
    bytes.try_into().map_err(|_| Error::custom("the number of bytes is wrong"))
}

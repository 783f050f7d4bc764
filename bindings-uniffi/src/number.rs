//! Counts and sizes as Kotlin and Swift have them, which count with signed numbers.

pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

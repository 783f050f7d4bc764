//! Counts and sizes for Kotlin and Swift, whose integers are signed.

pub(crate) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}

//! [`with`]: options and queries of memdir, which may get more fields, as one expression.

/// The value with some of its fields set.
pub(crate) fn with<T>(mut value: T, set: impl FnOnce(&mut T)) -> T {
    set(&mut value);
    value
}

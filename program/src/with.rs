//! [`with`]: builds options and queries of memdir, whose types may get more fields, in one expression.

/// The value, changed by `set`.
pub(crate) fn with<T>(mut value: T, set: impl FnOnce(&mut T)) -> T {
    set(&mut value);
    value
}

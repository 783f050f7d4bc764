//! [`SyncSide`] and [`Both`]: the two memories of a sync, and a value for each.

use std::fmt;
use std::ops::{Index, IndexMut};

use serde::Serialize;

/// One of the two memories of a sync.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SyncSide {
    /// The memory that is named first, or whose method was called.
    A,
    /// The memory that is named second, or that was passed.
    B,
}

impl SyncSide {
    /// Both memories.
    pub const ALL: [Self; 2] = [Self::A, Self::B];

    pub(super) fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }

    /// Returns its name in other languages: `a` or `b`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::A => "a",
            Self::B => "b",
        }
    }
}

impl fmt::Display for SyncSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A value for each of both memories.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Both<T> {
    pub(super) a: T,
    pub(super) b: T,
}

impl<T> Both<T> {
    pub(super) fn new(mut of: impl FnMut(SyncSide) -> T) -> Self {
        Self { a: of(SyncSide::A), b: of(SyncSide::B) }
    }

    /// # Errors
    /// Those of `of`.
    pub(super) fn try_new<E>(mut of: impl FnMut(SyncSide) -> Result<T, E>) -> Result<Self, E> {
        Ok(Self { a: of(SyncSide::A)?, b: of(SyncSide::B)? })
    }
}

impl<T> Index<SyncSide> for Both<T> {
    type Output = T;

    fn index(&self, side: SyncSide) -> &T {
        match side {
            SyncSide::A => &self.a,
            SyncSide::B => &self.b,
        }
    }
}

impl<T> IndexMut<SyncSide> for Both<T> {
    fn index_mut(&mut self, side: SyncSide) -> &mut T {
        match side {
            SyncSide::A => &mut self.a,
            SyncSide::B => &mut self.b,
        }
    }
}

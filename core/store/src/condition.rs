//! [`Condition`]: the callback that decides by a file's content whether the file is deleted or moved.

/// Gets a file's content and returns whether it meets the condition.
pub type Condition<'c> = dyn FnMut(&[u8]) -> bool + 'c;

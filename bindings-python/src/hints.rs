//! The types in the generated stubs that pyo3 cannot name: classes that are declared in Python, and
//! values that are passed through unchanged.

use std::marker::PhantomData;

use pyo3::inspect::{PyStaticConstant, PyStaticExpr};
use pyo3::prelude::*;
use pyo3::{Borrowed, type_hint_identifier, type_hint_subscript, type_hint_union};

/// The type of a value, as a stub writes it.
pub(crate) trait Hint {
    const HINT: PyStaticExpr;
}

/// A Python value whose type in the stub is `H`.
pub(crate) struct Hinted<'py, H>(Bound<'py, PyAny>, PhantomData<H>);

impl<'py, H> Hinted<'py, H> {
    pub(crate) fn new(value: Bound<'py, PyAny>) -> Self {
        Self(value, PhantomData)
    }

    pub(crate) fn into_inner(self) -> Bound<'py, PyAny> {
        self.0
    }
}

impl<'py, H: Hint> FromPyObject<'_, 'py> for Hinted<'py, H> {
    type Error = PyErr;

    const INPUT_TYPE: PyStaticExpr = H::HINT;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self::new(value.to_owned()))
    }
}

impl<'py, H: Hint> IntoPyObject<'py> for Hinted<'py, H> {
    type Target = PyAny;
    type Output = Bound<'py, PyAny>;
    type Error = PyErr;

    const OUTPUT_TYPE: PyStaticExpr = H::HINT;

    fn into_pyobject(self, _: Python<'py>) -> PyResult<Self::Output> {
        Ok(self.0)
    }
}

/// Declares a [`Hint`]. A hint for a class of ours is declared beside that class.
macro_rules! hint {
    ($(#[$doc:meta])* $name:ident = $hint:expr) => {
        $(#[$doc])*
        pub(crate) enum $name {}

        impl $crate::hints::Hint for $name {
            const HINT: pyo3::inspect::PyStaticExpr = $hint;
        }
    };
}

pub(crate) use hint;

const BYTES: PyStaticExpr = type_hint_identifier!("builtins", "bytes");
pub(crate) const OBJECT: PyStaticExpr = type_hint_identifier!("builtins", "object");
pub(crate) const STR: PyStaticExpr = type_hint_identifier!("builtins", "str");
pub(crate) const NONE: PyStaticExpr = PyStaticExpr::Constant { value: PyStaticConstant::None };
const ENTRY: PyStaticExpr = <memdir::store::Entry as Hint>::HINT;

const fn word(value: &'static str) -> PyStaticExpr {
    PyStaticExpr::Constant { value: PyStaticConstant::Str(value) }
}

hint!(
    /// `memdir.Store`.
    Store = type_hint_identifier!("memdir._store", "Store")
);
hint!(
    /// `memdir.Reply`.
    Reply = type_hint_identifier!("memdir._reply", "Reply")
);
hint!(
    /// The address of a store.
    Address = type_hint_union!(STR, type_hint_subscript!(type_hint_identifier!("os", "PathLike"), STR))
);
hint!(
    /// The words of the option `durability`.
    Durability = type_hint_subscript!(
        type_hint_identifier!("typing", "Literal"),
        word("full"),
        word("relaxed")
    )
);
hint!(
    /// The dialects of `tool_definition`.
    Dialect = type_hint_subscript!(
        type_hint_identifier!("typing", "Literal"),
        word("json-schema"),
        word("openai"),
        word("openai-chat"),
        word("anthropic-custom"),
        word("gemini")
    )
);
hint!(
    /// A sequence of texts.
    Texts = type_hint_subscript!(type_hint_identifier!("collections.abc", "Sequence"), STR)
);
hint!(
    /// The content of a file.
    Bytes = BYTES
);
hint!(
    /// `True` or `False`.
    Flag = type_hint_identifier!("builtins", "bool")
);
hint!(
    /// An integer.
    Count = type_hint_identifier!("typing", "SupportsIndex")
);
hint!(
    /// An integer, or `None`.
    Limit = type_hint_union!(type_hint_identifier!("typing", "SupportsIndex"), NONE)
);
hint!(
    /// A number of seconds, or a `timedelta`.
    Span = type_hint_union!(
        type_hint_identifier!("builtins", "float"),
        type_hint_identifier!("datetime", "timedelta")
    )
);
hint!(
    /// A callback for the progress of an expiry.
    OnExpiryProgress = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Callable"),
        PyStaticExpr::List {
            elts: &[<memdir::policy::expiry::Progress as Hint>::HINT]
        },
        OBJECT
    )
);
hint!(
    /// The words of the option `on_conflict`.
    OnConflict = type_hint_subscript!(
        type_hint_identifier!("typing", "Literal"),
        word("keep-both"),
        word("a"),
        word("b")
    )
);
hint!(
    /// Two names, or `None`.
    TwoNames = type_hint_union!(
        type_hint_subscript!(type_hint_identifier!("builtins", "tuple"), STR, STR),
        NONE
    )
);
hint!(
    /// An edit of a file: from the old content to the new one.
    Edit = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Callable"),
        PyStaticExpr::List { elts: &[BYTES] },
        type_hint_union!(BYTES, NONE)
    )
);
hint!(
    /// The entries of a directory. Not `list`: in a class with a method `list`, that name is the
    /// method.
    Entries = type_hint_subscript!(type_hint_identifier!("collections.abc", "Sequence"), ENTRY)
);
hint!(
    /// Makes a store.
    Factory = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Callable"),
        PyStaticExpr::List { elts: &[] },
        Store::HINT
    )
);
hint!(
    /// The result of opening a path.
    Opened = type_hint_union!(BYTES, Entries::HINT)
);
hint!(
    /// The key of an encrypted store.
    Key = type_hint_union!(BYTES, STR)
);
hint!(
    /// Any value.
    Anything = OBJECT
);
hint!(
    /// The content of a reply.
    Content = type_hint_union!(
        STR,
        type_hint_subscript!(
            type_hint_identifier!("builtins", "list"),
            type_hint_identifier!("memdir._reply", "ImageBlock")
        )
    )
);
hint!(
    /// A reply in its parts.
    Answer = type_hint_subscript!(
        type_hint_identifier!("builtins", "tuple"),
        Content::HINT,
        type_hint_identifier!("builtins", "bool"),
        type_hint_union!(type_hint_identifier!("memdir._errors", "MemdirError"), NONE)
    )
);
hint!(
    /// The fields of a command.
    Fields = type_hint_subscript!(type_hint_identifier!("builtins", "dict"), STR, OBJECT)
);
hint!(
    /// Names and their values, read-only.
    FieldMapping = type_hint_subscript!(
        type_hint_identifier!("collections.abc", "Mapping"),
        STR,
        OBJECT
    )
);
hint!(
    /// The definitions of tools.
    Definitions =
        type_hint_subscript!(type_hint_identifier!("collections.abc", "Sequence"), Fields::HINT)
);

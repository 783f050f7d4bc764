//! A command's input, read straight from Python's own values.
//!
//! Texts are borrowed from the `str` objects that hold them, and not copied. Those objects are kept
//! alive as long as the decoded command, because another thread may change the dict while the core
//! works with the interpreter released.

use std::borrow::Cow;
use std::cell::OnceCell;

use memdir::command::{Decoded, TOOL_USE};
use memdir::value::{Fields, Value};
use pyo3::PyTypeInfo;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyMapping, PyString, PyTuple};

/// The most values of a list that are read. A valid list has two values. For any other list, a
/// sentence shows the first hundred characters, and this many values fill them. The limit also
/// stops at a list that contains itself.
const MAX_VALUES: usize = 512;

/// The input of one command: a dict, another mapping, or an object with attributes.
pub(crate) struct Input<'py> {
    source: Source<'py>,
    /// The `tool_use` block that contained it.
    block: Option<Box<Input<'py>>>,
    kept: Kept<'py>,
}

enum Source<'py> {
    Dict(Bound<'py, PyDict>),
    Mapping(Bound<'py, PyAny>),
    Object(Bound<'py, PyAny>),
}

impl<'py> Input<'py> {
    /// The input in `value`; `None` if it cannot have fields.
    pub(crate) fn new(value: &Bound<'py, PyAny>) -> Option<Self> {
        let source = if let Ok(dict) = value.cast::<PyDict>() {
            Source::Dict(dict.clone())
        } else if is_plain(value) {
            return None;
        } else if value.is_instance(&PyMapping::type_object(value.py())).unwrap_or(false) {
            Source::Mapping(value.clone())
        } else {
            Source::Object(value.clone())
        };
        Some(Self { source, block: None, kept: Kept::default() })
    }

    /// Same as [`Input::new`] for any value, but an object without a `command` is not an input. If
    /// the value is a whole `tool_use` block, the input is the block's `input`.
    pub(crate) fn of_call(value: &Bound<'py, PyAny>) -> Option<Self> {
        let input = Self::new(value)?;
        if let Some(own) = input.of_block() {
            return Some(Self { block: Some(Box::new(input)), ..own });
        }
        match &input.source {
            Source::Object(object) if !object.hasattr("command").unwrap_or(true) => None,
            _ => Some(input),
        }
    }

    /// Same as [`Input::new`], but if the value is a whole `tool_use` block, the input is the block's `input`.
    pub(crate) fn of_search(value: &Bound<'py, PyAny>) -> Option<Self> {
        let input = Self::new(value)?;
        Some(input.of_block().unwrap_or(input))
    }

    /// Decodes the command that it names.
    pub(crate) fn decode(&self) -> Decoded<'_> {
        let decoded = Decoded::of(self);
        match &self.block {
            Some(block) => decoded.within(&**block),
            None => decoded,
        }
    }

    /// The input within a `tool_use` block, which may be a dict or one of the SDK's models.
    fn of_block(&self) -> Option<Self> {
        let get = |name| self.raw(name).ok().flatten();
        // Usually the value is the command itself.
        if get("command").is_some() {
            return None;
        }
        let kind = get("type")?.cast_into::<PyString>().ok()?;
        if kind.to_str().ok()? != TOOL_USE {
            return None;
        }
        let own = get("input")?;
        if own.is_instance_of::<PyDict>() { Self::new(&own) } else { None }
    }

    /// The value of the field `name`, or `None` if it is absent.
    pub(crate) fn raw(&self, name: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
        match &self.source {
            Source::Dict(dict) => dict.get_item(name),
            Source::Mapping(mapping) => {
                if mapping.contains(name)? {
                    mapping.get_item(name).map(Some)
                } else {
                    Ok(None)
                }
            }
            Source::Object(object) => match object.getattr(name) {
                Ok(value) => Ok(Some(value)),
                Err(error) if error.is_instance_of::<PyAttributeError>(object.py()) => Ok(None),
                Err(error) => Err(error),
            },
        }
    }
}

impl Fields for Input<'_> {
    fn get<'a>(&'a self, name: &str) -> Option<Value<'a>> {
        let value = match self.raw(name) {
            Ok(value) => value?,
            Err(_) => return Some(Value::Other(Cow::Borrowed("something that cannot be read"))),
        };
        Some(match value.cast_into::<PyString>() {
            Ok(text) => text_value(self.kept.keep(text)),
            Err(other) => value_of(&other.into_inner(), &mut { MAX_VALUES }),
        })
    }
}

/// Returns whether the value has one of the types that JSON's other values become.
fn is_plain(value: &Bound<'_, PyAny>) -> bool {
    value.is_none()
        || value.is_instance_of::<PyString>()
        || value.is_instance_of::<PyInt>()
        || value.is_instance_of::<PyFloat>()
        || value.is_instance_of::<PyList>()
        || value.is_instance_of::<PyTuple>()
}

/// A text as a command's field.
pub(crate) fn text_value<'a>(text: &'a Bound<'_, PyString>) -> Value<'a> {
    match text.to_str() {
        Ok(text) => Value::Text(Cow::Borrowed(text)),
        // The text has a lone surrogate.
        Err(_) => Value::Other(Cow::Borrowed("text that is not valid Unicode")),
    }
}

/// A value with owned texts, for lists and for values that are only displayed.
pub(crate) fn owned_value(value: &Bound<'_, PyAny>) -> Value<'static> {
    value_of(value, &mut { MAX_VALUES })
}

fn value_of(value: &Bound<'_, PyAny>, left: &mut usize) -> Value<'static> {
    *left = left.saturating_sub(1);
    if value.is_none() {
        Value::Null
    } else if let Ok(flag) = value.cast::<PyBool>() {
        Value::Bool(flag.is_true())
    } else if let Ok(text) = value.cast::<PyString>() {
        match text_value(text) {
            Value::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            _ => Value::Other(Cow::Borrowed("text that is not valid Unicode")),
        }
    } else if let Ok(integer) = value.cast::<PyInt>() {
        match integer.extract::<i64>() {
            Ok(integer) => Value::Integer(integer),
            Err(_) => match integer.extract::<f64>() {
                Ok(number) => Value::Number(number),
                Err(_) => Value::Other(Cow::Borrowed("a number that is too large")),
            },
        }
    } else if let Ok(number) = value.cast::<PyFloat>() {
        Value::Number(number.value())
    } else if let Ok(list) = value.cast::<PyList>() {
        Value::List(items(list.iter(), left))
    } else if let Ok(tuple) = value.cast::<PyTuple>() {
        Value::List(items(tuple.iter(), left))
    } else if value.is_instance_of::<PyDict>() {
        Value::Object
    } else {
        Value::Other(Cow::Owned(kind(value)))
    }
}

fn items<'py>(
    iterator: impl Iterator<Item = Bound<'py, PyAny>>,
    left: &mut usize,
) -> Vec<Value<'static>> {
    let mut items = Vec::new();
    for item in iterator {
        if *left == 0 {
            break;
        }
        items.push(value_of(&item, left));
    }
    items
}

/// A value in an error of an option or an argument, as Python writes it. A command's reply, which is the same in every
/// language, shows it as JSON does.
pub(crate) fn python_value(value: &Bound<'_, PyAny>) -> Value<'static> {
    as_python(owned_value(value))
}

fn as_python(value: Value<'static>) -> Value<'static> {
    let word = match value {
        Value::Null => "None",
        Value::Bool(true) => "True",
        Value::Bool(false) => "False",
        Value::Number(number) if number.is_nan() => "nan",
        Value::Object => "a dict",
        Value::List(items) => return Value::List(items.into_iter().map(as_python).collect()),
        value => return value,
    };
    Value::Other(Cow::Borrowed(word))
}

/// The type of any other value, in words.
fn kind(value: &Bound<'_, PyAny>) -> String {
    match value.get_type().name() {
        Ok(name) => format!("a Python object of type {}", name.to_string_lossy()),
        Err(_) => "a Python object".to_owned(),
    }
}

/// Keeps texts alive while they are borrowed. The list only grows, so its texts stay borrowed while
/// more are added.
#[derive(Default)]
struct Kept<'py> {
    next: OnceCell<Box<(Bound<'py, PyString>, Kept<'py>)>>,
}

impl<'py> Kept<'py> {
    fn keep(&self, text: Bound<'py, PyString>) -> &Bound<'py, PyString> {
        let mut end = self;
        while let Some(kept) = end.next.get() {
            end = &kept.1;
        }
        &end.next.get_or_init(|| Box::new((text, Kept::default()))).0
    }
}

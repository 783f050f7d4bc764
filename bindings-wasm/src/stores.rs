//! The operations of a `NativeStore`, and of stores that are mounted into one tree.

use std::sync::Arc;

use memdir::store::{Mount, Place, Splice, open_mounts, open_raw_store, rekey};
use memdir::value::Value;
use memdir::{
    Cancellation, ConfigError, CopyOptions, Error, MemoryOptions, MemoryPath, OnExisting, Store,
    open_store,
};
use memdir_bindings_shared::arguments::wrong;
use memdir_bindings_shared::check::check;
use serde_json::{Value as Json, json};

use crate::answer;
use crate::arguments::Arguments;
use crate::border::{asked, bytes, placed};
use crate::errors::{Failure, unknown};
use crate::handles::OPENED;
use crate::input::value;
use crate::js_store::JsStore;
use crate::options::{flag, key, read, string};
use crate::progress::go_on;
use crate::results::shown;
use crate::times::{millis, to_millis};

pub(crate) fn perform(method: &str, given: &Arguments) -> Result<Json, Failure> {
    let opened: Arc<dyn Store> = match method {
        "open" => {
            check_address(given.text(0))?;
            open_store(given.text(0), &read(given.get(1))?)?
        }
        "beneath" => {
            check_address(given.text(0))?;
            open_raw_store(given.text(0), &MemoryOptions::default())?
        }
        "onMounts" => {
            let options = read(given.get(1))?;
            let mounts = given.get(0).as_array().into_iter().flatten().map(mount);
            let mounts: Vec<Mount> = mounts.collect::<Result<_, _>>()?;
            Arc::new(open_mounts(mounts, &options)?)
        }
        "onJs" => {
            let methods = given.get(1).as_array().into_iter().flatten().filter_map(Json::as_str);
            Arc::new(JsStore::new(given.number(0), &methods.collect::<Vec<_>>()))
        }
        // This platform has no store with namespaces, so the call always fails.
        "namespaces" => {
            check_address(given.text(0))?;
            return Ok(shown(memdir::namespaces(given.text(0), &MemoryOptions::default())?));
        }
        "drop" => return Ok(OPENED.take(given.number(0)).is_some().into()),
        _ => return use_store(&OPENED.get(given.number(0))?, method, given),
    };
    Ok(OPENED.add(opened).into())
}

/// Refuses the address of a store outside the process. The core's errors for them concern the way memdir was built, which is
/// not useful here.
pub(crate) fn check_address(address: &str) -> Result<(), Failure> {
    let place = match address.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => "SQLite needs a file system",
        Some("postgres" | "postgresql" | "s3" | "gs" | "az") => "this store needs a network",
        // The core knows what is wrong with other schemes. One letter is a drive.
        Some(scheme) if scheme.len() > 1 && scheme != "dir" => return Ok(()),
        None if address.is_empty() => return Ok(()),
        _ => "a directory needs a file system",
    };
    Err(elsewhere(&format!("{place}: use \"memory:\"")).into())
}

/// The error for a store outside the process.
pub(crate) fn elsewhere(why: &str) -> ConfigError {
    ConfigError::from(format!(
        "memdir runs as WebAssembly here, because there is no binary for this machine or the program asked for it, and {why}"
    ))
}

/// A store by its number or its address, with its mount point and whether it is read-only.
fn mount(given: &Json) -> Result<Mount, Failure> {
    let place = match given[1].as_str() {
        Some(address) => {
            check_address(address)?;
            Place::from(address)
        }
        None => {
            let number = given[1].as_u64().and_then(|number| u32::try_from(number).ok());
            OPENED.get(number.unwrap_or_default())?.into()
        }
    };
    let mount = Mount::new(given[0].as_str().unwrap_or_default(), place);
    Ok(if given[2] == true { mount.read_only() } else { mount })
}

fn use_store(store: &Arc<dyn Store>, method: &str, given: &Arguments) -> Result<Json, Failure> {
    let path = || parse(&given.given(1, "path", string)?);
    match method {
        "read" => return Ok(placed(store.read(&path()?)?)),
        "list" => return Ok(answer::entries(store.list(&path()?)?)),
        "write" => {
            let content = content(given)?;
            let existing = existing(given.given(3, "overwrite", flag)?);
            store.write(&path()?, &content, existing)?;
        }
        "update" => {
            given.given(2, "edit", function)?;
            update(store, &path()?)?;
        }
        "delete" => store.delete(&path()?)?,
        "rename" => store.rename(&path()?, &parse(&given.given(2, "to", string)?)?)?,
        "modified" => return Ok(store.modified(&path()?)?.map(to_millis).into()),
        "setModified" => store.set_modified(&path()?, given.given(2, "time", millis)?)?,
        "recordAccess" => store.record_access(&path()?, given.given(2, "time", millis)?)?,
        "deleteUnused" => {
            return Ok(store.delete_unused(&path()?, given.given(2, "since", millis)?)?.into());
        }
        "rekey" => {
            let (old, new) = (key("oldKey", given.get(1))?, key("newKey", given.get(2))?);
            return Ok(rekey(store, &old, &new)?.into());
        }
        "check" => return Ok(shown(check(&Cancellation::never(), store)?)),
        "copyTo" => return copy(store, given),
        _ => return Err(unknown(method)),
    }
    Ok(Json::Null)
}

/// The bytes of a content, which JavaScript has put into the module's memory if they are bytes.
fn content(given: &Arguments) -> Result<Vec<u8>, Failure> {
    let place = given.get(2);
    if place.get("at").is_some() {
        return bytes(place);
    }
    Err(wrong("content", " must be a Uint8Array", value(place)).into())
}

/// Checks that an argument is a function, which stays with JavaScript.
fn function(name: &str, given: &Value<'_>) -> Result<(), Error> {
    match given {
        Value::Other(words) if words == "a function" => Ok(()),
        _ => Err(wrong(name, " must be a function", given)),
    }
}

fn existing(overwrite: bool) -> OnExisting {
    if overwrite { OnExisting::Overwrite } else { OnExisting::Error }
}

fn update(store: &Arc<dyn Store>, path: &MemoryPath) -> Result<(), Failure> {
    let mut failed = None;
    store.update(path, &mut |old| {
        let answer = asked(&json!({ "edit": placed(old.to_vec()) }));
        if answer.is_null() {
            return None;
        }
        // If JavaScript threw, the answer has no content.
        match bytes(&answer) {
            Ok(text) => Some(Splice { range: 0..old.len(), text }),
            Err(_) => {
                failed = Some(Failure::Thrown);
                None
            }
        }
    })?;
    failed.map_or(Ok(()), Err)
}

fn copy(from: &Arc<dyn Store>, given: &Arguments) -> Result<Json, Failure> {
    let to = OPENED.get(given.number(1))?;
    let watched = given.flag(4);
    let mut how = CopyOptions::default();
    how.existing = existing(given.given(2, "overwrite", flag)?);
    how.without_history = given.given(3, "withoutHistory", flag)?;
    let mut thrown = false;
    let copied =
        memdir::copy(from, &to, how, &mut |progress| go_on(watched, progress, &mut thrown));
    if thrown {
        return Err(Failure::Thrown);
    }
    copied.map(shown).map_err(Failure::Copy)
}

fn parse(path: &str) -> Result<MemoryPath, Failure> {
    MemoryPath::parse(path).map_err(|error| Failure::Plain(error.to_string()))
}

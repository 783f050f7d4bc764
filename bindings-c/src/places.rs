//! The location of a memory as JSON: an address, a store of the application, or several stores that are mounted into
//! one tree.

use std::sync::Arc;

use memdir::store::{Mount, Place, open_mounts, open_place};
use memdir::{MemoryOptions, Store};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::host::Host;
use crate::own_store::OwnStore;

const EXPECTED: &str =
    "place must be an address, {\"address\": …}, {\"own\": …} or {\"mounts\": […]}";

/// Opens the store, or the stores.
pub(crate) fn open(
    place: &str,
    options: &MemoryOptions,
    host: Option<Host>,
) -> Result<Arc<dyn Store>, Failure> {
    let place: Value = serde_json::from_str(place).map_err(|_| Failure::usage(EXPECTED))?;
    let Some(listed) = place.get("mounts") else {
        let (place, is_read_only) = one(place, &[], host)?;
        let mut options = options.clone();
        options.read_only |= is_read_only;
        return Ok(open_place(place, &options)?);
    };
    let listed = listed.as_array().ok_or_else(|| Failure::usage("mounts must be an array"))?;
    let mut mounts = Vec::new();
    for listed in listed {
        let at = listed.get("path").and_then(Value::as_str);
        let at = at.ok_or_else(|| Failure::usage("a mount must have a path"))?.to_owned();
        let (place, is_read_only) = one(listed.clone(), &["path"], host)?;
        let mount = Mount::new(at, place);
        mounts.push(if is_read_only { mount.read_only() } else { mount });
    }
    Ok(Arc::new(open_mounts(mounts, options)?))
}

/// One store, and whether it is read-only. `known` are its other permitted fields.
fn one(place: Value, known: &[&str], host: Option<Host>) -> Result<(Place, bool), Failure> {
    let fields = match place {
        Value::String(address) => return Ok((address.into(), false)),
        Value::Object(fields) => fields,
        _ => return Err(Failure::usage(EXPECTED)),
    };
    let is_known = |name: &String| {
        ["address", "own", "read_only"].contains(&name.as_str()) || known.contains(&name.as_str())
    };
    if let Some(name) = fields.keys().find(|name| !is_known(name)) {
        return Err(Failure::usage(format!("a place has no field {name}")));
    }
    let is_read_only = match fields.get("read_only") {
        None => false,
        Some(flag) => {
            flag.as_bool().ok_or_else(|| Failure::usage("read_only must be true or false"))?
        }
    };
    Ok((store(&fields, host)?, is_read_only))
}

fn store(fields: &Map<String, Value>, host: Option<Host>) -> Result<Place, Failure> {
    match (fields.get("address"), fields.get("own")) {
        (Some(Value::String(address)), None) => Ok(address.clone().into()),
        (None, Some(own)) => {
            let number = own.as_u64().ok_or_else(|| Failure::usage("own must be a number"))?;
            let host = host.ok_or_else(|| Failure::usage("host is NULL"))?;
            Ok(Place::from(Arc::new(OwnStore::new(host, number)?) as Arc<dyn Store>))
        }
        _ => Err(Failure::usage(EXPECTED)),
    }
}

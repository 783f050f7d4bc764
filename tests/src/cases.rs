//! Reads the case files, and rejects everything that is not in the format.

use std::fs;
use std::path::{Path, PathBuf};

use memdir::{Content, MemoryOptions};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use crate::hooks::{Rule, Told};
use crate::texts::{Text, expanded};
use crate::tree::{Base64, Tree, from_case};
use crate::upkeep::{True, Upkeep};

/// One file of cases.
#[derive(Debug)]
pub struct CaseFile {
    /// The file's name, such as `insert.json`.
    pub name: String,
    /// Its cases.
    pub cases: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FileForm {
    /// Its subject, in one sentence.
    #[serde(rename = "about", deserialize_with = "sentence")]
    _about: String,
    #[serde(deserialize_with = "some")]
    cases: Vec<Value>,
}

/// Some tool calls on one store, and their replies.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Its name, unique within its file.
    #[serde(deserialize_with = "sentence")]
    pub name: String,
    /// The rule that it checks, and the source of the rule.
    #[serde(deserialize_with = "sentence")]
    pub rule: String,
    /// The options of the memory.
    #[serde(default, deserialize_with = "options")]
    pub options: MemoryOptions,
    /// Its hooks, if it has any.
    pub hooks: Option<CaseRules>,
    /// The content of the store before the first step.
    #[serde(default, deserialize_with = "from_case")]
    pub given: Tree,
    /// The tool calls, and the changes by others in between.
    #[serde(deserialize_with = "some")]
    pub steps: Vec<Step>,
    /// The content of the store after the last step, if the case specifies it.
    #[serde(default, deserialize_with = "some_tree")]
    pub then: Option<Tree>,
}

/// The hooks of a case.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CaseRules {
    /// The rules of `before`.
    #[serde(deserialize_with = "some")]
    pub before: Vec<Rule>,
}

/// One step of a case.
#[derive(Debug, Deserialize)]
#[serde(try_from = "Value")]
pub enum Step {
    /// A tool call.
    Call(Box<Call>),
    /// Another process writes to the store; existing files are overwritten.
    Meanwhile(Tree),
    /// Time passes, or files expire.
    Upkeep(Upkeep),
}

impl TryFrom<Value> for Step {
    type Error = serde_json::Error;

    fn try_from(json: Value) -> Result<Self, Self::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Meanwhile {
            #[serde(deserialize_with = "from_case")]
            meanwhile: Tree,
        }

        // Not an untagged enum, whose errors would not name the wrong field.
        let has = |field| json.get(field).is_some();
        if has("meanwhile") {
            let Meanwhile { meanwhile } = serde_json::from_value(json)?;
            return Ok(Self::Meanwhile(meanwhile));
        }
        if has("age") || has("expire") {
            return serde_json::from_value(json).map(Self::Upkeep);
        }
        let call: Box<Call> = serde_json::from_value(json)?;
        if matches!(call.content, Content::Image { .. }) && call.without_images.is_none() {
            return Err(Self::Error::custom("without_images is missing"));
        }
        Ok(Self::Call(call))
    }
}

impl Step {
    /// The tool call, if it is one.
    #[must_use]
    pub fn call(&self) -> Option<&Call> {
        match self {
            Step::Call(call) => Some(call),
            Step::Meanwhile(_) | Step::Upkeep(_) => None,
        }
    }
}

/// One tool call and its reply.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Call {
    /// The input, with all texts expanded.
    #[serde(deserialize_with = "expanded")]
    pub input: Value,
    /// The content of the reply.
    #[serde(deserialize_with = "shown")]
    pub content: Content,
    /// The reply of a language that shows no images; Rust does.
    without_images: Option<Text>,
    /// The error flag of the reply.
    pub is_error: bool,
    /// The kind of error, in the cases about it.
    pub kind: Option<String>,
    /// Whether files expire before it, so the tree is not compared with that before the step.
    pub expires: Option<True>,
    /// The event that the hook `after` gets, in a case with hooks.
    pub event: Option<Told>,
}

impl Call {
    /// The command that the input names, if it names one.
    #[must_use]
    pub fn command(&self) -> Option<&str> {
        self.input.get("command").and_then(Value::as_str)
    }
}

/// The project's root.
#[must_use]
pub fn project_root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// All case files, in the order of their names.
///
/// # Errors
/// Names the file and the case that is not in the format, with the reason.
pub fn load() -> Result<Vec<CaseFile>, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("cases");
    let entries = fs::read_dir(&directory).map_err(|error| format!("tests/cases: {error}"))?;
    let mut files: Vec<PathBuf> = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()
        .map_err(|error| format!("tests/cases: {error}"))?;
    files.sort();
    files.iter().map(|file| load_file(file)).collect()
}

fn load_file(file: &Path) -> Result<CaseFile, String> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let parsed = fs::read_to_string(file)
        .map_err(|error| error.to_string())
        .and_then(|json| serde_json::from_str(&json).map_err(|error| error.to_string()));
    parsed.and_then(|json| case_file(&name, json)).map_err(|problem| format!("{name}: {problem}"))
}

/// Reads one file's JSON.
///
/// # Errors
/// Names the case that is not in the format, with the reason.
pub fn case_file(name: &str, json: Value) -> Result<CaseFile, String> {
    let file: FileForm = serde_json::from_value(json).map_err(|error| error.to_string())?;
    let cases = file.cases.into_iter().map(case).collect::<Result<_, _>>()?;
    Ok(CaseFile { name: name.to_owned(), cases })
}

fn case(json: Value) -> Result<Case, String> {
    let name = json["name"].to_string();
    let case: Case = serde_json::from_value(json).map_err(|error| format!("{name}: {error}"))?;
    let mut calls = case.steps.iter().filter_map(Step::call);
    if calls.any(|call| call.event.is_some() != case.hooks.is_some()) {
        return Err(format!(
            "{name}: each step of a case with hooks has an event, and no other has"
        ));
    }
    Ok(case)
}

fn sentence<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if text.trim().is_empty() { Err(D::Error::custom("it says nothing")) } else { Ok(text) }
}

fn some<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    let items = Vec::deserialize(from)?;
    if items.is_empty() { Err(D::Error::custom("the list is empty")) } else { Ok(items) }
}

fn some_tree<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Tree>, D::Error> {
    from_case(from).map(Some)
}

/// The content of a reply: a text, or an image.
fn shown<'de, D: Deserializer<'de>>(from: D) -> Result<Content, D::Error> {
    #[derive(Deserialize)]
    enum MediaType {
        #[serde(rename = "image/png")]
        Png,
        #[serde(rename = "image/jpeg")]
        Jpeg,
    }
    #[derive(Deserialize)]
    #[serde(untagged, deny_unknown_fields, expecting = "neither a text nor an image")]
    enum Form {
        Image {
            #[serde(rename = "$image")]
            media_type: MediaType,
            #[serde(rename = "$base64")]
            bytes: Base64,
        },
        Text(Text),
    }

    Ok(match Form::deserialize(from)? {
        Form::Image { media_type: MediaType::Png, bytes: Base64(bytes) } => {
            Content::Image { media_type: "image/png", bytes }
        }
        Form::Image { media_type: MediaType::Jpeg, bytes: Base64(bytes) } => {
            Content::Image { media_type: "image/jpeg", bytes }
        }
        Form::Text(Text(text)) => Content::Text(text),
    })
}

fn options<'de, D: Deserializer<'de>>(from: D) -> Result<MemoryOptions, D::Error> {
    let mut options = MemoryOptions::default();
    for (name, value) in expanded::<Map<String, Value>, D>(from)? {
        options.set(&name, &value).map_err(D::Error::custom)?;
    }
    Ok(options)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(case: &Value) -> Result<CaseFile, String> {
        case_file("x.json", json!({ "about": "x", "cases": [case] }))
    }

    #[test]
    fn what_the_format_does_not_have_is_an_error() {
        let step = json!({ "input": null, "content": "x", "is_error": true });
        let meanwhile = json!({ "meanwhile": { "/memories/a": "" } });
        let good = json!({
            "name": "n", "rule": "r", "options": { "max_view_chars": null },
            "given": { "/memories/a": { "$base64": "/w==" } }, "steps": [step, meanwhile], "then": {},
        });
        read(&good).unwrap();
        for (pointer, value) in [
            ("/more", json!(1)),
            ("/options/max_view_char", json!(1)),
            ("/options/max_view_chars", json!("1")),
            ("/options/on_existing", json!("replace")),
            ("/given/~1tmp~1a", json!("x")),
            ("/given/~1memories~1a~1", json!("x")),
            ("/given/~1memories", json!(null)),
            ("/given/~1memories~1a", json!({ "$base64": "?" })),
            ("/given/~1memories~1a", json!(1)),
            ("/steps", json!([])),
            ("/steps/0/then", json!({})),
            ("/steps/0/expires", json!(false)),
            ("/steps/0/age", json!({ "/memories/a": "1" })),
            ("/steps/0/expire", json!({ "older_than": 1 })),
            ("/options/expire_after", json!("1")),
            ("/options/never_expire", json!(["a"])),
            ("/steps/0/is_error", json!("no")),
            ("/steps/0/content", json!(null)),
            ("/steps/0/content", json!({ "$image": "image/png", "$base64": "/w==" })),
            ("/steps/0/without_images", json!(1)),
            ("/steps/0/input", json!({ "$times": 1 })),
            ("/steps/0/meanwhile", json!({ "/memories/a": "" })),
            ("/steps/1/meanwhile", json!({ "/memories": null })),
            ("/steps/1/is_error", json!(false)),
            ("/name", json!("")),
            ("/rule", json!(null)),
            // An event without hooks, hooks without an event, invalid rules.
            ("/steps/0/event", json!({ "outcome": "ok" })),
            ("/hooks", json!({ "before": [{ "when": {}, "deny": "no" }] })),
            ("/hooks", json!({ "before": [{ "when": {} }] })),
            ("/hooks", json!({ "before": [{ "when": {}, "deny": "no", "fail": "no" }] })),
        ] {
            let mut bad = good.clone();
            let (above, key) = pointer.rsplit_once('/').unwrap();
            let key = key.replace("~1", "/");
            bad.pointer_mut(above).unwrap().as_object_mut().unwrap().insert(key, value);
            assert!(read(&bad).is_err(), "{pointer}");
        }
    }
}

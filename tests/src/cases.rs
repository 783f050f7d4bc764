//! Reads the case files, and takes nothing that the format does not have.

use std::fs;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use memdir::policy::PathPattern;
use memdir::policy::sensitive::SensitiveRule;
use memdir::{Content, MemoryOptions, MemoryPath};
use serde_json::{Map, Value};

use crate::hooks::{Rule, Then, Told};
use crate::texts::{expanded, text};
use crate::tree::Tree;
use crate::upkeep::{Upkeep, seconds};

/// One file of cases.
#[derive(Debug)]
pub struct CaseFile {
    /// The file's name, such as `insert.json`.
    pub name: String,
    /// What it covers, in one sentence.
    pub about: String,
    /// Its cases.
    pub cases: Vec<Case>,
}

/// Some tool calls on one store, and what they answer.
#[derive(Debug)]
pub struct Case {
    /// What is special about it, unique within its file.
    pub name: String,
    /// The rule that it checks, and where that comes from.
    pub rule: String,
    /// The options of the memory.
    pub options: MemoryOptions,
    /// What its hook `before` does; `None` if it has no hooks.
    pub hooks: Option<Vec<Rule>>,
    /// What is in the store before the first step.
    pub given: Tree,
    /// The tool calls, and what somebody else does in between.
    pub steps: Vec<Step>,
    /// What is in the store after the last step, if the case says so.
    pub then: Option<Tree>,
}

/// One step of a case.
#[derive(Debug)]
pub enum Step {
    /// A tool call.
    Call(Call),
    /// Somebody else writes into the store; a file that is there is overwritten.
    Meanwhile(Tree),
    /// Time passes, or files expire.
    Upkeep(Upkeep),
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
#[derive(Debug)]
pub struct Call {
    /// The input, with all texts made.
    pub input: Value,
    /// What the reply shows.
    pub content: Content,
    /// The reply's flag.
    pub is_error: bool,
    /// Whether files expire before it, so that the tree is not compared with that before the step.
    pub expires: bool,
    /// What the hook `after` is told, in a case that has hooks.
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
/// Names the file and the case that is not in the format, and says why.
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
/// Names the case that is not in the format, and says why.
pub fn case_file(name: &str, json: Value) -> Result<CaseFile, String> {
    let mut fields = Fields::of(json)?;
    let file = CaseFile {
        name: name.to_owned(),
        about: fields.string("about")?,
        cases: fields.list("cases")?.into_iter().map(case).collect::<Result<_, _>>()?,
    };
    fields.end()?;
    Ok(file)
}

fn case(json: Value) -> Result<Case, String> {
    let mut fields = Fields::of(json)?;
    let name = fields.string("name")?;
    let rest = |mut fields: Fields| {
        let case = Case {
            name: name.clone(),
            rule: fields.string("rule")?,
            options: options(fields.take("options"))?,
            hooks: fields.take("hooks").map(hooks).transpose()?,
            given: tree(fields.take("given"))?.unwrap_or_default(),
            steps: fields.list("steps")?.into_iter().map(step).collect::<Result<_, _>>()?,
            then: tree(fields.take("then"))?,
        };
        fields.end()?;
        let mut calls = case.steps.iter().filter_map(Step::call);
        if calls.any(|call| call.event.is_some() != case.hooks.is_some()) {
            return Err("each step of a case with hooks has an event, and no other has".to_owned());
        }
        Ok(case)
    };
    rest(fields).map_err(|problem: String| format!("{name:?}: {problem}"))
}

fn step(json: Value) -> Result<Step, String> {
    let mut fields = Fields::of(json)?;
    if let Some(upkeep) = Upkeep::take(&mut fields.0)? {
        fields.end()?;
        return Ok(Step::Upkeep(upkeep));
    }
    let step = match tree(fields.take("meanwhile"))? {
        Some(tree) => Step::Meanwhile(tree),
        None => Step::Call(Call {
            input: expanded(&fields.need("input")?)?,
            content: shown(&fields.need("content")?)?,
            is_error: fields.need("is_error")?.as_bool().ok_or("is_error must be true or false")?,
            expires: match fields.take("expires") {
                None => false,
                Some(Value::Bool(true)) => true,
                Some(other) => return Err(format!("expires must be true, got {other}")),
            },
            event: fields.take("event").map(event).transpose()?,
        }),
    };
    // What a language says that shows no images; Rust does.
    if let Some(instead) = fields.take("without_images") {
        text(&instead)?;
    } else if let Step::Call(Call { content: Content::Image { .. }, .. }) = step {
        return Err("without_images is missing".to_owned());
    }
    fields.end()?;
    Ok(step)
}

fn event(json: Value) -> Result<Told, String> {
    const NAMES: [&str; 8] =
        ["command", "path", "new_path", "outcome", "bytes", "lines", "repairs", "content"];
    let mut fields = Fields::of(json)?;
    let told = NAMES.iter().filter_map(|&name| Some((name.to_owned(), fields.take(name)?)));
    let told = told.map(|(name, value)| Ok((name, expanded(&value)?)));
    let told = told.collect::<Result<Map<String, Value>, String>>()?;
    fields.end()?;
    if !told.contains_key("outcome") {
        return Err("an event has an outcome".to_owned());
    }
    Ok(Told::from_fields(told))
}

fn hooks(json: Value) -> Result<Vec<Rule>, String> {
    let mut fields = Fields::of(json)?;
    let rules = fields.list("before")?.into_iter().map(rule).collect::<Result<_, _>>()?;
    fields.end()?;
    Ok(rules)
}

fn rule(json: Value) -> Result<Rule, String> {
    let mut fields = Fields::of(json)?;
    let when = Fields::of(expanded(&fields.need("when")?)?)?.0;
    let then = match (fields.take("deny"), fields.take("replace"), fields.take("fail")) {
        (Some(sentence), None, None) => Then::Deny(text(&sentence)?),
        (None, Some(Value::Array(texts)), None) => match texts.as_slice() {
            [old, new] => Then::Replace(text(old)?, text(new)?),
            _ => return Err("replace is two texts".to_owned()),
        },
        (None, None, Some(problem)) => Then::Fail(text(&problem)?),
        _ => return Err("a rule has a denial, a replace or a fail".to_owned()),
    };
    fields.end()?;
    Ok(Rule { when, then })
}

/// What a reply shows: a text, or an image.
fn shown(value: &Value) -> Result<Content, String> {
    let Some(media_type) = value.get("$image") else { return text(value).map(Content::Text) };
    let mut fields = Fields::of(value.clone())?;
    fields.take("$image");
    let bytes = base64(&fields.need("$base64")?)?;
    fields.end()?;
    let known = ["image/png", "image/jpeg"].into_iter().find(|known| media_type == known);
    Ok(Content::Image { media_type: known.ok_or("not a media type")?, bytes })
}

fn options(json: Option<Value>) -> Result<MemoryOptions, String> {
    let mut options = MemoryOptions::default();
    let Some(json) = json else { return Ok(options) };
    let mut fields = Fields::of(json)?;
    let limit = |value: &Value| match value {
        Value::Null => Ok(None),
        number => number.as_u64().map(Some).ok_or(format!("{number} is no limit")),
    };
    if let Some(value) = fields.take("max_view_chars") {
        let chars = limit(&value)?.map(usize::try_from).transpose();
        options.max_view_chars = chars.map_err(|error| error.to_string())?;
    }
    if let Some(value) = fields.take("max_file_bytes") {
        options.max_file_bytes = limit(&value)?;
    }
    if let Some(value) = fields.take("max_total_bytes") {
        options.max_total_bytes = limit(&value)?;
    }
    if let Some(value) = fields.take("max_files") {
        options.max_files = limit(&value)?;
    }
    if let Some(value) = fields.take("read_only_paths") {
        options.read_only_paths = patterns("read_only_paths", &value)?;
    }
    if let Some(value) = fields.take("writable_paths") {
        options.writable_paths = Some(patterns("writable_paths", &value)?);
    }
    if let Some(value) = fields.take("stale_guard") {
        options.stale_guard =
            text(&value)?.parse().map_err(|error: memdir::Error| error.to_string())?;
    }
    if let Some(value) = fields.take("max_image_bytes") {
        options.max_image_bytes = limit(&value)?;
    }
    if let Some(value) = fields.take("on_existing") {
        options.on_existing =
            text(&value)?.parse().map_err(|error: memdir::Error| error.to_string())?;
    }
    if let Some(value) = fields.take("durability") {
        options.durability =
            text(&value)?.parse().map_err(|error: memdir::Error| error.to_string())?;
    }
    if let Some(value) = fields.take("sensitive_text") {
        options.sensitive_text =
            text(&value)?.parse().map_err(|error: memdir::Error| error.to_string())?;
    }
    if let Some(value) = fields.take("sensitive_rules") {
        let rules = Fields::of(value)?.0;
        let pattern = |value: &Value| value.as_str().map(str::to_owned).ok_or("not a pattern");
        let rules: Vec<(String, String)> = rules
            .iter()
            .map(|(id, value)| Ok((id.clone(), pattern(value)?)))
            .collect::<Result<_, &str>>()?;
        options.sensitive_rules = SensitiveRule::all(rules).map_err(|error| error.to_string())?;
    }
    if let Some(value) = fields.take("event_content") {
        options.event_content = value.as_bool().ok_or("event_content must be true or false")?;
    }
    if let Some(value) = fields.take("sensitive_on_view") {
        options.sensitive_on_view =
            value.as_bool().ok_or("sensitive_on_view must be true or false")?;
    }
    if let Some(value) = fields.take("expire_after") {
        options.expire_after = Some(seconds(&value)?);
    }
    if let Some(value) = fields.take("record_access") {
        options.record_access = value.as_bool().ok_or("record_access must be true or false")?;
    }
    if let Some(value) = fields.take("never_expire") {
        let never_expire: Vec<String> =
            serde_json::from_value(value).map_err(|error| error.to_string())?;
        options.never_expire =
            PathPattern::all("never_expire", never_expire).map_err(|error| error.to_string())?;
    }
    fields.end()?;
    Ok(options)
}

fn patterns(name: &str, value: &Value) -> Result<Vec<PathPattern>, String> {
    let patterns = value.as_array().ok_or(format!("{name} must be a list"))?;
    let patterns: Vec<String> = patterns.iter().map(text).collect::<Result<_, _>>()?;
    PathPattern::all(name, patterns).map_err(|error| error.to_string())
}

fn tree(json: Option<Value>) -> Result<Option<Tree>, String> {
    let Some(json) = json else { return Ok(None) };
    let mut tree = Tree::new();
    for (path, value) in Fields::of(json)?.0 {
        let canonical = MemoryPath::parse(&path).map_err(|error| format!("{path:?}: {error}"))?;
        if canonical.as_str() != path || canonical.is_root() {
            return Err(format!("{path:?} is no canonical path below /memories"));
        }
        tree.insert(canonical, content(&value).map_err(|error| format!("{path:?}: {error}"))?);
    }
    Ok(Some(tree))
}

fn content(value: &Value) -> Result<Option<Vec<u8>>, String> {
    match value {
        Value::Null => Ok(None),
        Value::Object(form) if form.len() == 1 && form.contains_key("$base64") => {
            base64(&form["$base64"]).map(Some)
        }
        described => text(described).map(|text| Some(text.into_bytes())),
    }
}

fn base64(value: &Value) -> Result<Vec<u8>, String> {
    base64::engine::general_purpose::STANDARD
        .decode(value.as_str().unwrap_or("?"))
        .map_err(|error| error.to_string())
}

/// The fields of an object, each to be taken once.
struct Fields(Map<String, Value>);

impl Fields {
    fn of(json: Value) -> Result<Self, String> {
        match json {
            Value::Object(fields) => Ok(Self(fields)),
            other => Err(format!("expected an object, got {other}")),
        }
    }

    fn take(&mut self, name: &str) -> Option<Value> {
        self.0.remove(name)
    }

    fn need(&mut self, name: &str) -> Result<Value, String> {
        self.take(name).ok_or(format!("{name} is missing"))
    }

    fn string(&mut self, name: &str) -> Result<String, String> {
        match self.need(name)? {
            Value::String(text) if !text.trim().is_empty() => Ok(text),
            other => Err(format!("{name} must be a text, got {other}")),
        }
    }

    fn list(&mut self, name: &str) -> Result<Vec<Value>, String> {
        match self.need(name)? {
            Value::Array(items) if !items.is_empty() => Ok(items),
            other => Err(format!("{name} must be a list that holds something, got {other}")),
        }
    }

    /// What was not taken does not belong there.
    fn end(self) -> Result<(), String> {
        match self.0.keys().next() {
            None => Ok(()),
            Some(name) => Err(format!("{name:?} is not in the format")),
        }
    }
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
            // An event without hooks, hooks without an event, rules that are none.
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

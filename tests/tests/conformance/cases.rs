//! The cases themselves: valid, complete, and detected when they fail.

use std::collections::BTreeSet;

use memdir::command::COMMANDS;
use memdir::store::{Context, InProcess, Layer, Mutation};
use memdir::{Store, StoreError};
use memdir_conformance::cases::{Call, CaseFile, Step, case_file, load};
use memdir_conformance::documented::SENTENCES;
use memdir_conformance::runner::{self, Opened};
use serde_json::{Value, json};

fn calls(files: &[CaseFile]) -> impl Iterator<Item = &Call> {
    files.iter().flat_map(|file| &file.cases).flat_map(|case| &case.steps).filter_map(Step::call)
}

#[test]
fn every_file_is_in_the_format_and_no_name_is_there_twice() {
    for file in load().unwrap() {
        let mut names = BTreeSet::new();
        for case in &file.cases {
            assert!(names.insert(&case.name), "{}: {:?} is there twice", file.name, case.name);
        }
    }
}

#[test]
fn there_are_enough_of_them() {
    let files = load().unwrap();
    assert!(calls(&files).count() >= 250);
    for topic in ["paths", "input", "documentation", "options", "hooks"].iter().chain(&COMMANDS) {
        let name = format!("{topic}.json");
        assert!(files.iter().any(|file| file.name == name), "{name} is missing");
    }
}

#[test]
fn every_command_succeeds_and_fails() {
    let files = load().unwrap();
    for command in COMMANDS {
        for is_error in [false, true] {
            let found =
                calls(&files).any(|s| s.command() == Some(command) && s.is_error == is_error);
            assert!(found, "no step where {command} has is_error: {is_error}");
        }
    }
}

#[test]
fn every_documented_sentence_is_expected_somewhere() {
    let files = load().unwrap();
    for sentence in SENTENCES {
        let found = calls(&files).any(|step| {
            step.command() == Some(sentence.command)
                && step.is_error == sentence.is_error
                && sentence.is(step.content.as_text().unwrap_or_default())
        });
        assert!(found, "no step expects {sentence:?}");
    }
}

/// A store that does not roll back its changes before it refuses.
struct Careless(InProcess);

impl Layer for Careless {
    fn inner(&self) -> &dyn Store {
        &self.0
    }

    fn mutate(&self, context: &Context, mutation: Mutation<'_>) -> Result<bool, StoreError> {
        let is_deletion = matches!(mutation, Mutation::Delete { .. });
        let done = self.0.mutate(context, mutation)?;
        if is_deletion { Err(StoreError::NotFound) } else { Ok(done) }
    }
}

/// The failure of a case with one step on a [`Careless`] store that contains the file `a`.
fn failure(input: &Value, content: &str, is_error: bool) -> String {
    let step = json!({ "input": input, "content": content, "is_error": is_error });
    let case = json!({
        "name": "the case", "rule": "the rule", "given": { "/memories/a": "one" }, "steps": [step],
        "then": { "/memories/a": "one" },
    });
    match case_file("x.json", json!({ "about": "x", "cases": [case] })) {
        Err(problem) => problem,
        Ok(file) => {
            let open = |options| Ok(Opened::on(Careless(InProcess::new()), options));
            runner::failures(&[file], open).concat()
        }
    }
}

#[test]
fn a_failure_says_where_and_what() {
    let delete = json!({ "command": "delete", "path": "/memories/a" });
    let missing = "Error: The path /memories/a does not exist";

    let wrong_text = failure(&delete, "Successfully deleted /memories/a", true);
    for part in ["x.json", "\"the case\"", "the rule", "step 1 of 1", "Successfully", missing] {
        assert!(wrong_text.contains(part), "{part} is not in {wrong_text}");
    }
    assert!(failure(&delete, missing, false).contains("expected success"));
    assert!(failure(&delete, missing, true).contains("it changed something"));

    let create = json!({ "command": "create", "path": "/memories/b", "file_text": "" });
    let not_then = failure(&create, "File created successfully at: /memories/b", false);
    assert!(not_then.contains("after the last step"), "{not_then}");
    assert!(not_then.contains("/memories/b: expected nothing, got 0 bytes"), "{not_then}");

    let view = json!({ "command": "view", "path": "/memories/a" });
    let shown = "Here's the content of /memories/a with line numbers:\n     1\tone";
    assert_eq!(failure(&view, shown, false), "");
}

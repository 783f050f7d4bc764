//! `memdir check`: verifies a store and its history.

use serde_json::json;

use super::arguments::CheckArguments;
use super::output::{Output, count};
use super::stores::{self, StoreArgument};
use super::{Ended, Failure};
use memdir::store::Problem;
use memdir::text::human_size;
use memdir::{Error, MemoryOptions};

pub(super) fn run(wanted: &CheckArguments, output: &mut Output) -> Result<Ended, Failure> {
    let argument = stores::only(&wanted.store, MemoryOptions::default())?;
    let store = argument.readable()?;
    let mut printed = Ok(());
    let checked = memdir::check(&store, &mut |problem| {
        if printed.is_ok() {
            // Print it now, because finding the next one may take long.
            printed = print(&problem, &argument, output).and_then(|()| output.flush());
        }
    });
    printed?;
    let checked = checked.map_err(|error| argument.failed(&Error::Store(error)))?;
    let versions = checked.versions;
    if output.json {
        let mut summary = json!({
            "type": "summary",
            "directories": checked.directories,
            "files": checked.files,
            "bytes": checked.bytes,
            "problems": checked.problems,
        });
        if let Some(versions) = versions {
            summary["versions"] = json!(versions);
        }
        output.object(&summary)?;
    } else {
        let versions = match versions {
            Some(number) => format!(", {}", count(number, "version", "versions")),
            None => String::new(),
        };
        output.line(&format!(
            "{} and {} read, {}{versions}: {}",
            count(checked.directories, "directory", "directories"),
            count(checked.files, "file", "files"),
            human_size(checked.bytes),
            match checked.problems {
                0 => "no problems".to_owned(),
                problems => count(problems, "problem", "problems"),
            },
        ))?;
    }
    Ok(if checked.problems == 0 { Ended::Well } else { Ended::WithProblems })
}

fn print(problem: &Problem, argument: &StoreArgument, output: &mut Output) -> Result<(), Failure> {
    if output.json {
        return output.object(&json!({
            "type": "problem",
            "kind": problem.kind.as_str(),
            "path": problem.path,
            "details": argument.without_secrets(&problem.details),
        }));
    }
    output.line(&argument.without_secrets(&problem.to_string()))
}

//! Generates the man pages and completions of the packages from the arguments.
//!
//! They are committed, so a package can be built without generating them. `make generate` writes them again. Otherwise the
//! test fails if one differs.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

use clap_mangen::Man;

use super::arguments::Shell;
use super::completions::script;
use super::help;

/// In the wheel. The npm package takes them from there.
const SHARE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../bindings-python/data/data/share");

#[test]
fn the_pages_and_completions_of_the_packages_are_those_of_the_arguments() {
    let (share, made) = (Path::new(SHARE), made());
    if env::var_os("MEMDIR_GENERATE").is_some() {
        let _ = fs::remove_dir_all(share);
        for (name, content) in &made {
            fs::create_dir_all(share.join(name).parent().unwrap()).unwrap();
            fs::write(share.join(name), content).unwrap();
        }
    }
    for (name, content) in &made {
        let committed = fs::read_to_string(share.join(name)).unwrap_or_default();
        assert!(committed == *content, "{}: run `make generate`", name.display());
    }
    let count = fs::read_dir(share.join("man/man1")).unwrap().count();
    assert_eq!(count, made.len() - 3, "a page of a command that is no more: run `make generate`");
}

/// The generated files, by their names below `share`.
fn made() -> BTreeMap<PathBuf, String> {
    let mut made = BTreeMap::new();
    let shells = [
        (Shell::Bash, "bash-completion/completions/memdir"),
        (Shell::Zsh, "zsh/site-functions/_memdir"),
        (Shell::Fish, "fish/vendor_completions.d/memdir.fish"),
    ];
    for (shell, name) in shells {
        made.insert(name.into(), String::from_utf8(script(shell)).unwrap());
    }
    let mut program = help::program().disable_help_subcommand(true);
    program.build();
    for command in program.get_subcommands().chain([&program]) {
        let man = Man::new(command.clone()).source("memdir").manual("memdir");
        let mut page = Vec::new();
        man.render_title(&mut page).unwrap();
        man.render_name_section(&mut page).unwrap();
        // The default synopsis would list each of the many flags.
        let usage = command.clone().render_usage().to_string();
        let usage = usage.trim_start_matches("Usage:").trim();
        page.extend(format!(".SH SYNOPSIS\n{}\n", escaped(usage)).bytes());
        man.render_description_section(&mut page).unwrap();
        man.render_options_section(&mut page).unwrap();
        if command.has_subcommands() {
            man.render_subcommands_section(&mut page).unwrap();
        }
        let mut page = String::from_utf8(page).unwrap();
        if let Some(more) = command.get_after_long_help() {
            page += &after_help(&more.to_string());
        }
        made.insert(Path::new("man/man1").join(man.get_filename()), page);
    }
    made
}

/// The examples and the details. They are not filled, because their lines have breaks.
fn after_help(text: &str) -> String {
    let (examples, notes) = match text.strip_prefix("Examples:\n") {
        None => ("", text),
        Some(rest) => rest.split_once("\n\n").unwrap_or((rest, "")),
    };
    let mut sections = String::new();
    for (heading, lines) in [("EXAMPLES", examples), ("NOTES", notes)] {
        if lines.is_empty() {
            continue;
        }
        sections += &format!(".SH {heading}\n.nf\n");
        for line in lines.lines() {
            sections +=
                &escaped(line.strip_prefix("  ").filter(|_| heading == "EXAMPLES").unwrap_or(line));
            sections.push('\n');
        }
        sections += ".fi\n";
    }
    sections
}

/// Escapes a line for `man`.
fn escaped(line: &str) -> String {
    let escaped = line.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if escaped.starts_with('.') { format!("\\&{escaped}") } else { escaped }
}

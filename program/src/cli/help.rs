//! The help of the program: the commands in groups, and the examples and details of each command.
//!
//! The comments of the arguments are the help of each argument. `-h` prints the first paragraph of each comment, and has no more lines
//! than a screen. `--help` prints the whole comments.

use std::ffi::OsString;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, CommandFactory};

use super::arguments::Arguments;
use super::help_texts::{COMMANDS, Help};

/// The groups of commands in the help of the program.
const GROUPS: &[(&str, &[&str])] = &[
    ("Read a memory", &["tree", "show", "search", "grep", "stats", "watch"]),
    ("Change files", &["edit", "put", "mv", "rm", "expire"]),
    ("History", &["log", "diff", "blame", "restore", "undo", "redact"]),
    (
        "Whole memories",
        &[
            "sync",
            "conflicts",
            "resolve",
            "copy",
            "export",
            "import",
            "check",
            "namespaces",
            "erase",
        ],
    ),
    ("Servers and shells", &["serve", "mcp", "completions", "help"]),
];

/// Names that other programs use, and the command for each.
const OTHER_NAMES: &[(&str, &str)] = &[
    ("ls", "tree"),
    ("list", "tree"),
    ("cat", "show"),
    ("view", "show"),
    ("read", "show"),
    ("get", "show"),
    ("find", "search"),
    ("status", "stats"),
    ("info", "stats"),
    ("du", "stats"),
    ("init", "put"),
    ("add", "put"),
    ("write", "put"),
    ("create", "put"),
    ("rename", "mv"),
    ("move", "mv"),
    ("delete", "rm"),
    ("remove", "rm"),
    ("history", "log"),
    ("annotate", "blame"),
    ("revert", "undo"),
    ("rollback", "restore"),
    ("checkout", "restore"),
    ("cp", "copy"),
    ("backup", "export"),
    ("fsck", "check"),
    ("verify", "check"),
    ("clear", "erase"),
    ("merge", "resolve"),
    ("server", "serve"),
    ("open", "serve"),
];

/// The help of the program, in the short and in the long form.
const MORE: &str = "\
`memdir COMMAND -h` has examples, `memdir help COMMAND` all details.
`memdir --help` explains stores, times, ids and exit codes.";

const DETAILS: &str = "\
STORE is the address of a memory:
  ./memory                 a local directory (any path), in the layout of the SDKs' own tools
  dir:./notes              the files in that very directory
  sqlite:agent.db          an SQLite database
  postgres://…, s3://…     the other stores that this build supports
  env:NAME                 the address in the environment variable NAME. Use it for an address with
                           a password: other users of the machine can see the arguments

The keys of encrypted stores are in environment variables: MEMDIR_ENCRYPTION_KEY, and for copy
MEMDIR_FROM_ENCRYPTION_KEY and MEMDIR_TO_ENCRYPTION_KEY, for sync MEMDIR_A_ENCRYPTION_KEY and
MEMDIR_B_ENCRYPTION_KEY.

PATH is a path in the memory, such as /memories/notes.md.

TIME is a time such as 14:30, 'yesterday 9:00', today, 2026-03-14 or 2026-03-14T15:09:26Z, or how
long ago: 30m, 2h, 3d, 1w. Without a zone it is in the zone of this computer (TZ). A time of day
alone is the last such time, today's or yesterday's.

ID is the id of a version or a change, as `memdir log` prints it. At least 6 digits of its beginning
or its end are enough, if no other id has them.

Exit codes:
  0  success
  1  refused, or problems were found, or grep or search found nothing
  2  wrong arguments or configuration
  3  a store does not exist, cannot be opened or reached, or fails
  4  a sync stopped, because it would delete too much
  130  Ctrl-C stopped a sync

`memdir COMMAND -h` has examples, `memdir help COMMAND` all details.";

/// The program's commands and arguments, with their whole help.
pub(super) fn program() -> Command {
    let mut program = Arguments::command().after_help(MORE).after_long_help(DETAILS);
    let names: Vec<String> =
        program.get_subcommands().map(|command| command.get_name().to_owned()).collect();
    for name in names {
        if let Some(help) = COMMANDS.iter().find(|help| help.name == name) {
            program = program.mut_subcommand(&name, |command| with_help(command, help));
        }
    }
    let groups = groups(&program);
    program.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{groups}Options:\n{{options}}{{after-help}}\n"
    ))
}

fn with_help(command: Command, help: &Help) -> Command {
    let examples = format!("Examples:\n  {}", help.examples.join("\n  "));
    let short = match help.takes_options {
        true => format!(
            "{examples}\n\nThe options of the memory, such as --max-files, are in `memdir help {}`.",
            help.name
        ),
        false => examples.clone(),
    };
    let details = match help.details {
        "" => examples,
        details => format!("{examples}\n\n{details}"),
    };
    command.after_help(short).after_long_help(details)
}

/// The commands of this build in their groups, with their purposes.
fn groups(program: &Command) -> String {
    let mut text = String::new();
    for (group, names) in GROUPS {
        let mut lines = String::new();
        for name in *names {
            let about = match *name {
                "help" => Some("Print the help of a command".to_owned()),
                name => program.find_subcommand(name).map(|command| {
                    command.get_about().map(ToString::to_string).unwrap_or_default()
                }),
            };
            if let Some(about) = about {
                lines += &format!("  {name:<12} {about}\n");
            }
        }
        text += &format!("{group}:\n{lines}\n");
    }
    text
}

/// Adds the command that is probably meant, if people who know other programs type the unknown one.
pub(super) fn suggest_command(error: &mut clap::Error) {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return;
    }
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidSubcommand) else {
        return;
    };
    let meant = OTHER_NAMES.iter().find(|(other, _)| given == other).map(|(_, command)| *command);
    // This build may be without a server.
    if let Some(command) = meant.filter(|name| Arguments::command().find_subcommand(name).is_some())
    {
        let meant = ContextValue::Strings(vec![command.to_owned()]);
        error.insert(ContextKind::SuggestedSubcommand, meant);
    }
}

/// The text of an error, which ends with the command that prints the help. `arguments` are those of the program.
pub(super) fn with_command(text: &str, arguments: &[OsString]) -> String {
    const TRY: &str = "For more information, try '--help'.";
    let program = Arguments::command();
    let mut names = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    let command = names.find_map(|name| program.find_subcommand(name)).map(Command::get_name);
    let next = match command {
        Some(name) => format!("See `memdir help {name}`."),
        None => "See `memdir --help`.".to_owned(),
    };
    text.replace(TRY, &next)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(all(feature = "mcp", feature = "page"))]
    fn every_command_is_in_a_group_and_has_examples() {
        let program = Arguments::command();
        let mut grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| *names).copied().collect();
        grouped.retain(|name| *name != "help");
        let mut commands: Vec<&str> = program.get_subcommands().map(Command::get_name).collect();
        let mut helped: Vec<&str> = COMMANDS.iter().map(|help| help.name).collect();
        grouped.sort_unstable();
        commands.sort_unstable();
        helped.sort_unstable();
        assert_eq!(grouped, commands);
        assert_eq!(helped, commands);
        for help in COMMANDS {
            assert!((2..=4).contains(&help.examples.len()), "{}", help.name);
            let takes_options = program
                .find_subcommand(help.name)
                .unwrap()
                .get_arguments()
                .any(clap::Arg::is_hide_short_help_set);
            assert_eq!(help.takes_options, takes_options, "{}", help.name);
        }
    }

    #[test]
    fn other_names_are_no_commands_and_mean_one() {
        let program = Arguments::command();
        for (other, command) in OTHER_NAMES {
            assert!(program.find_subcommand(other).is_none(), "{other}");
            let is_left_out = matches!(*command, "serve" | "mcp");
            assert!(program.find_subcommand(command).is_some() || is_left_out, "{command}");
        }
    }

    /// The words of each command line of the program in a line for a shell. Variables and commands in it stay as they are.
    fn command_lines(example: &str) -> Vec<Vec<String>> {
        let (mut lines, mut words, mut word) = (Vec::new(), Vec::new(), None::<String>);
        let mut quote = None;
        for letter in example.chars().chain([';']) {
            match (quote, letter) {
                (Some(mark), letter) if mark == letter => quote = None,
                (Some(_), letter) => word.get_or_insert_default().push(letter),
                (None, '\'' | '"') => {
                    quote = Some(letter);
                    word.get_or_insert_default();
                }
                (None, ' ' | ';' | '|' | '>') => words.extend(word.take()),
                (None, letter) => word.get_or_insert_default().push(letter),
            }
            // After `>` comes a file, which is no argument.
            if quote.is_none() && matches!(letter, ';' | '|' | '>') {
                lines.push(std::mem::take(&mut words));
            }
        }
        let start = |line: &Vec<String>| line.iter().position(|word| word == "memdir");
        let comment =
            |line: &[String]| line.iter().position(|word| word == "#").unwrap_or(line.len());
        let lines = lines.iter().filter_map(|line| Some(&line[start(line)?..]));
        lines.map(|line| line[..comment(line)].to_vec()).collect()
    }

    #[test]
    #[cfg(all(feature = "mcp", feature = "page"))]
    fn the_arguments_of_the_examples_are_valid() {
        for help in COMMANDS {
            for example in help.examples {
                let lines = command_lines(example);
                assert!(!lines.is_empty(), "{example}");
                for line in lines {
                    let parsed = super::program().try_get_matches_from(&line);
                    assert!(parsed.is_ok(), "{example}: {line:?} {:?}", parsed.err());
                }
            }
        }
    }

    /// A screen has at least `COLUMNS` columns. `-h` of a command has at most `LINES` lines.
    #[test]
    fn help_fits_on_a_screen() {
        const COLUMNS: usize = 100;
        const LINES: usize = 36;
        let mut program = program();
        program.build();
        for command in program.get_subcommands_mut() {
            let name = command.get_name().to_owned();
            let about = command.get_about().map(ToString::to_string).unwrap_or_default();
            assert!(about.len() <= 80 && !about.contains(". "), "{name}: {about}");
            let (short, long) = (command.render_help(), command.render_long_help());
            let (short, long) = (short.to_string(), long.to_string());
            assert!(short.lines().count() <= LINES, "{name}: {}\n{short}", short.lines().count());
            let lines = short.lines().chain(long.lines());
            let too_long: Vec<_> = lines.filter(|line| line.chars().count() > COLUMNS).collect();
            assert!(too_long.is_empty(), "{name}: {too_long:#?}");
        }
        for help in [program.render_help(), program.render_long_help()].map(|help| help.to_string())
        {
            assert!(help.lines().all(|line| line.chars().count() <= COLUMNS), "{help}");
        }
    }
}

//! The examples of each command, and what its long help says about the command as a whole.
//!
//! `tests/integration/cli_help.rs` runs every example.

/// The help of a command, beyond that of its arguments.
pub(super) struct Help {
    pub(super) name: &'static str,
    /// Lines for a shell.
    pub(super) examples: &'static [&'static str],
    /// Further paragraphs of the long help.
    pub(super) details: &'static str,
    /// Whether the command takes the options of a memory, which only the long help lists.
    pub(super) takes_options: bool,
}

/// About the commands that change files.
const POLICIES: &str = "\
Options are not stored with a memory. The limits, patterns of paths and rules for sensitive text of
your program apply only if you pass them here. If you pass none, a line on standard error says so,
except with --json or if the environment variable MEMDIR_QUIET is set. If the store has a history,
the change is recorded, and `memdir undo` can undo it.";

/// About the commands that restore a state from the history.
const RESTORED: &str = "\
Nothing is changed if something is in the way of a file, such as a file at the path of its
directory. The exit code is then 1, and standard error names each such path.";

pub(super) const COMMANDS: &[Help] = &[
    Help {
        name: "tree",
        examples: &[
            "memdir tree ./memory                  # all files that the agent sees",
            "memdir tree ./memory --at 2d          # as they were two days ago",
            "memdir tree sqlite:agent.db /memories/team --all",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "show",
        examples: &[
            "memdir show ./memory /memories/notes.md",
            "memdir show ./memory /memories/notes.md --lines       # as the agent views it",
            "memdir show ./memory /memories/notes.md --at 2h       # as it was two hours ago",
            "memdir show ./memory --version 4f1c90000002           # a version of `memdir log`",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "search",
        examples: &[
            "memdir search ./memory who likes C++",
            "memdir search ./memory 'tea -espresso' --path /memories/notes.md -n 3",
            "memdir search ./memory '\"TODO coffee\" path:notes'",
        ],
        details: "\
\"green tea\" requires a phrase, -coffee excludes a word, path:notes requires a text in the path.
Quote them for the shell. Hidden files are left out. At most 1,000 files are printed.

Exit codes: 0 if something is found, 1 if nothing is, 2 if the path is wrong.",
        takes_options: false,
    },
    Help {
        name: "grep",
        examples: &[
            "memdir grep ./memory 'tea|coffee'",
            "memdir grep ./memory -iF 'c++' /memories/notes -C 2",
            "memdir grep ./memory TODO -l | head",
            "memdir grep ./memory password --history",
        ],
        details: "\
A pattern has at most 4,096 bytes, and matching takes linear time. \\w, \\d, \\s, \\b and -i cover ASCII
only; with -F, -i covers every letter.

Exit codes: 0 if something is found, 1 if nothing is, 2 if the pattern or the path is wrong.",
        takes_options: false,
    },
    Help {
        name: "stats",
        examples: &[
            "memdir stats ./memory",
            "memdir stats sqlite:agent.db --max-files 500 --max-total-bytes 1000000",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "edit",
        examples: &[
            "memdir edit ./memory /memories/notes.md",
            "EDITOR='code --wait' memdir edit ./memory /memories/notes.md --max-file-bytes 10000",
        ],
        details: POLICIES,
        takes_options: true,
    },
    Help {
        name: "put",
        examples: &[
            "memdir put ./memory /memories/handbook.md handbook.md",
            "date | memdir put ./memory /memories/today.md --as cron",
            "memdir show ./memory /memories/notes.md > old; sed s/tea/coffee/ old > new",
            "memdir put ./memory /memories/notes.md new --if-unchanged old",
        ],
        details: POLICIES,
        takes_options: true,
    },
    Help {
        name: "mv",
        examples: &[
            "memdir mv ./memory /memories/draft.md /memories/plan.md",
            "memdir mv ./memory /memories/todo.md /memories/archive    # into a directory",
        ],
        details: POLICIES,
        takes_options: true,
    },
    Help {
        name: "rm",
        examples: &[
            "memdir rm ./memory /memories/old.md /memories/older.md",
            "memdir rm ./memory -r /memories/archive --dry-run",
        ],
        details: POLICIES,
        takes_options: true,
    },
    Help {
        name: "expire",
        examples: &[
            "memdir expire ./memory --after 90d --dry-run",
            "memdir expire ./memory --after 90d --never /memories/handbook --never '/memories/**/*.pin.md'",
        ],
        details: POLICIES,
        takes_options: true,
    },
    Help {
        name: "watch",
        examples: &[
            "memdir watch ./memory",
            "memdir watch sqlite:agent.db /memories/team --json --every 5s",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "log",
        examples: &[
            "memdir log ./memory -p --since 2h               # what changed, with diffs",
            "memdir log ./memory /memories/notes.md -n 5     # the last changes of a file",
            "memdir log ./memory --actor 'session 7' --json",
            "memdir log ./memory --format git-fast-import | git -C repository fast-import",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "diff",
        examples: &[
            "memdir diff ./memory 4f1c90000002                 # what this version changed",
            "memdir diff ./memory 63ab10000002 4f1c90000002    # between two versions",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "blame",
        examples: &[
            "memdir blame ./memory /memories/notes.md",
            "memdir blame ./memory /memories/notes.md --json",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "restore",
        examples: &[
            "memdir restore ./memory d20f70000002                 # the id of a deletion: the deleted file",
            "memdir restore ./memory 63ab10000002 --overwrite     # an earlier version",
            "memdir restore ./memory --all --at 2h --dry-run      # all files: see first what would change",
            "memdir restore ./memory --all --at 'yesterday 9:00'",
        ],
        details: RESTORED,
        takes_options: false,
    },
    Help {
        name: "undo",
        examples: &[
            "memdir undo ./memory 4f1c90000000                   # one change",
            "memdir undo ./memory 4f1c90000000 --merge --dry-run",
            "memdir undo ./memory --since 2h --actor 'session 7' --dry-run",
        ],
        details: RESTORED,
        takes_options: false,
    },
    Help {
        name: "redact",
        examples: &[
            "memdir redact ./memory 63ab10000002 --reason 'it had a password'",
            "memdir redact ./memory --text hunter2 --reason 'a password'          # list the matches",
            "memdir redact ./memory --text hunter2 --reason 'a password' --yes    # remove them",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "sync",
        examples: &[
            "memdir sync ./memory s3://bucket/team --dry-run",
            "memdir sync ./memory s3://bucket/team",
            "memdir sync ./memory s3://bucket/team --watch",
            "memdir sync --all --config memdir.toml --dry-run",
        ],
        details: "\
The keys of encrypted memories are in MEMDIR_A_ENCRYPTION_KEY and MEMDIR_B_ENCRYPTION_KEY.

Exit code: 1 if conflicts were kept, files left out, or versions not redacted; 4 if too much would
be deleted; 130 after Ctrl-C. With --watch, Ctrl-C is no failure. With --all, the highest exit code
of all pairs.",
        takes_options: false,
    },
    Help {
        name: "conflicts",
        examples: &["memdir conflicts ./memory", "memdir conflicts ./memory --diff"],
        details: "\
Exit code: 1 if there are conflicts.",
        takes_options: false,
    },
    Help {
        name: "resolve",
        examples: &[
            "memdir resolve ./memory /memories/notes.md --keep copy",
            "memdir resolve ./memory /memories/notes.md --edit",
        ],
        details: POLICIES,
        takes_options: true,
    },
    Help {
        name: "copy",
        examples: &[
            "memdir copy ./memory sqlite:agent.db --dry-run",
            "memdir copy ./memory sqlite:agent.db",
            "MEMDIR_TO_ENCRYPTION_KEY=\"$(cat key)\" memdir copy ./memory sqlite:encrypted.db --encrypt-names",
        ],
        details: "\
Exit code: 1 if the destination has another content, or a history of its own.",
        takes_options: false,
    },
    Help {
        name: "export",
        examples: &[
            "memdir export ./memory memory.tar",
            "memdir export sqlite:agent.db memory.tar --overwrite",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "import",
        examples: &[
            "memdir import CLAUDE.md ./memory",
            "memdir import ./notes ./memory --to /memories/notes --dry-run",
            "memdir import notes.tar sqlite:agent.db --max-file-bytes 100000 --sensitive-text reject",
            "memdir import memory.tar sqlite:copy.db    # an archive of `memdir export`",
        ],
        details: "\
Options are not stored with a memory. The limits, patterns of paths and rules for sensitive text of
your program apply only if you pass them here. If the store has a history, `memdir undo` can undo
the import.

Exit codes: 0 if everything is in the memory, 1 if something was left out or is in the way. Hidden
files are left out with exit code 0.",
        takes_options: true,
    },
    Help {
        name: "check",
        examples: &["memdir check ./memory", "memdir check sqlite:agent.db --json"],
        details: "\
Exit codes: 0 if there are no problems, 1 if there are, 3 if the store cannot be opened.",
        takes_options: false,
    },
    Help {
        name: "namespaces",
        examples: &[
            "memdir namespaces postgres://localhost/agents",
            "memdir namespaces s3://bucket/prefix --json",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "erase",
        examples: &[
            "memdir erase ./memory --dry-run",
            "memdir erase ./memory --yes",
            "memdir erase 'postgres://localhost/agents?namespace=user-42' --yes",
        ],
        details: "",
        takes_options: false,
    },
    Help {
        name: "serve",
        examples: &[
            "memdir serve ./memory --open",
            "memdir serve ./memory sqlite:team.db --as Ann",
            "memdir serve ./memory --mount-read-only /memories/handbook=./docs",
            "memdir serve env:TEAM_MEMORY --writable",
        ],
        details: "",
        takes_options: true,
    },
    Help {
        name: "mcp",
        examples: &[
            "memdir mcp ./memory --max-total-bytes 1000000 --history",
            "memdir mcp sqlite:agent.db --http --read-only",
            "memdir mcp ./memory --mount /memories/team=sqlite:team.db",
        ],
        details: "",
        takes_options: true,
    },
    Help {
        name: "completions",
        examples: &[
            "memdir completions bash > ~/.local/share/bash-completion/completions/memdir",
            "memdir completions zsh > \"${fpath[1]}/_memdir\"",
            "memdir completions fish > ~/.config/fish/completions/memdir.fish",
        ],
        details: "",
        takes_options: false,
    },
];

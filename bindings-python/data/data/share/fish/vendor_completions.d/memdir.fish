# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_memdir_global_optspecs
    string join \n json h/help V/version
end

function __fish_memdir_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_memdir_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_memdir_using_subcommand
    set -l cmd (__fish_memdir_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c memdir -n "__fish_memdir_needs_command" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_needs_command" -s h -l help -d 'Print help'
complete -c memdir -n "__fish_memdir_needs_command" -s V -l version -d 'Print version'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "tree" -d 'Show what a store holds, or held at a time: sizes, ages and names'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "show" -d 'Print a file\'s bytes, as they are or as they were'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "grep" -d 'Search the names and lines of the files that a memory shows'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "stats" -d 'Show how much a memory holds, and which files are large, old or unused'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "edit" -d 'Change a file in an editor'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "put" -d 'Write a file, from a file or from standard input'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "mv" -d 'Rename or move a file or a directory'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "rm" -d 'Delete files, and with -r directories'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "expire" -d 'Delete files that were not used for a time'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "watch" -d 'Print a line for each change of a memory, as it happens'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "log" -d 'Show the changes of a memory with history, newest first'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "diff" -d 'Show what changed between two versions, or with one, what it changed'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "blame" -d 'Show which change brought each line of a file, who made it and when'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "restore" -d 'Bring back a version of a file, or everything as it was at a time'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "undo" -d 'Undo a change, or all changes since a time'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "redact" -d 'Remove a version\'s content, or all contents with a text, from the history for good'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "erase" -d 'Remove everything for good: all files, and the whole history'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "copy" -d 'Copy everything from one store into another'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "export" -d 'Write everything that a store holds into one file, an archive'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "import" -d 'Bring files into a store, or an archive of `memdir export`'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "check" -d 'Read all that a store and its history hold, and report what is not as it should be'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "namespaces" -d 'List the memories in a PostgreSQL database or a bucket, and how much each holds'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "serve" -d 'Show memories on a page in the browser: what the agent remembers, and who changed it'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "mcp" -d 'Serve a memory to programs that speak the Model Context Protocol (MCP)'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "completions" -d 'Print what completes memdir\'s commands and flags in a shell'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c memdir -n "__fish_memdir_using_subcommand tree" -s d -l depth -d 'Show this many levels only' -r
complete -c memdir -n "__fish_memdir_using_subcommand tree" -l at -d 'Show what there was at this time, as the history tells' -r
complete -c memdir -n "__fish_memdir_using_subcommand tree" -s a -l all -d 'Show hidden entries too, which the agent does not see in listings'
complete -c memdir -n "__fish_memdir_using_subcommand tree" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand tree" -s h -l help -d 'Print help'
complete -c memdir -n "__fish_memdir_using_subcommand show" -l version -d 'Print a version of the history instead, which `memdir log` lists' -r
complete -c memdir -n "__fish_memdir_using_subcommand show" -l at -d 'Print what the file held at this time, as the history tells' -r
complete -c memdir -n "__fish_memdir_using_subcommand show" -s l -l lines -d 'Print what the agent\'s `view` answers instead, with numbered lines'
complete -c memdir -n "__fish_memdir_using_subcommand show" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand show" -s h -l help -d 'Print help'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s B -l before-context -d 'Print this many lines before each match' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s A -l after-context -d 'Print this many lines after each match' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s C -l context -d 'Print this many lines before and after each match' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s n -l limit -d 'Maximum number of results: names and lines, or paths with -l' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s F -l fixed-strings -d 'Treat PATTERN as plain text'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s i -l ignore-case -d 'Ignore case'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s l -l files-with-matches -d 'Print the paths only, each once'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -l history -d 'Also search past versions, for text that is no longer in the files'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l max-files -d 'The most files that the memory may hold' -r
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l max-total-bytes -d 'The most bytes that all files together may hold' -r
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l max-file-bytes -d 'The most bytes that a file may hold' -r
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l if-unchanged -d 'Only replace a file that holds exactly what FILE holds' -r -F
complete -c memdir -n "__fish_memdir_using_subcommand put" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l create -d 'Only make a new file: one that is there is not replaced'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand put" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -s r -l recursive -d 'Delete directories, too, with everything in them'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -s n -l dry-run -d 'Only print what would be deleted'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l after -d 'Delete files that were not used for so long: 12h, 90d, 26w' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l never -d 'Files that match this pattern stay, as with --never-expire' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -s n -l dry-run -d 'Only print what would be deleted'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand watch" -l every -d 'Look so often; by default twice a second, once at a store on another machine' -r
complete -c memdir -n "__fish_memdir_using_subcommand watch" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand log" -l actor -d 'Only the versions that this actor made' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -l since -d 'Only the versions that were made at this time or later' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -s n -l limit -d 'The most versions' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -l before -d 'Only the versions before this one, such as the last one shown' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -l format -d 'Print a stream for another program instead: git-fast-import' -r -f -a "git-fast-import\t''"
complete -c memdir -n "__fish_memdir_using_subcommand log" -s p -l patch -d 'Show what each change did to the file, too, as a unified diff'
complete -c memdir -n "__fish_memdir_using_subcommand log" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand log" -s h -l help -d 'Print help'
complete -c memdir -n "__fish_memdir_using_subcommand diff" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand diff" -s h -l help -d 'Print help'
complete -c memdir -n "__fish_memdir_using_subcommand blame" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand blame" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l at -d 'The time' -r
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l overwrite -d 'Also over what was changed since'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l all -d 'Bring back everything as it was at a time'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l dry-run -d 'Only print what would be changed'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l since -d 'Undo all changes since this time' -r
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l actor -d 'Only what this actor changed' -r
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l skip-conflicts -d 'Skip files that later changes depend on, and undo the rest'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l merge -d 'Keep later changes of other lines that do not touch the undone lines'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -s n -l dry-run -d 'Only print the changes; merged files as a unified diff'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l text -d 'Every version and name with this text. Other users of the machine may see it meanwhile' -r
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l reason -d 'Reason, shown to anyone who later asks for the content' -r
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l regex -d 'The text is a regular expression, as for grep'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -s i -l ignore-case -d 'Upper and lower case are the same'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -s y -l yes -d 'Remove what has the text, and do not only print it'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -s y -l yes -d 'Skip the confirmation'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -s n -l dry-run -d 'Only print how much would be removed'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l durability -d 'What a copied file survives: "full" a loss of power, "relaxed" the end of the process' -r -f -a "full\t''
relaxed\t''"
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l overwrite -d 'Replace files that have another content'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l without-history -d 'Copy the files alone'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l encrypt-names -d 'If the destination is made, with a key: encrypt its names too'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -s n -l dry-run -d 'Only compare, and print what would be copied'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand export" -l overwrite -d 'Replace a file that is there'
complete -c memdir -n "__fish_memdir_using_subcommand export" -l without-history -d 'Export the files alone'
complete -c memdir -n "__fish_memdir_using_subcommand export" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l to -d 'The directory of the memory that the files go into; it is made' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -s a -l all -d 'Import hidden files and node_modules, too'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l overwrite -d 'Replace files that have another content'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l without-history -d 'Of an archive, import the files alone, under the policies'
complete -c memdir -n "__fish_memdir_using_subcommand import" -s n -l dry-run -d 'Only print what would be done with each file'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand check" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand check" -s h -l help -d 'Print help'
complete -c memdir -n "__fish_memdir_using_subcommand namespaces" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand namespaces" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l mount -d 'Mount another store into the first one' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l mount-read-only -d 'Mount another store, which exists, and can be viewed but not changed' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l port -d 'The port; by default the first of 8767 to 8776 that is free, or another one if none is' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l as -d 'Who makes this change, for the history' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l writable -d 'Also change what is not on this machine'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l open -d 'Open the page in the browser'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l mount -d 'Mount another store into the first one' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l mount-read-only -d 'Mount another store, which exists, and can be viewed but not changed' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l prefix -d 'What the names of the tools begin with, such as memory_' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l http -d 'Serve over HTTP instead, at a loopback address' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l on-existing -d 'Selects how create treats an existing file: "error" refuses, "overwrite" replaces the whole content atomically' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l read-only-paths -d 'Patterns of paths that no command may change, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write: "off" does nothing, "reject" refuses the command, "redact" writes [REDACTED:rule] instead of them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones: patterns in the syntax of Rust\'s regex-lite, which has no look-around and no back-references' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l expire-after -d 'Before its first command, the memory removes files that have not been used for this long' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history-max-bytes -d 'The approximate maximum size of the history in bytes; beyond it the oldest versions are removed, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l actor -d 'The actor of this memory\'s changes, for its history: a session, a user, the id of a tool call' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l durability -d 'The failures that an acknowledged command survives: "full" a loss of power, "relaxed" only a crash of the process' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l lock-timeout -d 'The time that a change waits for other writers of the same store (local directory, SQLite, PostgreSQL)' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand completions" -l json -d 'Print JSON, one object a line'
complete -c memdir -n "__fish_memdir_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "tree" -d 'Show what a store holds, or held at a time: sizes, ages and names'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "show" -d 'Print a file\'s bytes, as they are or as they were'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "grep" -d 'Search the names and lines of the files that a memory shows'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "stats" -d 'Show how much a memory holds, and which files are large, old or unused'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "edit" -d 'Change a file in an editor'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "put" -d 'Write a file, from a file or from standard input'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "mv" -d 'Rename or move a file or a directory'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "rm" -d 'Delete files, and with -r directories'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "expire" -d 'Delete files that were not used for a time'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "watch" -d 'Print a line for each change of a memory, as it happens'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "log" -d 'Show the changes of a memory with history, newest first'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "diff" -d 'Show what changed between two versions, or with one, what it changed'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "blame" -d 'Show which change brought each line of a file, who made it and when'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "restore" -d 'Bring back a version of a file, or everything as it was at a time'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "undo" -d 'Undo a change, or all changes since a time'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "redact" -d 'Remove a version\'s content, or all contents with a text, from the history for good'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "erase" -d 'Remove everything for good: all files, and the whole history'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "copy" -d 'Copy everything from one store into another'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "export" -d 'Write everything that a store holds into one file, an archive'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "import" -d 'Bring files into a store, or an archive of `memdir export`'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "check" -d 'Read all that a store and its history hold, and report what is not as it should be'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "namespaces" -d 'List the memories in a PostgreSQL database or a bucket, and how much each holds'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "serve" -d 'Show memories on a page in the browser: what the agent remembers, and who changed it'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "mcp" -d 'Serve a memory to programs that speak the Model Context Protocol (MCP)'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "completions" -d 'Print what completes memdir\'s commands and flags in a shell'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show grep stats edit put mv rm expire watch log diff blame restore undo redact erase copy export import check namespaces serve mcp completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'

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

complete -c memdir -n "__fish_memdir_needs_command" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_needs_command" -s V -l version -d 'Print version'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "tree" -d 'List files with sizes and ages, now or at an earlier time'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "show" -d 'Print a file, as it is or as it was'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "search" -d 'Find the files that answer a question best'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "grep" -d 'Search the names and lines of files'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "stats" -d 'Show how much a memory holds, and its largest, oldest and least used files'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "edit" -d 'Change a file in an editor'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "put" -d 'Write a whole file, from a file or from standard input'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "mv" -d 'Rename or move a file or a directory'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "rm" -d 'Delete files, and directories with -r'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "expire" -d 'Delete files that have not been used for a while'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "watch" -d 'Print each change of a memory as it happens'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "log" -d 'List the changes in the history, newest first'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "diff" -d 'Show what a version changed, or the difference between two versions'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "blame" -d 'Show who added each line of a file, and when'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "restore" -d 'Restore a version of a file, or everything as it was at a time'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "undo" -d 'Undo a change, or all changes since a time'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "redact" -d 'Remove a content, or every content with a text, from the history for good'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "erase" -d 'Remove all files and the whole history for good'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "sync" -d 'Make two memories equal, in both directions'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "conflicts" -d 'List the conflicts that a sync has kept'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "resolve" -d 'End a conflict that a sync has kept'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "copy" -d 'Copy everything from one store into another'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "export" -d 'Write a whole memory with its history into one file, an archive'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "import" -d 'Import files, a directory, a tar file, or an archive of `memdir export`'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "check" -d 'Verify a store and its history, and report problems'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "namespaces" -d 'List the memories in a PostgreSQL database or a bucket, with their sizes'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "serve" -d 'Show memories on a page in the browser'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "mcp" -d 'Serve a memory to programs that speak the Model Context Protocol (MCP)'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "completions" -d 'Print the completions of commands and options for a shell'
complete -c memdir -n "__fish_memdir_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c memdir -n "__fish_memdir_using_subcommand tree" -s d -l depth -d 'List only this many levels' -r
complete -c memdir -n "__fish_memdir_using_subcommand tree" -l at -d 'List the files that existed at this time' -r
complete -c memdir -n "__fish_memdir_using_subcommand tree" -s a -l all -d 'Also list hidden entries, which the agent does not see'
complete -c memdir -n "__fish_memdir_using_subcommand tree" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand tree" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand show" -l version -d 'Print this version, which `memdir log` lists' -r
complete -c memdir -n "__fish_memdir_using_subcommand show" -l at -d 'Print the content that the file had at this time' -r
complete -c memdir -n "__fish_memdir_using_subcommand show" -s l -l lines -d 'Print what the agent\'s `view` returns, with numbered lines'
complete -c memdir -n "__fish_memdir_using_subcommand show" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand search" -l path -d 'The file or directory to search' -r
complete -c memdir -n "__fish_memdir_using_subcommand search" -s n -l limit -d 'Print at most this many files' -r
complete -c memdir -n "__fish_memdir_using_subcommand search" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand search" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s B -l before-context -d 'Print this many lines before each match' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s A -l after-context -d 'Print this many lines after each match' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s C -l context -d 'Print this many lines before and after each match' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s n -l limit -d 'Print at most this many results: names and lines, or paths with -l' -r
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s F -l fixed-strings -d 'Treat PATTERN as literal text'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s i -l ignore-case -d 'Ignore case: of ASCII letters, or with -F of every letter'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s l -l files-with-matches -d 'Print only the paths, each once'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -l history -d 'Also search earlier versions, for matches that the files no longer have'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand grep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l max-files -d 'The most files that the memory may have' -r
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l max-total-bytes -d 'The most bytes that all files together may have' -r
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l max-file-bytes -d 'The most bytes that a file may have' -r
complete -c memdir -n "__fish_memdir_using_subcommand stats" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand edit" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l if-unchanged -d 'Replace the file only if its content equals that of FILE' -r -F
complete -c memdir -n "__fish_memdir_using_subcommand put" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand put" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand put" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand put" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand put" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand put" -l create -d 'Only create a new file, and never replace an existing one'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand put" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand put" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand mv" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand rm" -s r -l recursive -d 'Also delete directories, with everything in them'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -s n -l dry-run -d 'Only print what would be deleted'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l after -d 'Delete files that have not been used for this long: 12h, 90d, 26w' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l never -d 'Keep files that match this pattern; can be repeated' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand expire" -s n -l dry-run -d 'Only print what would be deleted'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand expire" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand watch" -l every -d 'The polling interval, such as 5s' -r
complete -c memdir -n "__fish_memdir_using_subcommand watch" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand watch" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand log" -l actor -d 'Only changes by this actor' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -l since -d 'Only changes at this time or later, such as 2h or yesterday' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -s n -l limit -d 'Print at most this many versions' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -l before -d 'Only versions before this one, such as the last one printed' -r
complete -c memdir -n "__fish_memdir_using_subcommand log" -l format -d 'Print the whole history for another program: git-fast-import' -r -f -a "git-fast-import\t''"
complete -c memdir -n "__fish_memdir_using_subcommand log" -s p -l patch -d 'Also print each change as a unified diff'
complete -c memdir -n "__fish_memdir_using_subcommand log" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand diff" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand diff" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand blame" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand blame" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l at -d 'The time for --all, such as 2h, 14:30 or 2026-03-14' -r
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l overwrite -d 'Also replace files that have changed since'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l all -d 'Restore everything as it was at a time (--at)'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l dry-run -d 'Only print what would be changed'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand restore" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l since -d 'Undo all changes since this time, such as 2h or yesterday' -r
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l actor -d 'With --since: only changes by this actor' -r
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l skip-conflicts -d 'Skip files that later changes depend on, and undo the rest'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l merge -d 'Keep later changes of lines that the undone change does not touch'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -s n -l dry-run -d 'Only print what would be changed; merged files as a unified diff'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand undo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l text -d 'Redact every version and name with this text' -r
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l reason -d 'The reason, shown to anyone who later asks for the content' -r
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l regex -d 'Treat the text as a regular expression, as in grep'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -s i -l ignore-case -d 'Ignore case'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -s y -l yes -d 'Remove the matches instead of only listing them'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand redact" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -s y -l yes -d 'Skip the confirmation'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -s n -l dry-run -d 'Only count what would be removed'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand erase" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l config -d 'Use this file instead of memdir.toml' -r -F
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l every -d 'The polling interval of --watch for a distant memory, such as 5s' -r
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l on-conflict -d 'The winner of a conflict: keep-both, a or b' -r -f -a "keep-both\t''
a\t''
b\t''"
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l exclude -d 'Leave these paths as they are; may be repeated' -r
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l max-file-bytes -d 'Leave files as they are that have more bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l all -d 'Sync all pairs of memories that memdir.toml lists'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -s w -l watch -d 'Keep the memories equal until Ctrl-C'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -s n -l dry-run -d 'Only compare, and print what would be changed'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l one-way -d 'Change only the second memory'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l delete -d 'Allow deletions of more than a quarter of the files, or of all'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l redactions -d 'Redact in each history what the other one redacted'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand sync" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand conflicts" -s d -l diff -d 'Also print the difference between both files'
complete -c memdir -n "__fish_memdir_using_subcommand conflicts" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand conflicts" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l keep -d 'The content to keep: original, that of the file, or copy' -r -f -a "original\t''
copy\t''"
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l edit -d 'Merge both contents in the editor'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand resolve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l durability -d 'The failures that a copied file survives: full or relaxed' -r -f -a "full\t''
relaxed\t''"
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l overwrite -d 'Replace files that have another content'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -s n -l dry-run -d 'Only compare, and print what would be copied'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l without-history -d 'Copy the files without their history'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l encrypt-names -d 'Also encrypt the names, if the destination is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand copy" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand export" -l overwrite -d 'Replace an existing file'
complete -c memdir -n "__fish_memdir_using_subcommand export" -l without-history -d 'Export the files without their history'
complete -c memdir -n "__fish_memdir_using_subcommand export" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l to -d 'The directory of the memory that gets the files' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand import" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand import" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand import" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand import" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand import" -s a -l all -d 'Also import hidden files and node_modules'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l overwrite -d 'Replace files that have another content'
complete -c memdir -n "__fish_memdir_using_subcommand import" -s n -l dry-run -d 'Only print what would be done with each file'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l without-history -d 'Import the files of an archive without their history'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand import" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand import" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand check" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand namespaces" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand namespaces" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l mount -d 'Mount another store into the first one; can be repeated' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l mount-read-only -d 'Mount another existing store that can only be viewed' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l port -d 'The port of the page' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l as -d 'The actor that the history records for this change' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l writable -d 'Allow changes of stores on other machines'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l open -d 'Open the page in the browser'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand serve" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l mount -d 'Mount another store into the first one; can be repeated' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l mount-read-only -d 'Mount another existing store that can only be viewed' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l prefix -d 'The prefix of the tools\' names, such as memory_' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l http -d 'Serve over HTTP instead, at a loopback address' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-view-chars -d 'The most characters (Unicode scalar values) that one view shows' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-file-bytes -d 'The most bytes that a file may have after a command' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-total-bytes -d 'The most bytes that all files together may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-files -d 'The most files that the memory may have, including hidden ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l max-image-bytes -d 'The most bytes of a .png, .jpg or .jpeg file that a view shows as an image' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l on-existing -d 'Selects how create treats an existing file' -r -f -a "error\t'Refuses with the documented error'
overwrite\t'Replaces the whole content atomically'"
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l read-only-paths -d 'Patterns of paths that no command may change' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l writable-paths -d 'Patterns of the only paths that commands may change, including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l stale-guard -d 'Refuses an edit that is based on an outdated view' -r -f -a "off\t'Edits are never refused'
on\t'Refuses an insert into a file that has changed since this session of the memory last showed or wrote it'
strict\t'Also refuses such a str_replace, and both commands for a file that it has never shown or written'"
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l sensitive-text -d 'Controls keys, tokens, passwords and payment cards in text that a command would write' -r -f -a "off\t'The text is written unchanged'
reject\t'The command is refused'
redact\t'[REDACTED:rule] is written instead of the text'"
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l sensitive-rules -d 'Your own rules, in addition to the built-in ones' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l expire-after -d 'Before its first command, the memory removes files that have not been used for this long' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l never-expire -d 'Patterns of files that never expire, such as "/memories/handbook", including everything below them' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history-max-age -d 'The history removes versions that are older than this, except the last ten of a file that exists' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history-max-versions -d 'The maximum number of versions that are kept of each file; a file that exists keeps at least ten' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history-max-bytes -d 'The approximate maximum size of the history in bytes' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l actor -d 'The actor of this memory\'s changes, for its history' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l search-language -d 'Selects the language of texts in Latin letters, whose endings search ignores' -r -f -a "auto\t'The language of each file is detected'
none\t'No language: a word is found only in the form of the query'
danish\t'Danish'
dutch\t'Dutch'
english\t'English'
finnish\t'Finnish'
french\t'French'
german\t'German'
italian\t'Italian'
norwegian\t'Norwegian'
polish\t'Polish'
portuguese\t'Portuguese'
spanish\t'Spanish'
swedish\t'Swedish'
turkish\t'Turkish'"
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l search-max-bytes -d 'The most bytes of memory for the index of search, which holds the texts and takes about 1.7 times their size' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l search-recency -d 'Makes search prefer files that were written recently' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l durability -d 'The failures that an acknowledged command survives' -r -f -a "full\t'A loss of power: data and directory are flushed before the command is acknowledged'
relaxed\t'A crash of the process. The operating system decides when to write to the disk'"
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l lock-timeout -d 'The time that a change waits for other writers of the same store' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l namespace -d 'Selects one of several memories in one PostgreSQL database or one bucket' -r
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l no-search -d 'Leave out the tool search, whose index holds the texts in memory'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l read-only -d 'The memory can be viewed but not changed'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l sensitive-on-view -d 'Views show [REDACTED:rule] instead of sensitive text'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l record-access -d 'Records each view and each rename of a file as a use of the file'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l history -d 'Records every change before it is made, so changes can be listed and undone'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l search-keep -d 'Keeps the index of search in hidden files of the store, so the first search of a process reads only the files that have changed'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l encrypt-names -d 'Also encrypts the names in a store that is created with a key'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand mcp" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand completions" -l json -d 'Print JSON, one object per line'
complete -c memdir -n "__fish_memdir_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "tree" -d 'List files with sizes and ages, now or at an earlier time'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "show" -d 'Print a file, as it is or as it was'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "search" -d 'Find the files that answer a question best'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "grep" -d 'Search the names and lines of files'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "stats" -d 'Show how much a memory holds, and its largest, oldest and least used files'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "edit" -d 'Change a file in an editor'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "put" -d 'Write a whole file, from a file or from standard input'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "mv" -d 'Rename or move a file or a directory'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "rm" -d 'Delete files, and directories with -r'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "expire" -d 'Delete files that have not been used for a while'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "watch" -d 'Print each change of a memory as it happens'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "log" -d 'List the changes in the history, newest first'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "diff" -d 'Show what a version changed, or the difference between two versions'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "blame" -d 'Show who added each line of a file, and when'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "restore" -d 'Restore a version of a file, or everything as it was at a time'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "undo" -d 'Undo a change, or all changes since a time'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "redact" -d 'Remove a content, or every content with a text, from the history for good'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "erase" -d 'Remove all files and the whole history for good'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "sync" -d 'Make two memories equal, in both directions'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "conflicts" -d 'List the conflicts that a sync has kept'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "resolve" -d 'End a conflict that a sync has kept'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "copy" -d 'Copy everything from one store into another'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "export" -d 'Write a whole memory with its history into one file, an archive'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "import" -d 'Import files, a directory, a tar file, or an archive of `memdir export`'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "check" -d 'Verify a store and its history, and report problems'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "namespaces" -d 'List the memories in a PostgreSQL database or a bucket, with their sizes'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "serve" -d 'Show memories on a page in the browser'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "mcp" -d 'Serve a memory to programs that speak the Model Context Protocol (MCP)'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "completions" -d 'Print the completions of commands and options for a shell'
complete -c memdir -n "__fish_memdir_using_subcommand help; and not __fish_seen_subcommand_from tree show search grep stats edit put mv rm expire watch log diff blame restore undo redact erase sync conflicts resolve copy export import check namespaces serve mcp completions help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'

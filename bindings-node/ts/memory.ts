/** {@link Memory}: executes commands, without any SDK. */

import type { Cancellation, Engine } from '../native.cjs';
import type {
  BlamedLine,
  Erased,
  Expired,
  ExpiryProgress,
  GrepMatch,
  HistoryMatch,
  PastFile,
  RedactedText,
  Restored,
  SearchResults,
  SensitiveMatch,
  Stats,
  SyncProgress,
  Synced,
  Version,
} from '../results.cjs';

import { CALL_OPTIONS, cancelledWith } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import type {
  CommandFields,
  CreateCommand,
  DeleteCommand,
  InsertCommand,
  RenameCommand,
  StrReplaceFields,
  ViewCommand,
} from './commands.js';
import { withOurErrors, withOurErrorsAsync } from './errors.js';
import {
  FIND_SENSITIVE_OPTIONS,
  GREP_OPTIONS,
  LIST_OPTIONS,
  PROJECT,
  SEARCH_OPTIONS,
  WRITE_OPTIONS,
} from './files.js';
import type {
  Dialect,
  FindSensitiveOptions,
  GrepOptions,
  ListOptions,
  Project,
  SearchOptions,
  ToolDefinition,
  WriteOptions,
} from './files.js';
import {
  HISTORY_QUERY,
  REDACT_TEXT_OPTIONS,
  RESTORE_ALL_OPTIONS,
  RESTORE_OPTIONS,
  UNDO,
  UNDO_OPTIONS,
  millis,
  optionalMillis,
} from './history.js';
import type {
  HistoryQuery,
  RedactTextOptions,
  RestoreAllOptions,
  RestoreOptions,
  Undo,
  UndoOptions,
} from './history.js';
import { engineWith, withoutEmbedder } from './embedder.js';
import { withoutHooks } from './hooks.js';
import type { Answered, HookError, Hooks } from './hooks.js';
import { assertFunction, assertSignal, optionsOf } from './named-options.js';
import type { Names } from './named-options.js';
import type { MemoryOptions } from './options.js';
import { openEngine } from './places.js';
import type { Places } from './places.js';
import { orThrow, reply } from './reply.js';
import type { Reply, Shown, TextOnly } from './reply.js';
import type { Entry } from './store.js';
import { Merger, SYNC_OPTIONS, assertConflictOption } from './sync.js';
import type { SyncOptions } from './sync.js';
import { withRefusals } from './tool-error.js';
import { WATCH_OPTIONS, Watch } from './watch.js';
import type { WatchOptions } from './watch.js';

/** The options of `Memory.expire`. */
export interface ExpireOptions extends CallOptions {
  /** Only returns the files that would be removed. Default false. */
  dryRun?: boolean | undefined;
  /**
   * Called after every 1,000 files and at the end. If it returns `false` or throws, the removal
   * stops; files that are already removed stay removed.
   */
  onProgress?: ((progress: ExpiryProgress) => unknown) | undefined;
}

/** The names of {@link ExpireOptions}. */
const EXPIRE_OPTIONS: Names<ExpireOptions> = { dryRun: true, onProgress: true, ...CALL_OPTIONS };

/** The options of `Memory.erase`. */
export interface EraseOptions extends CallOptions {
  /** Only counts what would be removed. Default false. */
  dryRun?: boolean | undefined;
}

/** The names of {@link EraseOptions}. */
const ERASE_OPTIONS: Names<EraseOptions> = { dryRun: true, ...CALL_OPTIONS };

/** The engine and hooks that a memory shares with its sessions from {@link Memory.actingAs}. */
class Opened {
  constructor(
    readonly engine: Engine,
    readonly hooks: Hooks | undefined,
  ) {}
}

/**
 * The memory directory: executes the commands of Claude's memory tool on a store.
 *
 * @example
 * ```ts
 * const memory = new Memory('./memory');
 * const { content, isError } = await memory.execute({ command: 'view', path: '/memories' });
 * ```
 *
 * The SDK's `betaMemoryTool(new Memory())` calls the methods named after the commands. They reject
 * with the SDK's `ToolError`, whose text is the exact reply for the model.
 */
export class Memory<const Given extends MemoryOptions = MemoryOptions> {
  readonly #engine: Engine;
  readonly #hooks: Hooks | undefined;

  /** Opens the directory `./memory`. */
  constructor();
  /**
   * @param store A directory; `sqlite:agent.db` for an SQLite database; `memory:` for a new store in
   *   this process; your own store; or several of these by their mount points. A directory is created
   *   if it does not exist, and its `memories` directory holds the files: this is the layout of the
   *   SDK's own tool. `undefined` and `null` are rejected, because they usually come from a missing
   *   setting.
   * @throws An error if the address or an option is wrong, or if the store cannot be opened.
   */
  constructor(store: Places, options?: Given);
  constructor(...given: [] | [store: Places, options?: Given]) {
    const [store, options] = given.length === 0 ? (['./memory'] as const) : given;
    if (store instanceof Opened) {
      this.#hooks = store.hooks;
      this.#engine = store.engine;
      return;
    }
    const [others, hooks] = withoutHooks(options);
    const [rest, embedder] = withoutEmbedder(others);
    this.#hooks = hooks;
    const engine = openEngine(store, rest);
    this.#engine = embedder ? engineWith(embedder, engine) : engine;
  }

  /**
   * Executes one tool call. `input` is the call's `input`, its JSON text, or a whole `tool_use`
   * block.
   *
   * A mistake by the model is returned as a reply with `isError`. So is a failure of the store, and
   * a call that was cancelled (`call.signal`) before it began to write.
   */
  async execute(input: unknown, call?: CallOptions): Promise<Reply<Given>> {
    return reply<Given>(await this.#answer(input, undefined, call));
  }

  /**
   * Executes one call of the search by a model, a tool beside the memory tool that
   * {@link searchToolDefinition} declares. `input` is the call's `input`, its JSON text, or a whole
   * `tool_use` block: `query`, and optionally `path` and `limit` (1 to 20 files, 5 by default).
   *
   * The reply has the paths of the best files, and their best passages with the line numbers that a
   * view shows. A mistake by the model is a reply with `isError`, as for {@link execute}. The hooks
   * are not called.
   *
   * @example
   * ```ts
   * const { content } = await memory.executeSearch({ query: 'which tea does Anna like?' });
   * ```
   */
  async executeSearch(input: unknown, call?: CallOptions): Promise<Reply<TextOnly>> {
    assertSignal(call?.signal);
    const answered = await cancelledWith(call?.signal, (cancellation) =>
      this.#engine.executeSearch(input, cancellation),
    );
    return reply<TextOnly>(answered);
  }

  /** Shows a directory two levels deep, the numbered lines of a file, or an image. */
  async view(command: CommandFields<ViewCommand>, call?: CallOptions): Promise<Shown<Given>> {
    return orThrow(reply<Given>(await this.#answer(command, 'view', call)));
  }

  /** Creates a new file and its missing parents. */
  create(command: CommandFields<CreateCommand>, call?: CallOptions): Promise<string> {
    return this.#run('create', command, call);
  }

  /** Replaces the only occurrence of a text in a file. Without `new_str`, the text is deleted. */
  str_replace(command: StrReplaceFields, call?: CallOptions): Promise<string> {
    return this.#run('str_replace', command, call);
  }

  /** Inserts whole lines into a file. */
  insert(command: CommandFields<InsertCommand>, call?: CallOptions): Promise<string> {
    return this.#run('insert', command, call);
  }

  /** Deletes a file, or a directory with everything in it. */
  delete(command: CommandFields<DeleteCommand>, call?: CallOptions): Promise<string> {
    return this.#run('delete', command, call);
  }

  /** Renames or moves a file or directory; never overwrites. */
  rename(command: CommandFields<RenameCommand>, call?: CallOptions): Promise<string> {
    return this.#run('rename', command, call);
  }

  /**
   * Deletes everything below `/memories`. The model cannot call this. Resolves to a confirmation
   * sentence. With a history, all contents stay in the history; `erase` also removes the history.
   */
  async clear(call?: CallOptions): Promise<string> {
    assertSignal(call?.signal);
    const clear = (cancellation?: Cancellation) => this.#engine.clear(cancellation);
    return (await orThrow(reply(await cancelledWith(call?.signal, clear)))) as string;
  }

  /**
   * Removes everything permanently: files, directories, the whole history, and temporary files of killed
   * processes. The model cannot call this. It works with and without the option `history`, is not
   * recorded, and cannot be undone. Read-only mounts are left unchanged.
   *
   * Afterwards the memory is empty and stays usable, also for other processes. If the call fails or is
   * killed, a second call does the rest. memdir cannot remove backups, or the copies of deleted data that
   * a disk or a server keeps.
   */
  erase(options: EraseOptions = {}): Promise<Erased> {
    return this.#ask(options, ERASE_OPTIONS, (engine, cancellation, { dryRun = false }) =>
      engine.erase(dryRun, cancellation),
    );
  }

  /**
   * Removes the files that were not used for `olderThan` milliseconds. The model cannot call this. Resolves to the
   * removed files, sorted by path. With `dryRun` nothing is removed, and these are the files that would be.
   *
   * A change counts as a use of the file. A view or a rename counts only through a memory with `recordAccess`.
   * Directories, files that match `neverExpire`, files that no command may delete, and files that are used during the
   * call are kept. If the call is cancelled, files that are already removed stay removed.
   */
  async expire(olderThan: number, options: ExpireOptions = {}): Promise<Expired[]> {
    const { dryRun = false, onProgress, signal } = optionsOf(options, EXPIRE_OPTIONS);
    assertFunction('onProgress', onProgress);
    const watch = onProgress && ((progress: ExpiryProgress) => onProgress(progress) !== false);
    return withOurErrorsAsync(() =>
      cancelledWith(signal, async (cancellation) =>
        this.#engine.expire(olderThan, dryRun, watch, cancellation),
      ),
    );
  }

  /**
   * Makes this memory and another one equal, in both directions, and loses nothing. The model cannot call this. Resolves
   * to the changes and the conflicts.
   *
   * If one memory has changed a file since they last met, the other follows. If both have, their changes are merged line
   * by line. If they changed the same lines, or neighbouring ones, both contents are kept. A file is deleted only if the
   * other memory has deleted it and this one has not changed it since. At the first sync nothing is deleted.
   *
   * The options of each memory apply to what is written to it, and its hooks are asked about each change. In results and options, side `a`
   * is this memory, and side `b` the passed one. As WebAssembly the signal is read only when the sync begins.
   *
   * @example
   * ```ts
   * const { conflicts } = await memory.sync('sqlite:team.db');
   * for (const { path, copyPath } of conflicts) {
   *   console.log(path, copyPath);
   * }
   * ```
   *
   * @param other The other memory, or a store or the address of one, which is opened with default options. A directory
   *   or database is created.
   * @throws {@link SyncError} if the sync is refused, or stopped by `onProgress` or the signal; {@link StoreError} if
   *   a store fails; {@link HookError} if a hook fails; the error of `onConflict` if that throws. The changes before that stay, and the next sync makes the others.
   */
  async sync(other: Memory | Places, options: SyncOptions = {}): Promise<Synced> {
    const { onConflict, onProgress, signal, ...others } = optionsOf(options, SYNC_OPTIONS);
    assertFunction('onProgress', onProgress);
    assertConflictOption(onConflict);
    const merger = typeof onConflict === 'function' ? new Merger(onConflict) : undefined;
    const rest = merger ? others : { ...others, onConflict };
    const passed = other instanceof Memory ? other.#engine : openEngine(other, undefined, 'other');
    const watch = onProgress && ((progress: SyncProgress) => onProgress(progress) !== false);
    let failed: HookError | undefined;
    const keep = (error: HookError) => {
      failed ??= error;
    };
    const hooks = this.#hooks?.inSync(signal, keep);
    const othersHooks = other instanceof Memory ? other.#hooks?.inSync(signal, keep) : undefined;
    const synced = withOurErrorsAsync(() =>
      cancelledWith(signal, async (cancellation) =>
        this.#engine.sync(passed, rest, watch, cancellation, merger?.serve, hooks, othersHooks),
      ),
    );
    return synced.catch((error: unknown) => {
      // The hook or the function has ended the sync.
      throw failed ?? (merger ? merger.thrownOr(error) : error);
    });
  }

  /**
   * The text of a file as it is stored, including text that views hide (`sensitiveOnView`). The model
   * cannot call this, and it does not count as a use of the file.
   *
   * The methods from here on are for your own code and call no hooks. They reject with the SDK's
   * `ToolError` if the call is refused, with a {@link StoreError} if the store fails or the call is
   * cancelled (`ECANCELED`), and with a `ConfigError` if an argument is wrong.
   */
  read(path: string, call?: CallOptions): Promise<string> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) => engine.read(path, cancellation));
  }

  /**
   * The text of a file as a model may see it: redacted if views are (`sensitiveOnView`), and without line
   * numbers. Like a view, it counts as a use of the file. Use it to give a file to a model without
   * `view`.
   */
  readShown(path: string, call?: CallOptions): Promise<string> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.readShown(path, cancellation),
    );
  }

  /**
   * Writes a whole file: creates it with its parents, or replaces its content. With `ifUnchanged` it
   * only replaces a file that holds that text.
   *
   * The same policies apply as for commands: path patterns, limits, sensitive text. `staleGuard`
   * treats it as a change by someone else, so the model has to view the file again.
   *
   * @example
   * ```ts
   * const text = await memory.read('/memories/tea.md');
   * await memory.write('/memories/tea.md', text + '- black\n', { ifUnchanged: text });
   * ```
   */
  write(path: string, text: string, options: WriteOptions = {}): Promise<void> {
    return this.#ask(options, WRITE_OPTIONS, (engine, cancellation, { ifUnchanged }) =>
      engine.write(path, text, ifUnchanged, cancellation),
    );
  }

  /**
   * The entries below a directory, sorted by path. Hidden entries, and everything below them, are
   * left out. For a file, the list contains only the file itself.
   *
   * @example
   * ```ts
   * for (const { path, size } of await memory.list('/memories', { depth: null })) {
   *   console.log(path, size ?? 'directory');
   * }
   * ```
   */
  list(path: string = '/memories', options: ListOptions = {}): Promise<Entry[]> {
    return this.#ask(options, LIST_OPTIONS, (engine, cancellation, { depth = 1 }) =>
      engine.list(path, depth, cancellation),
    );
  }

  /** True if a file or a directory exists at this path. */
  exists(path: string, call?: CallOptions): Promise<boolean> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.exists(path, cancellation),
    );
  }

  /**
   * The first matches in names of files and directories and in lines of files, sorted by path and
   * line. Hidden entries and files that are not text are left out. With `sensitiveOnView` it
   * searches the texts as a view shows them.
   *
   * It reads files until it has enough matches.
   *
   * @example
   * ```ts
   * for (const { path, line, text } of await memory.grep('tea', { ignoreCase: true })) {
   *   console.log(path, line, text);
   * }
   * ```
   */
  grep(query: string, options: GrepOptions = {}): Promise<GrepMatch[]> {
    return this.#ask(options, GREP_OPTIONS, (engine, cancellation, given) => {
      const { regex = false, ignoreCase = false, path = '/memories', limit = 100 } = given;
      return engine.grep(query, regex, ignoreCase, path, limit, cancellation);
    });
  }

  /**
   * The files that answer a question best, the best first, with their best passages. For exact lines
   * use `grep`.
   *
   * A file is a hit if it has any word of the question, whatever its ending. `"green tea"`
   * requires a phrase, `-coffee` excludes a word, `path:notes` requires a text in the path. Hidden
   * files are left out. With `sensitiveOnView` it searches the texts as a view shows them.
   *
   * It finds every write that was acknowledged before it, by any process. The first search of a
   * process reads all files, later ones only what has changed. The texts are held in memory, up to
   * `searchMaxBytes`.
   *
   * @example
   * ```ts
   * for (const { path, passages } of (await memory.search('which tea does Anna like?')).hits) {
   *   console.log(path, passages[0]?.text);
   * }
   * ```
   */
  search(query: string, options: SearchOptions = {}): Promise<SearchResults> {
    return this.#ask(options, SEARCH_OPTIONS, (engine, cancellation, given) => {
      const { path = '/memories', limit = 10 } = given;
      return engine.search(query, path, limit, cancellation);
    });
  }

  /**
   * The places where the built-in rules and those of `sensitiveRules` find sensitive text, in names and
   * lines, sorted by path and line. The text itself is not returned. The option `sensitiveText` does not
   * affect the result.
   */
  findSensitive(
    path: string = '/memories',
    options: FindSensitiveOptions = {},
  ): Promise<SensitiveMatch[]> {
    return this.#ask(options, FIND_SENSITIVE_OPTIONS, (engine, cancellation, { limit = 100 }) =>
      engine.findSensitive(path, limit, cancellation),
    );
  }

  /**
   * Watches files for changes: by this process, by other processes, and by programs that write to the
   * store directly. Changes by this process are reported at once; for all others it polls the store.
   *
   * The watch keeps the store open until it is closed; leaving the loop closes it. The watch starts in the
   * background: `await watch.changes(0)` waits until it has started.
   *
   * @example
   * ```ts
   * for await (const { kind, path } of memory.watch()) {
   *   console.log(kind, path);
   * }
   * ```
   */
  watch(options: WatchOptions = {}): Watch {
    const { path = '/memories', every, signal } = optionsOf(options, WATCH_OPTIONS);
    const begin = async (cancellation?: Cancellation) =>
      this.#engine.watch(path, every, cancellation);
    return new Watch(begin, signal);
  }

  /** Statistics about the memory: number of files, bytes, the largest file, the oldest one. */
  stats(call?: CallOptions): Promise<Stats> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) => engine.stats(cancellation));
  }

  /**
   * A table of contents for a system prompt, in at most `maxChars` characters: a line for each file
   * with its path, its size, and its first line. Files that match `neverExpire` come first, then the
   * most recently written ones. If not all files fit, the last line says how many are left out.
   */
  index(maxChars: number = 2000, call?: CallOptions): Promise<string> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.index(maxChars, cancellation),
    );
  }

  /**
   * Creates the files with which a project of several sessions begins: `progress.md`, `features.md`
   * and `init.md`. Existing files are left unchanged. Resolves to the paths of the files that were
   * created. If a policy forbids one, the files created before it stay.
   *
   * @example
   * ```ts
   * await memory.bootstrap({
   *   about: 'A shop for tea.',
   *   features: ['a list of teas', 'a basket'],
   *   init: 'Run `make serve`.',
   * });
   * ```
   */
  bootstrap(project: Project, call?: CallOptions): Promise<string[]> {
    return this.#ask(call, CALL_OPTIONS, async (engine, cancellation) => {
      const { about, features, init = '' } = optionsOf(project, PROJECT, 'project');
      // The native half rejects missing values.
      return engine.bootstrap(about as string, features as string[], init, cancellation);
    });
  }

  /**
   * Makes `staleGuard` refuse edits of every file that the model has seen, until it views the file again.
   * Call it after the conversation was compacted, because the guard cannot detect that. It is not needed
   * after context editing that keeps the memory tool's results.
   */
  forgetViews(): void {
    this.#engine.forgetViews();
  }

  /**
   * One tool named `memory`, for a model host without built-in support for Anthropic's tool. Pass the
   * model's input to {@link execute}. If the memory is read-only, its only command is `view`.
   *
   * No schema language can tie fields to a command, so the schema also admits calls that lack a field.
   * They are refused with an explanation for the model. The schemas of {@link toolDefinitions} are
   * exact.
   */
  toolDefinition<D extends Dialect = 'json-schema'>(dialect?: D): ToolDefinition<D> {
    const json = withOurErrors(() => this.#engine.toolDefinition(dialect ?? 'json-schema'));
    return JSON.parse(json) as ToolDefinition<D>;
  }

  /**
   * One tool for each command, named `prefix` plus the command's name. If the memory is read-only,
   * only `view`. Pass the model's input to {@link execute} together with the command's name.
   *
   * @example
   * ```ts
   * const tools = memory.toolDefinitions('openai', 'memory_');
   * // The model calls memory_view with these arguments:
   * const reply = await memory.execute({ ...args, command: 'view' });
   * ```
   *
   * @param prefix At most 32 ASCII letters, digits, `_` and `-`.
   */
  toolDefinitions<D extends Dialect = 'json-schema'>(
    dialect?: D,
    prefix: string = '',
  ): ToolDefinition<D>[] {
    const tools = withOurErrors(() =>
      this.#engine.toolDefinitions(dialect ?? 'json-schema', prefix),
    );
    return tools.map((json) => JSON.parse(json) as ToolDefinition<D>);
  }

  /**
   * The search as a tool beside the memory tool, named `prefix` plus `search`. Pass the model's input
   * to {@link executeSearch}.
   *
   * @param prefix At most 32 ASCII letters, digits, `_` and `-`.
   */
  searchToolDefinition<D extends Dialect = 'json-schema'>(
    dialect?: D,
    prefix: string = 'memory_',
  ): ToolDefinition<D> {
    const json = withOurErrors(() =>
      this.#engine.searchToolDefinition(dialect ?? 'json-schema', prefix),
    );
    return JSON.parse(json) as ToolDefinition<D>;
  }

  /**
   * A session of the same memory, for one conversation. Its changes are recorded under this actor,
   * such as an agent or a user, and its `staleGuard` counts only its own views. Everything else is
   * shared. `actor` replaces the option `actor`. Never take it from a model's input.
   */
  actingAs(actor: string): Memory<Given> {
    const engine = withOurErrors(() => this.#engine.actingAs(actor));
    return new Memory<Given>(new Opened(engine, this.#hooks) as unknown as Places);
  }

  /**
   * The versions of a file, or of everything below a directory, newest first; without a path, of the
   * whole memory. The path may be one that no longer exists.
   *
   * The methods from here on are about the history. They are for your own code and need the option
   * `history`. They reject with a {@link HistoryError}, whose `kind` names the case, and with the
   * same errors as {@link read}.
   *
   * @example
   * ```ts
   * for (const { id, time, operation, actor } of await memory.history('/memories/tea.md')) {
   *   console.log(id, time.toISOString(), operation, actor);
   * }
   * ```
   */
  history(path?: string | null, query: HistoryQuery = {}): Promise<Version[]> {
    return this.#ask(query, HISTORY_QUERY, async (engine, cancellation, given) => {
      const { limit, before, actor, change, since } = given;
      const from = optionalMillis('since', since);
      return engine.history(path, limit, before, actor, change, from, cancellation);
    });
  }

  /**
   * Completes the id of a version or a change from a part of it: its beginning or its end, at least 6
   * digits. Dashes and the case of letters do not matter.
   *
   * It rejects with the kind `ambiguous` if several ids match, `unknown` if no id matches, and `no_id` if
   * the text cannot be part of an id.
   *
   * @example
   * ```ts
   * await memory.undo(await memory.resolveId('9f31c2'));
   * ```
   */
  resolveId(part: string, call?: CallOptions): Promise<string> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.resolveId(part, cancellation),
    );
  }

  /**
   * The whole history as a stream for `git fast-import`: one commit for each change, with its actor as the
   * author, on the branch `main`. The same history always gives the same commits. A content that was
   * removed from the history is replaced by a text that says so.
   *
   * @example
   * ```ts
   * execFileSync('git', ['fast-import'], { cwd, input: await memory.exportHistory() });
   * ```
   */
  exportHistory(call?: CallOptions): Promise<Uint8Array> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.exportHistory(cancellation),
    );
  }

  /**
   * The first matches in names and lines that the history has and the current files no longer have:
   * newest first, each with the newest version that has it. `path` limits the search to one path and
   * everything below it, whether it still exists or not.
   *
   * @example
   * ```ts
   * for (const { version, text } of await memory.grepHistory('tea', { ignoreCase: true })) {
   *   console.log(version.path, version.time.toISOString(), text);
   * }
   * ```
   */
  grepHistory(query: string, options: GrepOptions = {}): Promise<HistoryMatch[]> {
    return this.#ask(options, GREP_OPTIONS, (engine, cancellation, given) => {
      const { regex = false, ignoreCase = false, path = '/memories', limit = 100 } = given;
      return engine.grepHistory(query, regex, ignoreCase, path, limit, cancellation);
    });
  }

  /**
   * The files that existed at a time, sorted by path, including changes within that millisecond. A file
   * that was not changed since recording began is included with its current content, if it was last
   * written before that time.
   */
  filesAt(at: Date, call?: CallOptions): Promise<PastFile[]> {
    return this.#ask(call, CALL_OPTIONS, async (engine, cancellation) =>
      engine.filesAt(millis('at', at), cancellation),
    );
  }

  /** The content of a file at a time, as for {@link filesAt}; `null` if there was no file. */
  readAt(path: string, at: Date, call?: CallOptions): Promise<Uint8Array | null> {
    return this.#ask(call, CALL_OPTIONS, async (engine, cancellation) =>
      engine.readAt(path, millis('at', at), cancellation),
    );
  }

  /**
   * For each line of a file's current content, the version that added it, its actor and its time. If a line was
   * removed and added again, the later version counts. Renaming the file does not change the result.
   *
   * It rejects with the kind `no_file` if there is no file, and `not_text` if it is not UTF-8.
   *
   * @example
   * ```ts
   * for (const { line, text, actor } of await memory.blame('/memories/tea.md')) {
   *   console.log(actor ?? '-', line, text);
   * }
   * ```
   */
  blame(path: string, call?: CallOptions): Promise<BlamedLine[]> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.blame(path, cancellation),
    );
  }

  /**
   * The content of a version.
   *
   * @example
   * ```ts
   * const text = new TextDecoder().decode(await memory.readVersion(id));
   * ```
   */
  readVersion(id: string, call?: CallOptions): Promise<Uint8Array> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.readVersion(id, cancellation),
    );
  }

  /**
   * A unified diff from version `id` to version `other`. Without `other`, it shows the change that
   * made the version. Empty if the versions do not differ.
   */
  diff(id: string, other?: string | null, call?: CallOptions): Promise<string> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.diff(id, other, cancellation),
    );
  }

  /**
   * Writes the content of a version back, as a new version. A deleted file is created again at its old
   * path. With the id of a change, all files of that change are restored.
   *
   * If a file was changed since, that is a conflict, unless `overwrite` is true. Policies do not
   * apply.
   */
  restore(id: string, options: RestoreOptions = {}): Promise<Restored> {
    return this.#ask(options, RESTORE_OPTIONS, (engine, cancellation, { overwrite = false }) =>
      engine.restore(id, overwrite, cancellation),
    );
  }

  /**
   * Undoes a change, or all changes since a time: every file that they changed returns to its previous
   * content. If later changes depend on them, that is a conflict, whose `conflicts` name the later
   * changes. Nothing is changed then, unless the options say otherwise.
   *
   * @example
   * ```ts
   * await memory.undo({ change: version.change });
   * await memory.undo({ since: begun, actor: 'session 1' }, { dryRun: true });
   * await memory.undo({ change: version.change }, { merge: true, skipConflicts: true });
   * ```
   */
  undo(what: Undo, options: UndoOptions = {}): Promise<Restored> {
    return this.#ask(options, UNDO_OPTIONS, async (engine, cancellation, given) => {
      const { dryRun = false, skipConflicts = false, merge = false } = given;
      const { change, since, actor } = optionsOf(what, UNDO, 'what');
      const from = optionalMillis('since', since);
      return engine.undo(change, from, actor, dryRun, skipConflicts, merge, cancellation);
    });
  }

  /**
   * Restores every file to its state at a time: all later changes are reverted. A `Date` has whole
   * milliseconds: changes within that millisecond are kept. Files that the history does not know are
   * left unchanged.
   */
  restoreAll(at: Date, options: RestoreAllOptions = {}): Promise<Restored> {
    return this.#ask(options, RESTORE_ALL_OPTIONS, async (engine, cancellation, given) =>
      engine.restoreAll(millis('at', at), given.dryRun ?? false, cancellation),
    );
  }

  /**
   * Permanently removes the content of a version from the history, wherever the history has it; with the
   * id of a change, the contents of all its versions. The version stays, with the reason. Resolves to
   * the id of the change, or to `null` if nothing was left to remove.
   */
  redact(id: string, reason: string, call?: CallOptions): Promise<string | null> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.redact(id, reason, cancellation),
    );
  }

  /**
   * Permanently removes every content that contains a text from the history, as `redact` does, in all versions of
   * all files. The text is matched anywhere in the content; a regular expression is matched in each line. It is
   * also removed from names, unless a current file or directory has that name; names of actors stay. The call
   * reads every content in the history. If current files have the text, it rejects with a `HistoryError` of the
   * kind `is_current`, with their paths.
   */
  redactText(
    query: string,
    reason: string,
    options: RedactTextOptions = {},
  ): Promise<RedactedText> {
    return this.#ask(options, REDACT_TEXT_OPTIONS, (engine, cancellation, given) => {
      const { regex = false, ignoreCase = false, dryRun = false } = given;
      return engine.redactText(query, regex, ignoreCase, reason, dryRun, cancellation);
    });
  }

  /**
   * Removes the versions that the retention options no longer keep, and resolves to the number of
   * removed change records. A memory also does this from time to time after a change.
   */
  trimHistory(call?: CallOptions): Promise<number> {
    return this.#ask(call, CALL_OPTIONS, (engine, cancellation) =>
      engine.trimHistory(cancellation),
    );
  }

  /** Calls a method for your own code. */
  #ask<T, Options extends CallOptions>(
    given: Options | undefined,
    names: Names<Options>,
    ask: (
      engine: Engine,
      cancellation: Cancellation | undefined,
      options: Partial<Options>,
    ) => Promise<T>,
  ): Promise<T> {
    return withRefusals(async () => {
      const options = optionsOf(given, names);
      return cancelledWith(options.signal, async (cancellation) =>
        ask(this.#engine, cancellation, options),
      );
    });
  }

  async #run(name: string, fields: unknown, call?: CallOptions): Promise<string> {
    const shown = await orThrow(reply(await this.#answer(fields, name, call)));
    // Only a view can return an image.
    return shown as string;
  }

  async #answer(input: unknown, name?: string, call?: CallOptions): Promise<Answered> {
    assertSignal(call?.signal);
    return cancelledWith(call?.signal, (cancellation) => {
      const engine = this.#engine;
      if (this.#hooks && !this.#hooks.areRunning()) {
        return this.#hooks.carryOut(engine.begin(input, name, cancellation), call?.signal);
      }
      return name === undefined
        ? engine.execute(input, cancellation)
        : engine.executeAs(name, input, cancellation);
    });
  }
}

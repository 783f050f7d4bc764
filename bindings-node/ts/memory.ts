/** The engine: executes commands, without any SDK. */

import type { Cancellation, Engine } from '../native.cjs';

import { cancelledWith } from './cancellation.js';
import type { CallOptions } from './cancellation.js';
import type {
  CommandFields,
  CreateCommand,
  DeleteCommand,
  InsertCommand,
  RenameCommand,
  StrReplaceCommand,
  ViewCommand,
} from './commands.js';
import { withOurErrors, withOurErrorsAsync } from './errors.js';
import type {
  Dialect,
  ListOptions,
  Match,
  Project,
  SearchOptions,
  ToolDefinition,
  WriteOptions,
} from './files.js';
import { HookError, withoutHooks } from './hooks.js';
import type { Answered, Hooks } from './hooks.js';
import type { MemoryOptions } from './options.js';
import { openEngine } from './places.js';
import type { Places } from './places.js';
import { StoreError } from './store.js';
import type { Entry } from './store.js';
import { toolError, withRefusals } from './tool-error.js';

/** An image block, as the Messages API accepts it in a `tool_result`. */
export interface ImageBlock {
  /** The kind of block. */
  type: 'image';
  /** The image: its media type, according to its content, and the content in base64. */
  source: { type: 'base64'; media_type: 'image/png' | 'image/jpeg'; data: string };
}

/** Options with which views return only text. */
export interface TextOnly {
  /** No images. */
  maxImageBytes: null;
}

/**
 * What a memory with these options shows: text, or an array with an image block for the view of an
 * image. With `maxImageBytes: null` it is always text.
 */
export type Shown<Given extends MemoryOptions = MemoryOptions> = Given extends TextOnly
  ? string
  : string | ImageBlock[];

/** The answer to one call of the tool. */
export interface Reply<Given extends MemoryOptions = MemoryOptions> {
  /**
   * The content for the model: text, or an array with an image block. The Messages API accepts both
   * as the content of a `tool_result`.
   */
  content: Shown<Given>;
  /** Whether the command failed: the `is_error` of the `tool_result`. */
  isError: boolean;
  /**
   * The error, if the store itself or the hook `before` failed. It is for your log and not for the
   * model, because it may name paths and hosts.
   */
  cause?: StoreError | HookError;
}

/** A file that was removed because nobody used it. */
export interface Expired {
  /** Its path. */
  path: string;
  /** Its size in bytes. */
  bytes: number;
  /** Its last use, in milliseconds since 1970: its last change or recorded access. */
  lastUsed: number;
}

/** The progress of an expiry. */
export interface ExpiryProgress {
  /** The files that were scanned. */
  files: number;
  /** Those of them that were removed, or would be. */
  removed: number;
}

/** The options of `Memory.expire`. */
export interface ExpireOptions {
  /** Only returns the files that would be removed. Default false. */
  dryRun?: boolean | undefined;
  /**
   * Called after every 1,000 files and at the end. If it returns `false` or throws, the removal
   * stops; files that are already removed stay removed.
   */
  onProgress?: ((progress: ExpiryProgress) => unknown) | undefined;
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

  /**
   * @param store A directory, which is made if it does not exist (the files are in its `memories`
   *   directory, the layout of the SDK's own tool); `sqlite:agent.db` for an SQLite database;
   *   `memory:` for a new store in this process; your own store; or several of these by their mount
   *   points.
   * @throws An error if the address or an option is wrong, or if the store cannot be opened.
   */
  constructor(store: Places = './memory', options?: Given) {
    const [rest, hooks] = withoutHooks(options);
    this.#hooks = hooks;
    this.#engine = openEngine(store, rest);
  }

  /**
   * Executes one tool call: its `input`, or the JSON text of it. A whole `tool_use` block is
   * understood, too.
   *
   * A model's mistake is a reply with `isError`, and so is a broken store, or a call that was
   * cancelled (`call.signal`) before it began to write.
   */
  async execute(input: unknown, call?: CallOptions): Promise<Reply<Given>> {
    return reply<Given>(await this.#answer(input, undefined, call));
  }

  /** Shows a directory two levels deep, the numbered lines of a file, or an image. */
  async view(command: CommandFields<ViewCommand>, call?: CallOptions): Promise<Shown<Given>> {
    return orThrow(reply<Given>(await this.#answer(command, 'view', call)));
  }

  /** Makes a new file and its missing parents. */
  create(command: CommandFields<CreateCommand>, call?: CallOptions): Promise<string> {
    return this.#run('create', command, call);
  }

  /** Replaces the only occurrence of a text in a file. */
  str_replace(command: CommandFields<StrReplaceCommand>, call?: CallOptions): Promise<string> {
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
   * Deletes everything below `/memories`. The model cannot call this. Resolves to a sentence that says
   * so.
   */
  async clear(): Promise<string> {
    return (await orThrow(reply(await this.#engine.clear()))) as string;
  }

  /**
   * Removes the files that nobody used for `olderThan` milliseconds. The model cannot call this.
   * Resolves to the files that were removed, or would be, in the order of the paths.
   *
   * A file is used when it is changed, and when it is viewed or renamed through a memory with
   * `recordAccess`. These stay: directories, files that match `neverExpire`, files that no command
   * may delete, and files that are used meanwhile.
   */
  async expire(olderThan: number, options: ExpireOptions = {}): Promise<Expired[]> {
    const { dryRun = false, onProgress } = options;
    const watch = onProgress && ((progress: ExpiryProgress) => onProgress(progress) !== false);
    return withOurErrorsAsync(async () => this.#engine.expire(olderThan, dryRun, watch));
  }

  /**
   * The text of a file, as it is: also what views hide (`sensitiveOnView`). The model cannot call
   * this, and it does not count as a use of the file.
   *
   * The methods for your own code, from here on, call no hooks. They reject with the SDK's
   * `ToolError` if they are refused, with a {@link StoreError} if the store is broken or the call was
   * cancelled (`ECANCELED`), and with a `ConfigError` if an argument is wrong.
   */
  read(path: string, call?: CallOptions): Promise<string> {
    return this.#ask(call, (engine, cancellation) => engine.read(path, cancellation));
  }

  /**
   * Writes a file, which is made, with its parents, or replaced as a whole. With `ifUnchanged` it is
   * only replaced if it holds that text.
   *
   * The policies are those of the commands: patterns of paths, limits, sensitive text. For
   * `staleGuard` it is somebody else's change: the model has to view the file again.
   *
   * @example
   * ```ts
   * const text = await memory.read('/memories/tea.md');
   * await memory.write('/memories/tea.md', text + '- black\n', { ifUnchanged: text });
   * ```
   */
  write(path: string, text: string, options: WriteOptions = {}): Promise<void> {
    const { ifUnchanged } = options;
    return this.#ask(options, (engine, cancellation) =>
      engine.write(path, text, ifUnchanged, cancellation),
    );
  }

  /**
   * The entries below a directory, in the order of their paths, without hidden ones and what is below
   * them. Of a file: the file itself.
   *
   * @example
   * ```ts
   * for (const { path, size } of await memory.list('/memories', { depth: null })) {
   *   console.log(path, size ?? 'directory');
   * }
   * ```
   */
  list(path: string = '/memories', options: ListOptions = {}): Promise<Entry[]> {
    const { depth = 1 } = options;
    return this.#ask(options, (engine, cancellation) => engine.list(path, depth, cancellation));
  }

  /** Whether there is a file or a directory. */
  exists(path: string, call?: CallOptions): Promise<boolean> {
    return this.#ask(call, (engine, cancellation) => engine.exists(path, cancellation));
  }

  /**
   * The first matches in names of files and directories and in lines of files, in the order of the
   * paths and lines. Hidden entries and files that are not text are left out. With `sensitiveOnView`
   * the texts are searched as a view shows them.
   *
   * It reads every file until it has enough.
   *
   * @example
   * ```ts
   * for (const { path, line, text } of await memory.search('tea', { ignoreCase: true })) {
   *   console.log(path, line, text);
   * }
   * ```
   */
  search(query: string, options: SearchOptions = {}): Promise<Match[]> {
    const { regex = false, ignoreCase = false, path = '/memories', limit = 100 } = options;
    return this.#ask(options, (engine, cancellation) =>
      engine.search(query, regex, ignoreCase, path, limit, cancellation),
    );
  }

  /**
   * A table of contents for a system prompt, in at most `maxChars` characters: a line for each file
   * with its path, its size, and its first line. Files that match `neverExpire` come first, then what
   * was written last. If not all files fit, the last line says how many are left out.
   */
  index(maxChars: number = 2000, call?: CallOptions): Promise<string> {
    return this.#ask(call, (engine, cancellation) => engine.index(maxChars, cancellation));
  }

  /**
   * Lays out the files with which a project of several sessions begins: `progress.md`, `features.md`
   * and `init.md`. A file that is there already stays as it is. Resolves to the paths of those that
   * were made. If a policy forbids one, those that were made stay.
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
    const { about, features, init = '' } = project;
    return this.#ask(call, (engine, cancellation) =>
      engine.bootstrap(about, features, init, cancellation),
    );
  }

  /**
   * Forgets what the model has seen, as far as `staleGuard` knows it: the model then has to view a file
   * again before it edits it. Call it when views may have left the model's context, such as after
   * context editing or compaction, of which the guard cannot know.
   */
  forgetViews(): void {
    this.#engine.forgetViews();
  }

  /**
   * One tool named `memory`, for a model host that does not know Anthropic's tool. Give what the model
   * sends to {@link execute}. If the memory is read-only, its only command is `view`.
   *
   * No schema language says which fields belong to which command, so it also admits calls that lack a
   * field; they are refused with a sentence. {@link toolDefinitions} is exact.
   */
  toolDefinition<D extends Dialect = 'json-schema'>(dialect?: D): ToolDefinition<D> {
    const json = withOurErrors(() => this.#engine.toolDefinition(dialect ?? 'json-schema'));
    return JSON.parse(json) as ToolDefinition<D>;
  }

  /**
   * A tool for each command, named `prefix` and the command's name. If the memory is read-only, only
   * `view`. Give a call of one to {@link execute} with the command's name.
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

  /** Calls a method for your own code. */
  #ask<T>(
    call: CallOptions | undefined,
    ask: (engine: Engine, cancellation?: Cancellation) => Promise<T>,
  ): Promise<T> {
    return withRefusals(() =>
      cancelledWith(call?.signal, async (cancellation) => ask(this.#engine, cancellation)),
    );
  }

  async #run(name: string, fields: unknown, call?: CallOptions): Promise<string> {
    const shown = await orThrow(reply(await this.#answer(fields, name, call)));
    // Only a view returns anything but text.
    return shown as string;
  }

  #answer(input: unknown, name?: string, call?: CallOptions): Promise<Answered> {
    return cancelledWith(call?.signal, (cancellation) => {
      const engine = this.#engine;
      if (this.#hooks && !this.#hooks.areRunning()) {
        return this.#hooks.carryOut(engine.begin(input, name, cancellation));
      }
      return name === undefined
        ? engine.execute(input, cancellation)
        : engine.executeAs(name, input, cancellation);
    });
  }
}

/** The content of a reply, or the error that the SDK's tool runner understands. */
export async function orThrow<G extends MemoryOptions>(reply: Reply<G>): Promise<Shown<G>> {
  if (reply.isError) {
    throw await toolError(reply.content as string, reply.cause);
  }
  return reply.content;
}

function reply<G extends MemoryOptions>(answered: Answered): Reply<G> {
  const { content: shown, isError, cause, hook, thrown } = answered;
  // With the options for text only, no image comes.
  const content = (typeof shown === 'string' ? shown : image(shown)) as Shown<G>;
  if (cause === undefined) {
    return { content, isError };
  }
  if (hook) {
    return { content, isError, cause: new HookError(cause, { cause: thrown }) };
  }
  return { content, isError, cause: new StoreError('EIO', cause) };
}

function image({ mediaType, bytes }: Exclude<Answered['content'], string>): ImageBlock[] {
  const data = bytes.toString('base64');
  return [{ type: 'image', source: { type: 'base64', media_type: mediaType, data } }];
}

/** The engine: executes commands, without any SDK. */

import type { Engine } from '../native.cjs';

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
import { withOurErrorsAsync } from './errors.js';
import { HookError, withoutHooks } from './hooks.js';
import type { Answered, Hooks } from './hooks.js';
import type { MemoryOptions } from './options.js';
import { openEngine } from './places.js';
import type { Places } from './places.js';
import { StoreError } from './store.js';
import { toolError } from './tool-error.js';

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
   * Executes one tool call: its `input`, or the JSON text of it.
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

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

/** An image, in the form in which the Messages API takes it in a `tool_result`. */
export interface ImageBlock {
  /** What kind of block it is. */
  type: 'image';
  /** The image: its kind, as its content says, and that content in base64. */
  source: { type: 'base64'; media_type: 'image/png' | 'image/jpeg'; data: string };
}

/** Options with which only text is shown. */
export interface TextOnly {
  /** No images. */
  maxImageBytes: null;
}

/**
 * What a memory with these options shows: text, or the image block that a view of an image is. With
 * `maxImageBytes: null` it is always text.
 */
export type Shown<Given extends MemoryOptions = MemoryOptions> = Given extends TextOnly
  ? string
  : string | ImageBlock[];

/** The answer to one call of the tool. */
export interface Reply<Given extends MemoryOptions = MemoryOptions> {
  /**
   * What goes back to the model: text, or the image block that a view of an image is. Both are what
   * the Messages API takes as the content of a `tool_result`.
   */
  content: Shown<Given>;
  /** Whether the command failed; goes into the `is_error` of the `tool_result`. */
  isError: boolean;
  /**
   * What broke, if the store itself or the hook `before` did: for the developer's log. It may name
   * paths and hosts, so that it is not for the model, whose `content` then says no more than that.
   */
  cause?: StoreError | HookError;
}

/** A file that was removed because nobody used it. */
export interface Expired {
  /** Where it was. */
  path: string;
  /** How many bytes it held. */
  bytes: number;
  /** When it was last changed or shown, in milliseconds since 1970. */
  lastUsed: number;
}

/** How far an expiry is. */
export interface ExpiryProgress {
  /** The files that were looked at. */
  files: number;
  /** Those of them that were removed, or would be. */
  removed: number;
}

/** How `Memory.expire` goes about it. */
export interface ExpireOptions {
  /** Whether nothing is removed. Default false. */
  dryRun?: boolean | undefined;
  /**
   * Called now and then, and at the end. If it returns `false` or throws, it ends there, and what was
   * removed by then is removed.
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
 * The methods named after the commands are what the SDK's `betaMemoryTool(new Memory())` asks for.
 * They reject with the SDK's `ToolError`, whose text is the exact answer for the model.
 */
export class Memory<const Given extends MemoryOptions = MemoryOptions> {
  readonly #engine: Engine;
  readonly #hooks: Hooks | undefined;

  /**
   * @param store A directory, which is made if it is not there (the files are in its `memories`
   *   directory, as the SDK's own tool keeps them); `sqlite:agent.db` for an SQLite
   *   database; `memory:` for a new store in this process; a store of your own; or several of
   *   these by the paths where they are mounted.
   * @throws {@link ConfigError} if the address or an option is wrong, {@link StoreError} if the store
   *   cannot be opened.
   */
  constructor(store: Places = './memory', options?: Given) {
    const [rest, hooks] = withoutHooks(options);
    this.#hooks = hooks;
    this.#engine = openEngine(store, rest);
  }

  /**
   * Executes one tool call: its `input`, or the JSON text of it.
   *
   * Whatever the model did wrong is a reply with `isError`, and so is a store that is broken, and a
   * call that was given up (`call.signal`) before it began to write.
   */
  async execute(input: unknown, call?: CallOptions): Promise<Reply<Given>> {
    return reply<Given>(await this.#answer(input, undefined, call));
  }

  /** Shows a directory two levels deep, the numbered lines of a file, or an image. */
  async view(command: CommandFields<ViewCommand>, call?: CallOptions): Promise<Shown<Given>> {
    return orThrow(reply<Given>(await this.#answer(command, 'view', call)));
  }

  /** Makes a new file, with its parents. */
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

  /** Deletes a file, or a directory and all that it holds. */
  delete(command: CommandFields<DeleteCommand>, call?: CallOptions): Promise<string> {
    return this.#run('delete', command, call);
  }

  /** Renames or moves a file or directory; never overwrites. */
  rename(command: CommandFields<RenameCommand>, call?: CallOptions): Promise<string> {
    return this.#run('rename', command, call);
  }

  /**
   * Deletes everything below `/memories`. Not a command of the tool: for you. Resolves to a sentence that
   * says so.
   */
  async clear(): Promise<string> {
    return (await orThrow(reply(await this.#engine.clear()))) as string;
  }

  /**
   * Removes the files that nobody used for `olderThan` milliseconds. Not a command of the tool: for
   * you. Resolves to what was removed, or would be, in the order of the paths.
   *
   * Used is a file that was changed, or shown by a view of that very file, through a memory with
   * `recordAccess`. What matches `neverExpire` stays, and so do directories, and whatever is used
   * meanwhile.
   */
  async expire(olderThan: number, options: ExpireOptions = {}): Promise<Expired[]> {
    const { dryRun = false, onProgress } = options;
    const watch = onProgress && ((progress: ExpiryProgress) => onProgress(progress) !== false);
    return withOurErrorsAsync(async () => this.#engine.expire(olderThan, dryRun, watch));
  }

  async #run(name: string, fields: unknown, call?: CallOptions): Promise<string> {
    const shown = await orThrow(reply(await this.#answer(fields, name, call)));
    // Only a view shows anything else.
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

/** What a reply shows, or the error that the SDK's tool runner understands. */
export async function orThrow<G extends MemoryOptions>(reply: Reply<G>): Promise<Shown<G>> {
  if (reply.isError) {
    throw await toolError(reply.content as string, reply.cause);
  }
  return reply.content;
}

function reply<G extends MemoryOptions>(answered: Answered): Reply<G> {
  const { content: shown, isError, cause, hook, thrown } = answered;
  // No image comes where the options say so.
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

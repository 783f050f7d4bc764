/** The engine: executes commands, without any SDK. */

import type { Engine } from '../native.cjs';

import { awake } from './awake.js';
import type {
  CommandFields,
  CreateCommand,
  DeleteCommand,
  InsertCommand,
  RenameCommand,
  StrReplaceCommand,
  ViewCommand,
} from './commands.js';
import type { Options } from './options.js';
import { openEngine } from './places.js';
import type { Places } from './places.js';
import { StoreError } from './store.js';
import { toolError } from './tool-error.js';

/** The answer to one call of the tool. */
export interface Reply {
  /** What goes back to the model. */
  content: string;
  /** Whether the command failed; goes into the `is_error` of the `tool_result`. */
  isError: boolean;
  /**
   * What broke, if the store itself did: for the developer's log. It may name paths and hosts, so
   * that it is not for the model, whose `content` then says only that the memory is out of reach.
   */
  cause?: StoreError;
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
export class Memory {
  readonly #engine: Engine;

  /**
   * @param store A directory, which is made if it is not there (the files are in its `memories`
   *   directory, as the SDK's own tool keeps them); `sqlite:agent.db` for an SQLite
   *   database; `memory:` for a new store in this process; a store of your own; or several of
   *   these by the paths where they are mounted.
   * @throws An error if the address or an option is wrong, or if the store cannot be opened.
   */
  constructor(store: Places = './memory', options?: Options) {
    this.#engine = openEngine(store, options);
  }

  /**
   * Executes one tool call: its `input`, or the JSON text of it.
   *
   * Whatever the model did wrong is a reply with `isError`, and so is a store that is broken.
   */
  async execute(input: unknown): Promise<Reply> {
    return reply(await awake(this.#engine.execute(input)));
  }

  /** Shows a directory two levels deep, or the numbered lines of a file. */
  view(command: CommandFields<ViewCommand>): Promise<string> {
    return this.#run('view', command);
  }

  /** Makes a new file, with its parents. */
  create(command: CommandFields<CreateCommand>): Promise<string> {
    return this.#run('create', command);
  }

  /** Replaces the only occurrence of a text in a file. */
  str_replace(command: CommandFields<StrReplaceCommand>): Promise<string> {
    return this.#run('str_replace', command);
  }

  /** Inserts whole lines into a file. */
  insert(command: CommandFields<InsertCommand>): Promise<string> {
    return this.#run('insert', command);
  }

  /** Deletes a file, or a directory and all that it holds. */
  delete(command: CommandFields<DeleteCommand>): Promise<string> {
    return this.#run('delete', command);
  }

  /** Renames or moves a file or directory; never overwrites. */
  rename(command: CommandFields<RenameCommand>): Promise<string> {
    return this.#run('rename', command);
  }

  /**
   * Removes the files that nobody used for `olderThan` milliseconds. Not a command of the tool: for
   * you. Resolves to what was removed, or would be, in the order of the paths.
   *
   * Used is a file that was changed, or shown by a view of that very file, through a memory with
   * `recordAccess`. What fits one of the `pins` stays, and so do directories, and whatever is used
   * meanwhile.
   */
  async expire(olderThan: number, options: ExpireOptions = {}): Promise<Expired[]> {
    const { dryRun = false, onProgress } = options;
    const watch = onProgress && ((progress: ExpiryProgress) => onProgress(progress) !== false);
    return awake(this.#engine.expire(olderThan, dryRun, watch));
  }

  async #run(name: string, fields: unknown): Promise<string> {
    return orThrow(reply(await awake(this.#engine.executeAs(name, fields))));
  }
}

/** The text of a reply, or the error that the SDK's tool runner understands. */
export async function orThrow(reply: Reply): Promise<string> {
  if (reply.isError) {
    throw await toolError(reply.content, reply.cause);
  }
  return reply.content;
}

function reply({ content, isError, cause }: Awaited<ReturnType<Engine['execute']>>): Reply {
  return cause === undefined
    ? { content, isError }
    : { content, isError, cause: new StoreError('EIO', cause) };
}

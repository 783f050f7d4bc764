/**
 * Hooks: your own code before and after each command.
 *
 * They are called here and not by the core, so they may return promises: a call is begun, the hook
 * is called, and the call is finished (`PendingCall`). The core checks what a hook may change.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';

import type { Engine, PendingCall } from '../native.cjs';

import { ConfigError } from './errors.js';
import type { MemoryCommand } from './commands.js';
import { assertObject } from './named-options.js';
import type { MemoryOptions } from './options.js';

/** Thrown by the hook `before` to deny a command. The model reads its message. */
export class Deny extends Error {
  override readonly name = 'Deny';
}

/** The hook `before` failed. Its error is the `cause`. Nothing was changed. */
export class HookError extends Error {
  override readonly name = 'HookError';
}

/** A command with a changed `file_text`, `new_str` or `insert_text`; the rest may be left out. */
export type Changed = {
  [Command in MemoryCommand as Command['command']]: Readonly<Partial<Command>>;
}[MemoryCommand['command']];

/**
 * Called with each command before the store is touched. The command's paths are valid and
 * canonical. It returns nothing to allow the command, or an object with a new text. It throws a
 * {@link Deny} to deny the command. If it throws anything else, the command is not executed, and
 * the model reads only that it could not be checked.
 */
export type Before = (
  command: Readonly<MemoryCommand>,
) => Changed | null | undefined | void | Promise<Changed | null | undefined | void>;

/** Called after each call; the reply waits for it. An error in it becomes a process warning. */
export type After = (event: Event) => unknown;

/** What happened in one call. */
export interface Event {
  /** The name of the command; absent if the input named none of the six. */
  command?: MemoryCommand['command'];
  /**
   * The canonical path; for a rename, the old one. Absent if the call was refused before its paths
   * were validated.
   */
  path?: string;
  /** For a rename: the new path. */
  newPath?: string;
  /** How it ended: `denied` by the hook `before`, or `failed` because of the store or a hook. */
  outcome: 'ok' | 'refused' | 'denied' | 'failed' | 'cancelled';
  /**
   * If the outcome is ok: for `create`, `str_replace` and `insert` the bytes of the text to write,
   * as `before` left it; for `view` those of the reply. Otherwise 0.
   */
  bytes: number;
  /** The lines of the same text. */
  lines: number;
  /** The time until the reply was ready, `before` included, in milliseconds. */
  duration: number;
  /** The ids of the repairs in the input, such as `insert_text_from_new_str`. */
  repairs: string[];
  /** The id of the change that the command made, if the memory has a history. */
  change?: string;
  /** The text of the reply, with `eventContent`. */
  content?: string;
}

/** An answer of the engine, and the error of the hook `before`. */
export interface Answered {
  /** A text, or an image's type and bytes. */
  content: Awaited<ReturnType<Engine['execute']>>['content'];
  /** Whether the command failed. */
  isError: boolean;
  /** What kind of error it is, if it failed. */
  kind?: string;
  /** The error of the store or the hook. */
  cause?: string;
  /** Whether it was the hook. */
  hook?: true;
  /** What it threw. */
  thrown?: unknown;
}

/** The hooks that are running in the current asynchronous context. */
const running = new AsyncLocalStorage<ReadonlySet<Hooks>>();

/** The hooks of one memory. */
export class Hooks {
  readonly #before: Before | undefined;
  readonly #after: After | undefined;

  /** At least one of the two. */
  constructor(before: Before | undefined, after: After | undefined) {
    this.#before = before;
    this.#after = after;
  }

  /** Whether one of these hooks issued this call: its commands run without hooks. */
  areRunning(): boolean {
    return running.getStore()?.has(this) ?? false;
  }

  /** Executes the rest of a call. */
  async carryOut(call: PendingCall): Promise<Answered> {
    const { event, ...answered } = await this.#decided(call);
    const after = this.#after;
    if (after) {
      try {
        await this.#run(() => after(event as Event));
      } catch (error) {
        warn(error);
      }
    }
    return answered;
  }

  async #decided(call: PendingCall): Promise<Answered & { event: object }> {
    const before = this.#before;
    const { command } = call;
    if (!before || command === null) {
      return call.returned(undefined);
    }
    let returned: unknown;
    try {
      // Frozen, because a change in place has no effect.
      returned = await this.#run(() => before(Object.freeze(command) as MemoryCommand));
    } catch (thrown) {
      // By its name, because the CommonJS build and the ESM build have different classes.
      if (thrown instanceof Error && thrown.name === 'Deny') {
        return call.deny(thrown.message);
      }
      return { ...(await call.fail(String(thrown))), thrown };
    }
    return call.returned(returned);
  }

  #run<T>(hook: () => T): T {
    return running.run(new Set(running.getStore()).add(this), hook);
  }
}

/** Splits the options into those for the native half, and the hooks. */
export function withoutHooks(
  options: MemoryOptions | undefined,
): [MemoryOptions | undefined, Hooks?] {
  // The native half refuses options that are not an object.
  if (typeof options !== 'object' || options === null) {
    return [options];
  }
  assertObject(options);
  const { before, after, ...rest } = options;
  for (const [name, hook] of Object.entries({ before, after })) {
    if (hook !== undefined && hook !== null && typeof hook !== 'function') {
      throw new ConfigError(`${name} must be a function, or null, got ${typeof hook}`, name);
    }
  }
  return before || after ? [rest, new Hooks(before ?? undefined, after ?? undefined)] : [rest];
}

/** Reports an error of `after` as a warning, because the command itself is done. */
function warn(thrown: unknown): void {
  const detail = thrown instanceof Error ? thrown.stack : undefined;
  process.emitWarning(`The hook after failed: ${String(thrown)}`, {
    type: 'MemdirWarning',
    ...(detail === undefined ? {} : { detail }),
  });
}

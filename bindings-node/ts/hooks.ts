/**
 * Hooks: the developer's own code before and after each command.
 *
 * They are called here and not by the core, so that they may return promises: a call is begun, the
 * hook is asked, and the call is finished (`PendingCall`). What a hook may change is the core's.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';

import type { Engine, PendingCall } from '../native.cjs';

import { ConfigError } from './errors.js';
import type { MemoryCommand } from './commands.js';
import type { MemoryOptions } from './options.js';

/** Thrown by the hook `before` to forbid a command; its message is what the model reads. */
export class Deny extends Error {
  override readonly name = 'Deny';
}

/** Says that the hook `before` failed; its `cause` is what was thrown. Nothing was changed. */
export class HookError extends Error {
  override readonly name = 'HookError';
}

/** A command with a changed `file_text`, `new_str` or `insert_text`; the rest may be left out. */
export type Changed = {
  [Command in MemoryCommand as Command['command']]: Readonly<Partial<Command>>;
}[MemoryCommand['command']];

/**
 * Called with each command before the store is touched; its paths are valid and canonical. It
 * returns nothing to let the command pass or the changed text, and throws a {@link Deny} to forbid
 * it. If it throws anything else, nothing is done, and the model reads only that the command could
 * not be checked.
 */
export type Before = (
  command: Readonly<MemoryCommand>,
) => Changed | null | undefined | void | Promise<Changed | null | undefined | void>;

/** Called after each call; the reply waits for it. What it throws becomes a warning of Node's. */
export type After = (event: Event) => unknown;

/** What one call came to. */
export interface Event {
  /** Which of the six commands it was; absent if the input named none of them. */
  command?: MemoryCommand['command'];
  /**
   * The canonical path, of a rename that of what was moved; absent if it was refused before the
   * paths were validated.
   */
  path?: string;
  /** Of a rename: where to. */
  newPath?: string;
  /** How it ended; `denied` is by `before`, and `failed` that the store or a hook did. */
  outcome: 'ok' | 'refused' | 'denied' | 'failed';
  /**
   * If the outcome is ok: for `create`, `str_replace` and `insert` the bytes of the text that was to
   * be written, as `before` left it; for `view` those of the reply. Else 0.
   */
  bytes: number;
  /** The lines of the same text. */
  lines: number;
  /** How long it took until the reply was made, `before` included, in milliseconds. */
  duration: number;
  /** The ids of what was repaired in the input, such as `insert_text_from_new_str`. */
  repairs: string[];
  /** The text of the reply, with `eventContent`. */
  content?: string;
}

/** An answer of the engine, and what the hook `before` threw. */
export interface Answered {
  /** A text, or an image's type and bytes. */
  content: Awaited<ReturnType<Engine['execute']>>['content'];
  /** Whether the command failed. */
  isError: boolean;
  /** What broke. */
  cause?: string;
  /** Whether that was a hook. */
  hook?: true;
  /** What it threw. */
  thrown?: unknown;
}

/** Whose hooks this very piece of asynchronous work is a part of. */
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

  /** Whether it is one of them that asks: its commands run without hooks. */
  areRunning(): boolean {
    return running.getStore()?.has(this) ?? false;
  }

  /** Goes the rest of a call's way. */
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
      // Frozen, as a change in place would look as if it counted.
      returned = await this.#run(() => before(Object.freeze(command) as MemoryCommand));
    } catch (thrown) {
      // By its name: the class of the CommonJS build is another than that of the ESM build.
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

/** What of the options is for the native half, and the hooks among them. */
export function withoutHooks(
  options: MemoryOptions | undefined,
): [MemoryOptions | undefined, Hooks?] {
  // What is no object at all is for the native half to refuse.
  if (typeof options !== 'object' || options === null) {
    return [options];
  }
  const { before, after, ...rest } = options;
  for (const [name, hook] of Object.entries({ before, after })) {
    if (hook !== undefined && hook !== null && typeof hook !== 'function') {
      throw new ConfigError(`${name} must be a function, or null, got ${typeof hook}`, name);
    }
  }
  return before || after ? [rest, new Hooks(before ?? undefined, after ?? undefined)] : [rest];
}

/** The command is done: what `after` threw must not look as if it were not. */
function warn(thrown: unknown): void {
  const detail = thrown instanceof Error ? thrown.stack : undefined;
  process.emitWarning(`The hook after failed: ${String(thrown)}`, {
    type: 'MemdirWarning',
    ...(detail === undefined ? {} : { detail }),
  });
}

/**
 * Hooks: your own code before and after each command.
 *
 * They are called here and not by the core, so they may return promises: JavaScript begins a call,
 * runs the hook, and then finishes the call (`PendingCall`). The core checks the changes that a
 * hook makes.
 */

import { AsyncLocalStorage } from 'node:async_hooks';
import process from 'node:process';

import type { AskedCall, Engine, PendingCall } from '../native.cjs';
import type { Event } from '../results.cjs';

import { contextWith, LazyContext, unlessAborted } from './cancellation.js';
import type { CallContext, Settled, Signal } from './cancellation.js';
import type { MemoryCommand } from './commands.js';
import { assertFunction, assertObject } from './named-options.js';
import type { MemoryOptions } from './options.js';
import { isPromise } from './store.js';
import { withRefusals } from './tool-error.js';

/** Thrown by the hook `before` to deny a command. The model reads its message. */
export class Deny extends Error {
  override readonly name = 'Deny';
}

/** The hook `before` failed. Its error is the `cause`. Nothing was changed. */
export class HookError extends Error {
  override readonly name = 'HookError';
  /** The kind of error. */
  readonly kind = 'hook_failed';
}

/** A command with a changed `file_text`, `new_str` or `insert_text`; the rest may be left out. */
export type Changed = {
  [Command in MemoryCommand as Command['command']]: Readonly<Partial<Command>>;
}[MemoryCommand['command']];

/** A call, as the hook `before` gets it: the actor, the session, the id of the tool use, and the diff. */
export interface HookCall extends CallContext {
  /** The actor: that of `actingAs`, or the option `actor`; absent if there is no actor. */
  readonly actor?: string | undefined;
  /** The id of the session. Each memory has its own, and so has each result of `actingAs`. */
  readonly session: string;
  /** The `id` of the `tool_use` block; absent if the input was not a whole block. */
  readonly toolUseId?: string | undefined;
  /**
   * The command's change as a unified diff of the texts as they would be stored. Empty for a view. It reads the file, or lists
   * the directory, and does not count as a use of the file.
   *
   * An approval is valid only for this diff: if the file has changed by the time the command is executed, nothing is written,
   * and the model reads that it has to view the file again.
   *
   * It rejects with a `ToolError` if the command would be refused: let `before` throw it, and the model reads the same refusal.
   * It rejects with a `StoreError` if the store failed, and with a {@link HookError} if `before` has already returned, or the call
   * was cancelled: a diff that was not shown in time was not approved.
   */
  diff(): Promise<string>;
}

/** The implementation of {@link HookCall}. */
class CallOfHook extends LazyContext implements HookCall {
  readonly actor?: string;
  readonly session: string;
  readonly toolUseId?: string;
  readonly #call: Pick<PendingCall, 'known' | 'diff'>;
  readonly #isDecided: () => boolean;

  constructor(
    call: Pick<PendingCall, 'known' | 'diff'>,
    signal: Signal | null | undefined,
    isDecided: () => boolean,
  ) {
    super(signal);
    const { actor, session = '', toolUseId } = call.known ?? {};
    this.session = session;
    if (actor !== undefined) {
      this.actor = actor;
    }
    if (toolUseId !== undefined) {
      this.toolUseId = toolUseId;
    }
    this.#call = call;
    this.#isDecided = isDecided;
  }

  async diff(): Promise<string> {
    if (this.#isDecided()) {
      throw new HookError('ask for the diff before the hook before returns');
    }
    return withRefusals(() => this.#call.diff());
  }
}

/**
 * Called with each command before the store is touched. The command's paths are valid and canonical. Return nothing to allow
 * the command, or an object with a new text. Throw a {@link Deny} to deny the command. If it throws anything else, the
 * command is not executed, and the model reads only that it could not be checked.
 *
 * If the call's signal is aborted meanwhile, the call ends at once and nothing is changed. A later result or error of this
 * hook is ignored. Pass `call.signal` on to slow operations.
 *
 * @example
 * ```ts
 * before: async (command, { signal }) => {
 *   const answer = await fetch(RULES, { method: 'POST', body: JSON.stringify(command), signal });
 *   if (!answer.ok) throw new Deny('Error: The rules do not allow this. Nothing was changed.');
 * }
 * ```
 */
export type Before = (
  command: Readonly<MemoryCommand>,
  call: HookCall,
) => Changed | null | undefined | void | Promise<Changed | null | undefined | void>;

/**
 * Called after each call. The reply waits for it, unless the call's signal is aborted: then the call ends at once with the reply
 * that it has. An error in it becomes a process warning.
 */
export type After = (event: Event, call: CallContext) => unknown;

/** An answer of the engine, and the error of the hook `before`. */
export interface Answered {
  /** A text, or an image's type and bytes. */
  content: Awaited<ReturnType<Engine['execute']>>['content'];
  /** True if the command failed. */
  isError: boolean;
  /** The kind of error, if it failed. */
  kind?: string;
  /** The error of the store or the hook. */
  cause?: string;
  /** If it was the store: the code of its error. */
  code?: string;
  /** True if the hook failed. */
  hook?: true;
  /** The value that the hook, or your own store, threw. */
  thrown?: unknown;
}

/** The answer of a hook that cannot be awaited. */
export interface DecidedNow {
  /** Whether it returned, denied the change, or failed. */
  how: 'returned' | 'deny' | 'fail';
  /** Its return value, or the sentence. */
  said: unknown;
}

/** The hooks of a memory during a sync. None of these functions throws. */
export interface HooksInSync {
  /** Runs the hooks of a call, which may return promises, and finishes it. */
  ask: (asked: AskedCall) => void;
  /** Runs the hook before at once, as WebAssembly needs it. */
  before: (command: object, known: PendingCall['known']) => DecidedNow;
  /** Runs the hook after, and does not wait for its promise. */
  after: (event: Event) => void;
}

const NO_PROMISE =
  'the hook before returned a promise, which WebAssembly cannot await in a sync: it must answer at once';
const NO_DIFF = 'as WebAssembly, the diff of a change of a sync cannot be shown';

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

  /** True if one of these hooks issued this call: its commands run without hooks. */
  areRunning(): boolean {
    return running.getStore()?.has(this) ?? false;
  }

  /** Runs the hooks of a call that has begun, and finishes it. */
  async carryOut(call: PendingCall, signal: Signal | null | undefined): Promise<Answered> {
    const { event, ...answered } = await this.#decided(call, signal);
    await unlessAborted(signal, () => this.#tell(event, signal));
    return answered;
  }

  /** The hooks for the native half about the changes of a sync, unless one of them issued the sync. */
  inSync(
    signal: Signal | null | undefined,
    failed: (error: HookError) => void,
  ): HooksInSync | undefined {
    if (this.areRunning()) {
      return undefined;
    }
    const ask = (asked: AskedCall): void => {
      const call = asked.takeCall();
      if (call === null) {
        return asked.fail('the call was taken already');
      }
      this.carryOut(call, signal).then(
        ({ hook, cause = '', thrown }) => {
          if (hook) {
            failed(new HookError(cause, { cause: thrown }));
            asked.fail(cause);
          } else {
            asked.succeed();
          }
        },
        (error: unknown) => asked.fail(String(error)),
      );
    };
    const before = (command: object, known: PendingCall['known']) =>
      this.#decidedNow(command, known, signal, failed);
    const after = (event: Event): void => this.#tellNow(event, signal);
    return { ask, before, after };
  }

  #decidedNow(
    command: object,
    known: PendingCall['known'],
    signal: Signal | null | undefined,
    failed: (error: HookError) => void,
  ): DecidedNow {
    const before = this.#before;
    let isDecided = false;
    try {
      const diff = () => Promise.reject(new HookError(NO_DIFF));
      const asked = new CallOfHook({ known, diff }, signal, () => isDecided);
      const frozen = Object.freeze(command) as MemoryCommand;
      const said = this.#run(() => before?.(frozen, asked));
      if (isPromise(said)) {
        // Nothing is to wait for it.
        Promise.resolve(said).catch(() => undefined);
        throw new TypeError(NO_PROMISE);
      }
      return { how: 'returned', said: readable(said) };
    } catch (thrown) {
      if (thrown instanceof Error && thrown.name === 'Deny') {
        return { how: 'deny', said: thrown.message };
      }
      const said = String(thrown);
      failed(new HookError(`the hook \`before\` failed: ${said}`, { cause: thrown }));
      return { how: 'fail', said };
    } finally {
      isDecided = true;
    }
  }

  #tellNow(event: Event, signal: Signal | null | undefined): void {
    try {
      const told = this.#run(() => this.#after?.(event, contextWith(signal)));
      if (isPromise(told)) {
        Promise.resolve(told).catch(warn);
      }
    } catch (error) {
      warn(error);
    }
  }

  async #tell(event: Event, signal: Signal | null | undefined): Promise<void> {
    try {
      await this.#run(() => this.#after?.(event, contextWith(signal)));
    } catch (error) {
      warn(error);
    }
  }

  async #decided(
    call: PendingCall,
    signal: Signal | null | undefined,
  ): Promise<Answered & { event: Event }> {
    const before = this.#before;
    const { command } = call;
    if (!before || command === null) {
      return call.returned(undefined);
    }
    if (signal?.aborted) {
      return call.cancel();
    }
    let answer: Settled<unknown> | undefined;
    let isDecided = false;
    try {
      // Frozen, because a change in place has no effect.
      const frozen = Object.freeze(command) as MemoryCommand;
      const asked = new CallOfHook(call, signal, () => isDecided);
      answer = await unlessAborted(signal, () => this.#run(() => before(frozen, asked)));
      isDecided = true;
      if (answer) {
        answer = { settled: readable(answer.settled) };
      }
    } catch (thrown) {
      isDecided = true;
      if (signal?.aborted) {
        return call.cancel();
      }
      // Compared by name, because the CommonJS build and the ESM build have different classes.
      if (thrown instanceof Error && thrown.name === 'Deny') {
        return call.deny(thrown.message);
      }
      return { ...(await call.fail(String(thrown))), thrown };
    }
    return answer ? call.returned(answer.settled) : call.cancel();
  }

  #run<T>(hook: () => T): T {
    return running.run(new Set(running.getStore()).add(this), hook);
  }
}

/** The value that a hook returned. It throws what a getter of the value throws, because that is a failure of the hook. */
function readable(returned: unknown): unknown {
  const isObject = typeof returned === 'object' && returned !== null && !Array.isArray(returned);
  return isObject ? { ...returned } : returned;
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
    assertFunction(name, hook);
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

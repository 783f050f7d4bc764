/**
 * The system functions that our WebAssembly program imports: the time and random numbers. There are no files, no arguments
 * and no output, so this runs in every JavaScript runtime. It does not need `node:wasi`, which prints a warning that it is
 * experimental.
 */

const OK = 0;
const BAD_FILE = 8;
const CHARACTER_DEVICE = 2;
const CLOCK_REALTIME = 0;
/** The most random bytes that one call gives. */
const MAX_RANDOM = 65_536;

/** The memory of a module. */
export interface WasmMemory {
  /** Its bytes. After the memory has grown, this is a different buffer. */
  readonly buffer: ArrayBuffer;
}

/** A system for one module. */
export interface System {
  /** The functions that the module imports from `wasi_snapshot_preview1`. */
  imports: Record<string, unknown>;
  /** Sets the memory of the module. It exists only after the module has received its imports. */
  use(memory: WasmMemory): void;
}

/** Creates the system for a new module. */
export function wasi(): System {
  let memory: WasmMemory;
  const view = () => new DataView(memory.buffer);
  const none = (counts: number, bytes: number) => {
    view().setUint32(counts, 0, true);
    view().setUint32(bytes, 0, true);
    return OK;
  };
  const imports: Record<string, unknown> = {
    args_get: () => OK,
    args_sizes_get: none,
    environ_get: () => OK,
    environ_sizes_get: none,
    clock_time_get(clock: number, _precision: bigint, time: number) {
      const millis = clock === CLOCK_REALTIME ? realTime() : performance.now();
      view().setBigUint64(time, BigInt(Math.round(millis * 1_000)) * 1_000n, true);
      return OK;
    },
    random_get(at: number, length: number) {
      for (let done = 0; done < length; done += MAX_RANDOM) {
        const part = Math.min(MAX_RANDOM, length - done);
        crypto.getRandomValues(new Uint8Array(memory.buffer, at + done, part));
      }
      return OK;
    },
    fd_write(_file: number, parts: number, count: number, written: number) {
      let bytes = 0;
      for (let part = 0; part < count; part += 1) {
        bytes += view().getUint32(parts + 8 * part + 4, true);
      }
      view().setUint32(written, bytes, true);
      return OK;
    },
    fd_fdstat_get(_file: number, stat: number) {
      new Uint8Array(memory.buffer, stat, 24).fill(0);
      view().setUint8(stat, CHARACTER_DEVICE);
      return OK;
    },
    sched_yield: () => OK,
    poll_oneoff: () => OK,
    proc_exit(code: number): never {
      throw new Error(`memdir itself is at fault: it ended with ${code}`);
    },
  };
  // All other functions are about files, and there are no files.
  const others = new Proxy(imports, {
    get: (known, name) => known[name as string] ?? (() => BAD_FILE),
  });
  return { imports: others, use: (given) => (memory = given) };
}

let last = 0;

/** The time in milliseconds. Clocks here are coarse, so each call returns at least a microsecond more than the last. */
function realTime(): number {
  const now = Date.now();
  // If the clock was set back by more than a second, the new time is used.
  last = now > last || now < last - 1_000 ? now : last + 0.001;
  return last;
}

/**
 * Keeps the event loop turning for the moment that most commands take.
 *
 * A loop with nothing to do goes to sleep, and waking a processor takes longer than most commands do
 * (25 µs and more on a virtual machine). Turning blocks nothing: whatever else happens is seen to in
 * every turn.
 */

import { setImmediate } from 'node:timers';

import native from '../native.cjs';

/** So many turns take about 0.25 ms; what takes longer is worth sleeping for. */
const TURNS = 200;

let waiting = 0;
let left = 0;
let turning = false;

/** The promise, which the event loop stays awake for. */
export async function awake<T>(promise: Promise<T>): Promise<T> {
  waiting += 1;
  left = TURNS;
  if (!turning) {
    turning = true;
    setImmediate(turn);
  }
  try {
    return await promise;
  } finally {
    waiting -= 1;
  }
}

function turn(): void {
  // The thread that the answer comes from may be waiting for this very processor.
  native.yieldThread();
  left -= 1;
  turning = waiting > 0 && left > 0;
  if (turning) {
    setImmediate(turn);
  }
}

// Real servers, for the tests that need one.

import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import { PROJECT } from './support.mjs';

/** What the script answers where no server is installed. */
const MISSING = 3;

/**
 * A PostgreSQL server, until the file's last test: a function that gives the address of a memory
 * that nobody else has; `undefined` where none is installed, which in CI is a failure.
 */
export async function postgres(): Promise<(() => string) | undefined> {
  const place = mkdtempSync(join(tmpdir(), 'memdir-test-'));
  // The server does not run as root, and has to get in.
  chmodSync(place, 0o755);
  const script = fileURLToPath(new URL('tests/servers/postgres', PROJECT));
  // It stops when its input ends, whatever becomes of this process.
  const server = spawn(script, ['serve', join(place, 'server')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = new Promise<number | null>((resolve) => server.on('close', resolve));
  const lines = createInterface(server.stdout);
  const address = await Promise.race([
    new Promise<string>((resolve) => lines.once('line', resolve)),
    ended,
  ]);
  if (typeof address !== 'string') {
    if (address !== MISSING || process.env['CI'] === 'true') {
      throw new Error('the PostgreSQL server did not start, or is not installed');
    }
    return undefined;
  }
  after(async () => {
    server.stdin.end();
    await ended;
    rmSync(place, { recursive: true, force: true });
  });
  let next = 0;
  return () => `${address}?namespace=node-${(next += 1)}`;
}

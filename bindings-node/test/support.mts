// Helpers that several tests use.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The project's root, seen from a compiled test. */
export const PROJECT = new URL('../../../', import.meta.url);
/** This package's root. */
export const PACKAGE = new URL('../../', import.meta.url);

export const require = createRequire(import.meta.url);

/** A directory that is removed after the test that creates it, or after the file's last test. */
export function temporary(): string {
  const directory = mkdtempSync(join(tmpdir(), 'memdir-test-'));
  after(() => remove(directory));
  return directory;
}

function remove(directory: string): void {
  try {
    rmSync(directory, { recursive: true, force: true });
  } catch (error) {
    // Windows cannot remove an open file, and a store's database is open until the store is
    // garbage-collected.
    if (process.platform !== 'win32' || (error as NodeJS.ErrnoException).code !== 'EBUSY') {
      throw error;
    }
  }
}

/** The amount of work relative to `make test`: `MEMDIR_EFFORT`, or 1. */
export const EFFORT = Math.max(1, Number.parseInt(process.env['MEMDIR_EFFORT'] ?? '', 10) || 1);

export interface Ran {
  status: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end, and kills it after a minute. */
export function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: NodeJS.ProcessEnv; timeout?: number } = {},
): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { timeout: 60_000, stdio: 'pipe', ...options });
    const ran: Ran = { status: null, stdout: '', stderr: '' };
    child.stdout.on('data', (data) => (ran.stdout += data));
    child.stderr.on('data', (data) => (ran.stderr += data));
    child.on('error', reject);
    child.on('close', (status) => resolve({ ...ran, status }));
  });
}

/** Runs ESM code that can import `memdir`, in its own process. */
export function runScript(source: string, ...flags: string[]): Promise<Ran> {
  const args = [...flags, '--input-type=module', '--eval', source];
  return run(process.execPath, args, { cwd: fileURLToPath(PACKAGE) });
}

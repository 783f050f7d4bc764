// Helpers for the tests of several clients: the packed npm packages, installed as a user installs
// them.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';

export const PROJECT = fileURLToPath(new URL('../..', import.meta.url));
/** The directory in which `npm run pack:debug` leaves the packages. */
export const PACKED = join(PROJECT, 'bindings-node', 'npm');
/** The directory of the clients. */
const CLIENTS = join(PROJECT, '.cache', 'mcp');

const requireClient = createRequire(join(CLIENTS, 'package.json'));

/** A module of a client. */
export const client = (specifier) => import(pathToFileURL(requireClient.resolve(specifier)).href);

/** The path of a file in a client's package. */
export const file = (path) => join(CLIENTS, 'node_modules', path);

/** A project that contains only the packages, which `npm run pack:debug` has installed. No test changes it. */
export const INSTALLED = join(PACKED, 'installed');
/** The command line, as npm installs it. */
export const PROGRAM = join(INSTALLED, 'node_modules', 'memdir', 'bin.cjs');

/** The factor of repetitions compared with `make test`: `MEMDIR_EFFORT`, 1 by default. */
export const EFFORT = Math.max(1, Number.parseInt(process.env.MEMDIR_EFFORT ?? '', 10) || 1);

export const NAMES = ['view', 'create', 'str_replace', 'insert', 'delete', 'rename', 'search'];

/** An empty directory, which is removed after the file's last test. */
export function temporary() {
  const directory = mkdtempSync(join(tmpdir(), 'memdir-mcp-'));
  after(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

/** The output of a program. A failure, or a run of more than a minute, fails the test. */
export function run(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      timeout: 60_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      ...options,
    });
    let [output, errors] = ['', ''];
    child.stdout.on('data', (data) => (output += data));
    child.stderr.on('data', (data) => (errors += data));
    child.on('error', reject);
    child.on('close', (status) => {
      assert.equal(status, 0, `${command} ${args.join(' ')}\n${output}${errors}`);
      resolve(output);
    });
  });
}

/** The address of a server over HTTP, which ends with the test. */
export async function served(t, store, ...flags) {
  const server = spawn(process.execPath, [PROGRAM, 'mcp', store, '--http=127.0.0.1:0', ...flags], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  t.after(() => server.kill());
  for await (const line of createInterface({ input: server.stderr })) {
    const address = /^memdir: serving (http:\S+)/.exec(line)?.[1];
    assert.ok(address, line);
    return address;
  }
  throw new Error('the server has ended');
}

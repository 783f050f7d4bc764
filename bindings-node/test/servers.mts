// Real servers for tests: those of the whole test run (tests/servers/run), or otherwise one that this file starts.

import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';

import { PROJECT } from './support.mjs';

type Name = 'postgres' | 's3' | 'azure';

/** The exit code of a script if its server is not installed. */
const MISSING = 3;

/** Returns the address of a new memory each time. */
export type Addresses = () => string;

/** On PostgreSQL. Undefined if the server is not installed, which is a failure in CI. The others do the same. */
export async function postgres(): Promise<Addresses | undefined> {
  const address = running('postgres') ?? (await installed('postgres', servePostgres));
  return address ? () => `${address}?namespace=node-${randomUUID()}` : undefined;
}

/** In a bucket of a server with the S3 protocol. */
export async function s3(): Promise<Addresses | undefined> {
  const endpoint = running('s3') ?? (await installed('s3', start));
  process.env['AWS_ACCESS_KEY_ID'] = 'test-key-id';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'test-secret-key';
  // Reading the system certificates for each of many stores would take most of the time.
  process.env['AWS_DISABLE_SYSTEM_CERTIFICATES'] = 'true';
  const options = `endpoint=${endpoint}&region=us-east-1&allow_http=true`;
  return endpoint ? () => `s3://memdir/node-${randomUUID()}?${options}` : undefined;
}

/** In a container of an Azure server. */
export async function azure(): Promise<Addresses | undefined> {
  const server = running('azure') ?? (await installed('azure', start));
  if (!server) {
    return undefined;
  }
  // The server's built-in account, whose name and key are public, and a signature made with that key.
  const account = 'devstoreaccount1';
  const signature =
    'sv=2020-12-06&ss=b&srt=sco&sp=rwdlac&se=2199-01-01T00:00:00Z&spr=https,http&' +
    'sig=OYe7okbn9HWtaT2g2gT6DxaE8q7tkOAF8bPCw5zX25g%3D';
  const endpoint = `${server}/${account}`;
  const { status } = await fetch(`${endpoint}/memdir?restype=container&${signature}`, {
    method: 'PUT',
  });
  // 409: another test file has created it.
  assert.ok([201, 409].includes(status), `${status}`);
  process.env['AZURE_STORAGE_ACCOUNT_NAME'] = account;
  process.env['AZURE_STORAGE_ACCOUNT_KEY'] =
    'Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==';
  process.env['AZURE_DISABLE_SYSTEM_CERTIFICATES'] = 'true';
  return () => `az://memdir/node-${randomUUID()}?endpoint=${endpoint}&allow_http=true`;
}

/**
 * The address of a server of the whole test run; an empty text if it has no such server; `undefined` outside such a run.
 */
function running(name: Name): string | undefined {
  const directory = process.env['MEMDIR_TEST_SERVERS'];
  if (directory === undefined) {
    return undefined;
  }
  const file = join(directory, name, 'address');
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : absent(name);
}

/** The address of a server that is started now, in a new directory. It stops after the file's last test. */
async function installed(
  name: Name,
  begin: (script: string, place: string) => Promise<string> | string,
): Promise<string> {
  const place = mkdtempSync(join(tmpdir(), 'memdir-test-'));
  // PostgreSQL does not run as root, and must be able to enter the directory.
  chmodSync(place, 0o755);
  const address = await begin(fileURLToPath(new URL(`tests/servers/${name}`, PROJECT)), place);
  after(() => rmSync(place, { recursive: true, force: true }));
  return address || absent(name);
}

function absent(name: Name): '' {
  if (process.env['CI'] === 'true') {
    throw new Error(`the server ${name} is not installed: make servers`);
  }
  return '';
}

function start(script: string, place: string): string {
  const { status, stdout, stderr } = spawnSync(script, ['start', place], { encoding: 'utf8' });
  assert.ok(status === 0 || status === MISSING, stderr);
  if (status === 0) {
    after(() => spawnSync(script, ['stop', place]));
  }
  return stdout.trim();
}

/** It stops when its input ends, even if this process crashes. */
async function servePostgres(script: string, place: string): Promise<string> {
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
    assert.equal(address, MISSING, 'the PostgreSQL server did not start');
    return '';
  }
  after(async () => {
    server.stdin.end();
    await ended;
  });
  return address;
}

/**
 * A web server with a memory for each user, in one PostgreSQL database or one bucket.
 *
 *     npm install memdir
 *     export MEMORIES=postgres://user:password@db.example.com/agents
 *     node dist/server.js
 *
 * docs/guides/many-users.md explains it.
 */

import { createServer } from 'node:http';
import type { IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { Memory, StoreError, isRefusedError } from 'memdir';
import type { ErrorKind } from 'memdir';

function openMemory(user: string): Memory {
  return new Memory(process.env['MEMORIES'] ?? '', {
    namespace: `user:${user}`,
    maxFiles: 200,
    maxTotalBytes: 1_000_000,
    lockTimeout: 2_000,
  });
}

/** The status and the body of an answer. */
type Answer = [status: number, body: object];

/** The user's id. Your own server checks a session or a token; this one trusts the client. */
function userOf(request: IncomingMessage): string | undefined {
  return /^Bearer (.+)$/.exec(request.headers.authorization ?? '')?.[1];
}

async function answer(request: IncomingMessage, signal: AbortSignal): Promise<Answer> {
  const user = userOf(request);
  if (user === undefined) {
    return [401, { detail: 'Sign in.' }];
  }
  const memory = openMemory(user);
  const { method = '', url = '/' } = request;
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  switch (`${method} ${pathname}`) {
    case 'POST /tool': {
      // One tool call, for a conversation that runs elsewhere.
      const { content, isError, cause } = await memory.execute(await text(request), { signal });
      if (cause instanceof StoreError) {
        throw cause;
      }
      return [200, { content, is_error: isError }];
    }
    case 'GET /file':
      // A page of your own that shows users what is remembered.
      return [200, { text: await memory.read(searchParams.get('path') ?? '', { signal }) }];
    case 'DELETE /memory': {
      const { files, versions } = await memory.erase();
      return [200, { files, versions }];
    }
  }
  return [404, { detail: 'There is no such address.' }];
}

/** The HTTP status for each kind of error. */
const STATUS: Record<ErrorKind, number> = {
  not_found: 404,
  exists: 409,
  is_a_directory: 409,
  not_a_directory: 409,
  invalid: 400,
  no_match: 400,
  several_matches: 400,
  not_text: 415,
  read_only: 403,
  permission_denied: 403,
  fixed: 403,
  too_large: 413,
  full: 507,
  sensitive: 403,
  stale: 409,
  changed: 409,
  denied: 403,
  busy: 503,
  cancelled: 503,
  unavailable: 503,
  outcome_unknown: 500,
  hook_failed: 500,
  config: 500,
};

function failed(error: unknown): Answer {
  if (isRefusedError(error)) {
    return [STATUS[error.kind], { detail: error.message }];
  }
  // The details are for your log alone.
  console.error(error);
  if (!(error instanceof StoreError)) {
    return [500, { detail: 'The request failed.' }];
  }
  // Only a request that changed nothing is worth another try.
  return error.kind === 'outcome_unknown'
    ? [500, { detail: 'The change may or may not have been made.' }]
    : [503, { detail: 'The memory cannot be used now.' }];
}

const server = createServer(async (request, response) => {
  const gone = new AbortController();
  response.on('close', () => gone.abort());
  const [status, body] = await answer(request, gone.signal).catch(failed);
  const retry = status === 503 ? { 'retry-after': '5' } : {};
  response.writeHead(status, { 'content-type': 'application/json', ...retry });
  response.end(JSON.stringify(body));
});

server.listen(Number(process.env['PORT'] ?? 8000), '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});

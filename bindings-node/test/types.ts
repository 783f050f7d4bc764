// The types that a strict TypeScript user relies on. This file is compiled in each kind of project,
// and the libraries' own types are checked too (see package.test.mts). It is never run.

import type { Anthropic } from '@anthropic-ai/sdk';
import { betaMemoryTool } from '@anthropic-ai/sdk/helpers/beta/memory';
import type { MemoryToolHandlers } from '@anthropic-ai/sdk/helpers/beta/memory';
import type { BetaRunnableTool } from '@anthropic-ai/sdk/lib/tools/BetaRunnableTool';
import type {
  BetaContextManagementConfig,
  BetaImageBlockParam,
  BetaMemoryTool20250818Command,
  BetaToolResultContentBlockParam,
} from '@anthropic-ai/sdk/resources/beta';
import {
  HistoryError,
  Memory,
  StoreError,
  SyncError,
  contextManagement,
  memoryTool,
  openStore,
  readOnly,
} from 'memdir';
import { checkContract } from 'memdir/testing';
import type {
  Entry,
  Event,
  Expired,
  GrepMatch,
  HistoryErrorKind,
  ImageBlock,
  MemoryCommand,
  MemoryTool,
  MemoryOptions,
  Reply,
  Restored,
  SearchResults,
  Store,
  SyncErrorKind,
  SyncOptions,
  Synced,
  ToolDefinition,
  Undo,
  Version,
} from 'memdir';

/** Fails to compile unless the two types are the same. */
type Same<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
function check<T extends true>(): T | undefined {
  return undefined;
}

// The tool has the type that the SDK runs, and its input has the SDK's command type.
export const runnable: BetaRunnableTool = memoryTool();
export const typed: BetaRunnableTool<BetaMemoryTool20250818Command> = memoryTool('./memory');
export const extended: BetaRunnableTool = { ...memoryTool(), cache_control: { type: 'ephemeral' } };
export const theirs: BetaMemoryTool20250818Command = {} as MemoryCommand;
export const ours: MemoryCommand = {} as BetaMemoryTool20250818Command;
check<Same<ReturnType<typeof memoryTool>, MemoryTool>>();
check<Same<ReturnType<MemoryTool['run']>, Promise<string | ImageBlock[]>>>();

// A memory implements the handlers that the SDK requires.
export const handlers: MemoryToolHandlers = new Memory();
export const made: BetaRunnableTool<BetaMemoryTool20250818Command> = betaMemoryTool(new Memory());

export function run(client: Anthropic) {
  return client.beta.messages.toolRunner({
    model: 'claude-sonnet-5-5',
    max_tokens: 1024,
    messages: [],
    tools: [memoryTool(), betaMemoryTool(new Memory('memory:'))],
    context_management: contextManagement(),
  });
}

// The `context_management` of a request.
export const managed: BetaContextManagementConfig = contextManagement({ clearAt: null });

// The engine.
check<Same<ReturnType<Memory['execute']>, Promise<Reply>>>();
check<
  Same<Pick<Reply, 'content' | 'isError'>, { content: string | ImageBlock[]; isError: boolean }>
>();
check<Same<ReturnType<Memory['view']>, Promise<string | ImageBlock[]>>>();
// An image's block is assignable to the SDK's, and without images there is only text.
export const block: BetaImageBlockParam = {} as ImageBlock;
export const blocks: Array<BetaToolResultContentBlockParam> = [{} as ImageBlock];
check<Same<ReturnType<typeof openStore>, Store>>();
check<Same<ReturnType<typeof checkContract>, Promise<void>>>();
export const viewed: Promise<string> = new Memory('memory:', { maxImageBytes: null }).view({
  path: '/memories',
  view_range: [1, -1],
});
export const named: Promise<string | ImageBlock[]> = new Memory().view({
  command: 'view',
  path: '/memories',
});
// @ts-expect-error: the path is missing
void new Memory().view({});
// @ts-expect-error: this is another command
void new Memory().view({ command: 'delete', path: '/memories' });
// Without new_str, the text is deleted.
void new Memory().str_replace({ path: '/memories/a', old_str: 'a' });
// @ts-expect-error: old_str is missing
void new Memory().str_replace({ path: '/memories/a', new_str: 'a' });
void memoryTool(new Memory().actingAs('ann'));
// @ts-expect-error: the options are those of the memory
void memoryTool(new Memory(), { maxFiles: 5 });

// Your own code, and the tool for other model hosts.
check<Same<ReturnType<Memory['grep']>, Promise<GrepMatch[]>>>();
check<Same<ReturnType<Memory['search']>, Promise<SearchResults>>>();
check<Same<ReturnType<Memory['list']>, Promise<Entry[]>>>();
export const custom: Anthropic.Beta.BetaTool = new Memory().toolDefinition('anthropic-custom');
export const strict: Array<ToolDefinition<'openai'>> = new Memory().toolDefinitions('openai');
/** The `FunctionTool` of OpenAI's SDK. */
interface FunctionTool {
  type: 'function';
  name: string;
  parameters: { [key: string]: unknown } | null;
  strict: boolean | null;
  description?: string | null;
}
export const functions: FunctionTool[] = strict;
export const plain: { parameters: object } = new Memory().toolDefinition();
// @ts-expect-error: unknown dialect
new Memory().toolDefinition('mcp');

// A sync.
check<Same<ReturnType<Memory['sync']>, Promise<Synced>>>();
check<Same<SyncError['kind'], SyncErrorKind>>();
export const synced = [
  new Memory().sync(new Memory('memory:', { maxImageBytes: null })),
  new Memory('memory:', { maxImageBytes: null }).sync('memory:', { onConflict: 'a' }),
  new Memory().sync(openStore('memory:'), { names: ['laptop', 'server'], exclude: [] }),
];
export const syncing: SyncOptions = { onProgress: ({ phase }) => phase === 'comparing' };
// @ts-expect-error: unknown word
void new Memory().sync('memory:', { onConflict: 'newest' });
// @ts-expect-error: two names
void new Memory().sync('memory:', { names: ['laptop'] });

// The history.
check<Same<ReturnType<Memory['history']>, Promise<Version[]>>>();
check<Same<ReturnType<Memory['undo']>, Promise<Restored>>>();
check<Same<ReturnType<Memory['readVersion']>, Promise<Uint8Array>>>();
check<Same<Version['time'], Date>>();
check<Same<HistoryError['kind'], HistoryErrorKind>>();
check<Same<Event['change'], string | undefined>>();
check<Same<Event['command'], MemoryCommand['command'] | undefined>>();
check<Same<Expired['lastUsed'], Date>>();
export const acting: Memory<{ maxImageBytes: null }> = new Memory('memory:', {
  maxImageBytes: null,
}).actingAs('me');
export const undone: Undo[] = [
  { change: '' },
  { since: new Date() },
  { since: new Date(), actor: 'me' },
];
export const queried = new Memory().history(null, { limit: 10, since: new Date(), actor: null });
// @ts-expect-error: neither a change nor a time
void new Memory().undo({});
// @ts-expect-error: not both
void new Memory().undo({ change: '', since: new Date() });
// @ts-expect-error: a time is a Date
void new Memory().restoreAll(0);

// Several stores.
export const mounted = new Memory({
  '/memories': './memory',
  '/memories/team': openStore('memory:'),
  '/memories/handbook': readOnly('./docs'),
});
// @ts-expect-error: not a path in a memory
void (() => new Memory({ '/memories': 'memory:', '/tmp': 'memory:' }));
// @ts-expect-error: mounts cannot be nested
void (() => new Memory({ '/memories': { '/memories': 'memory:' } }));

// Options.
export const options: MemoryOptions = {
  maxViewChars: null,
  onExisting: 'overwrite',
  durability: 'full',
};
// @ts-expect-error: unknown option
new Memory('./memory', { maxViewChar: 1 });
// @ts-expect-error: unknown value
memoryTool('./memory', { onExisting: 'replace' });

// Custom stores, whose methods may or may not return promises.
class Mixed implements Store {
  read(path: string): Uint8Array {
    throw new StoreError('ENOENT', path);
  }
  async list(path: string): Promise<Entry[]> {
    return [{ path: `${path}/a`, size: 1 }, { path: `${path}/b` }];
  }
  async write(_path: string, _content: Uint8Array, _overwrite: boolean) {}
  async update(_path: string, edit: (content: Uint8Array) => Uint8Array | null | undefined) {
    edit(new Uint8Array());
  }
  delete(_path: string) {}
  rename(_from: string, _to: string) {}
}
export const own = [new Memory(new Mixed()), memoryTool(new Mixed()), new Memory(openStore('.'))];
// @ts-expect-error: not a store
new Memory({ read() {} });
// @ts-expect-error: unknown code
new StoreError('EWHATEVER');

// Starts the server in a bundle for Claude Desktop; `release/mcpb` copies this file into it as server/index.cjs.
//
// The server reads its own standard input. An app with an embedded Node may pass its streams only as JavaScript
// objects. So the server is a separate process, and this program passes its input and output on.
'use strict';

const { spawn } = require('node:child_process');

const program = require.resolve('memdir/package.json').replace(/package\.json$/, 'bin.cjs');
const server = spawn(process.execPath, [program, 'mcp', ...process.argv.slice(2)], {
  // Makes Electron's program behave as Node.
  env: { ...process.env, ELECTRON_RUN_AS_NODE: '1' },
  stdio: ['pipe', 'pipe', 'inherit'],
  windowsHide: true,
});
process.stdin.pipe(server.stdin);
server.stdout.pipe(process.stdout);
// The server has ended; its exit status has the reason.
server.stdin.on('error', () => {});
server.on('error', (error) => {
  console.error(`memdir: the server did not start: ${error.message}`);
  process.exit(1);
});
server.on('exit', (code) => {
  process.exitCode = code ?? 1;
  process.stdin.destroy();
});

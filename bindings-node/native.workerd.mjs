// memdir as WebAssembly for Cloudflare Workers, whose tools choose this file by their condition `workerd` (`imports` in
// package.json). They compile the module when a worker is deployed: a worker may not.
import module from './memdir.wasm';

import { instantiate } from './esm/wasm.js';

export default instantiate(module);

// memdir as WebAssembly for Cloudflare Workers, whose tools choose this file by their condition `workerd` (`imports` in
// package.json). They compile the module at deployment, because a worker may not compile it.
import module from './memdir.wasm';

import { instantiate } from './esm/wasm.js';

export default instantiate(module);

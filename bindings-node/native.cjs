// Loads the binary for this machine: the one that was built here, or the one of the package that
// npm chose among `optionalDependencies`.
'use strict';

/** Where there are binaries for, in Node's words. */
const TARGETS = [
  'linux-x64-gnu',
  'linux-arm64-gnu',
  'linux-x64-musl',
  'linux-arm64-musl',
  'darwin-x64',
  'darwin-arm64',
];

function target() {
  const { platform, arch, report } = process;
  if (platform === 'linux') {
    const { glibcVersionRuntime } = report.getReport().header;
    return `linux-${arch}-${glibcVersionRuntime ? 'gnu' : 'musl'}`;
  }
  return `${platform}-${arch}`;
}

function load(name) {
  const tried = [];
  for (const file of [`./memdir.${name}.node`, `memdir-${name}`]) {
    try {
      return require(file);
    } catch (error) {
      tried.push(error);
    }
  }
  const broken = tried.find((error) => error.code !== 'MODULE_NOT_FOUND');
  const why = broken
    ? `The binary of memdir for ${name} cannot be loaded: ${broken.message}`
    : TARGETS.includes(name)
      ? `memdir needs its package memdir-${name}, which is not installed. It is an optional ` +
        'dependency: install again without leaving these out (npm: no --omit=optional), and on ' +
        'this kind of machine rather than by copying node_modules from another.'
      : `memdir has no binary for ${name}. There is one for ${TARGETS.join(', ')}.`;
  throw new Error(why, { cause: broken ?? tried.at(-1) });
}

module.exports = load(target());

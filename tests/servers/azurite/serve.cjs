// Starts Azurite without its collection of garbage, which no option turns off.
//
// It removes every ten minutes what was written and replaced more than ten minutes ago. After each removal it sorts an index
// anew, so a few thousand of them take minutes, in which no request is answered. The data of tests is in memory, and goes
// with the process.
//
// Usage: node serve.cjs PLACE OPTION...; PLACE has node_modules/azurite, and the options are Azurite's.

const path = require('node:path');

const [place] = process.argv.splice(2, 1);
const azurite = path.join(place, 'node_modules/azurite/dist/src/blob');
const constants = require(path.join(azurite, 'utils/constants.js'));
// The longest time that a timer takes: 24 days.
constants.DEFAULT_GC_INTERVAL_MS = 2 ** 31 - 1;
require(path.join(azurite, 'main.js'));

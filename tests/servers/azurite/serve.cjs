// Starts Azurite without its garbage collection, which no option disables.
//
// Every ten minutes it removes data that was written and replaced more than ten minutes ago. After each removal it sorts an
// index again. So a few thousand removals take minutes, in which no request is answered. The data of tests is in memory, and
// is gone with the process.
//
// Usage: node serve.cjs PLACE OPTION...; PLACE has node_modules/azurite, and the options are Azurite's.

const path = require('node:path');

const [place] = process.argv.splice(2, 1);
const azurite = path.join(place, 'node_modules/azurite/dist/src/blob');
const constants = require(path.join(azurite, 'utils/constants.js'));
// The longest time of a timer: 24 days.
constants.DEFAULT_GC_INTERVAL_MS = 2 ** 31 - 1;
require(path.join(azurite, 'main.js'));

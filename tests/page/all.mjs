// All tests of the page in one process and one browser, because starting these takes as long as
// several tests.

import './agent.test.mjs';
import './attacks.test.mjs';
import './changes.test.mjs';
import './conflicts.test.mjs';
import './drafts.test.mjs';
import './keys.test.mjs';
import './looking.test.mjs';
import './plain.test.mjs';
import './search.test.mjs';
import './tabs.test.mjs';

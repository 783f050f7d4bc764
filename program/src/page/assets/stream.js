
// --- one connection for all tabs ------------------------------------------------------------------
//
// A browser opens at most six connections to a server. So one of all tabs, the leader, holds the stream of changes of all shown
// memories, and passes the changes on to the others. The leader holds a lock. When its tab is closed or hidden, the browser gives the
// lock to another tab. The leader finds out by locks as well which memories are shown: every tab holds a shared lock for its memory,
// and a tab that crashes releases it, too.

const LOOK_AGAIN = { changes: [] };
// How long a connection may be lost before the user is told, in milliseconds.
const GRACE = 2000;
// How long a memory is followed after no tab shows it. Usually the same tab opens another page of it.
const LINGER = 2000;
// The pause before a new attempt, if the browser does not retry by itself.
const AGAIN = 3000;

const channel = memory ? new BroadcastChannel('memdir') : null;
const tell = (kind, more = {}) => channel?.postMessage({ kind, store, memory, ...more });

const LEADER = 'memdir changes';
const SHOWS = 'memdir shows ';

// Ends this tab's part, while it follows changes.
let following = null;
// While this tab is the leader: reopens the connection, and updates the list of memories.
let leading = null;
let connection = 'off';
let isNew = false;
let grace = null;

function hear({ changes }) {
  const editing = $('[data-editing]')?.dataset.editing;
  const own = changes.filter((change) => change.path === editing);
  if (!isSending && !isSent) {
    // The change may be older than the opened file. The first event, and the one after too many, contain no changes.
    if (own.some((change) => change.kind === 'deleted')) stale();
    else if (own.length > 0 || changes.length === 0) compare().catch(() => undefined);
  }
  refresh();
  searchAgain();
}

function connected(state) {
  connection = state;
  $('#live').classList.toggle('on', state === 'on');
  $('#live').textContent = state === 'on' ? 'live' : 'not connected';
  clearTimeout(grace);
  if (state === 'on') well();
  else if (state === 'out') say('out', { again: tryAgain });
  else grace = setTimeout(() => following && say('gone', { again: tryAgain }), GRACE);
}

function tryAgain() {
  if (leading) leading.open();
  else tell('try again');
}

// The memories that any tab shows, in order.
async function shownMemories() {
  if (!navigator.locks) return [memory];
  const { held } = await navigator.locks.query();
  const shown = held.filter(({ name }) => name.startsWith(SHOWS)).map(({ name }) => name.slice(SHOWS.length));
  return [...new Set([memory, ...shown])].sort((one, other) => one - other);
}

// Holds the connection until this tab is closed or hidden.
function lead(signal) {
  return new Promise((resolve) => {
    let source = null;
    let timer = null;
    let followed = [];
    const state = (is) => {
      connected(is);
      tell('connection', { state: is, followed });
    };
    const open = () => {
      clearTimeout(timer);
      source?.close();
      if (followed.length === 0) return;
      const opened = new EventSource(`/${followed.join(',')}/changes`);
      source = opened;
      opened.onopen = () => state('on');
      for (const number of followed) {
        opened.addEventListener(number, ({ data }) => {
          tell('changes', { data, of: number });
          if (number === memory) hear(JSON.parse(data));
        });
      }
      opened.onerror = async () => {
        // The browser retries by itself, unless it was refused.
        if (opened.readyState !== EventSource.CLOSED) return state('off');
        const answer = await fetch('/assets/icon.svg').catch(() => null);
        if (signal.aborted || source !== opened) return undefined;
        if (answer && isSignedOut(answer)) return state('out');
        timer = setTimeout(open, AGAIN);
        return state('off');
      };
    };
    // Reopens the connection if the shown memories have changed. Checks run one after another, so the last one counts.
    let looking = Promise.resolve();
    const look = () => (looking = looking.then(lookOnce));
    const lookOnce = async () => {
      const shown = await shownMemories();
      if (signal.aborted) return;
      if (shown.join() !== followed.join()) {
        followed = shown;
        open();
      } else {
        tell('connection', { state: connection, followed });
      }
    };
    leading = { open, look };
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      source?.close();
      leading = null;
      resolve();
    });
    look();
  });
}

function follow() {
  if (following || document.hidden || !memory) return;
  following = new AbortController();
  const { signal } = following;
  if (!navigator.locks) {
    lead(signal);
    return;
  }
  isNew = true;
  const shows = (resolve) => {
    tell('hello');
    signal.addEventListener('abort', resolve);
  };
  const until = { mode: 'shared', signal };
  navigator.locks.request(SHOWS + memory, until, () => new Promise(shows)).catch(() => undefined);
  navigator.locks.request(LEADER, { signal }, () => lead(signal)).catch(() => undefined);
}

function rest() {
  following?.abort();
  following = null;
  tell('bye');
  clearTimeout(grace);
}

channel?.addEventListener('message', ({ data: said }) => {
  const isOfThis = said.store === store && said.memory === memory;
  if (said.kind === 'redacted' && isOfThis) dropDrafts();
  // A page was opened, so this browser is signed in again.
  if (said.kind === 'opened' && leading && connection !== 'on') leading.open();
  if (!following) return;
  if (leading) {
    if (said.kind === 'hello') leading.look();
    if (said.kind === 'bye') setTimeout(() => leading?.look(), LINGER);
    if (said.kind === 'try again') leading.open();
  } else if (said.kind === 'connection' && said.followed.includes(memory)) {
    connected(said.state);
    if (isNew && said.state === 'on') {
      isNew = false;
      // Changes between the page and this moment were not reported. The second poll sees files that no poll had seen before.
      hear(LOOK_AGAIN);
      setTimeout(() => following && hear(LOOK_AGAIN), 2 * GRACE);
    }
  } else if (said.kind === 'changes' && said.of === memory) {
    hear(JSON.parse(said.data));
  }
});

// A hidden page needs no connection.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) rest();
  else follow();
});
addEventListener('pagehide', () => tell('bye'));
addEventListener('focus', () => {
  if (connection === 'out') tryAgain();
});

tell('opened');
if (wasDone === 'redacted') {
  dropDrafts();
  tell('redacted');
}
follow();

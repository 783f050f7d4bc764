
// --- one connection for all tabs ------------------------------------------------------------------
//
// A browser opens six connections to a server at most. So of all tabs, whatever memories they show, one holds the stream of changes of
// all these memories, and passes on what it hears. It is the one that has the lock of the leader; when it closes or is hidden, the
// browser gives that lock to another. Which memories are shown the leader knows by locks as well, which every tab shares that shows one:
// a tab that crashes gives it back, too.

const LOOK_AGAIN = { changes: [] };
// How long a connection may be gone before somebody is told.
const GRACE = 2000;
// How long a memory is followed that no tab shows any more: usually the same tab opens another page of it.
const LINGER = 2000;
// How long until it is tried again, if the browser does not do so by itself.
const AGAIN = 3000;

const channel = memory ? new BroadcastChannel('memdir') : null;
const tell = (kind, more = {}) => channel?.postMessage({ kind, store, memory, ...more });

const LEADER = 'memdir changes';
const SHOWS = 'memdir shows ';

// What ends this tab's part, as long as it follows changes.
let following = null;
// What opens the connection again, and what looks which memories it is for, as long as this tab holds it.
let leading = null;
let connection = 'off';
let isNew = false;
let grace = null;

function hear({ changes }) {
  const editing = $('[data-editing]')?.dataset.editing;
  const own = changes.filter((change) => change.path === editing);
  if (!isSending && !isSent) {
    // What it is told of may have happened before the file was opened. The first event, and the one after too many, name nothing.
    if (own.some((change) => change.kind === 'deleted')) stale();
    else if (own.length > 0 || changes.length === 0) compare().catch(() => undefined);
  }
  refresh();
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

// The memories that any tab shows, in their order.
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
        // The browser tries again by itself, unless it was refused.
        if (opened.readyState !== EventSource.CLOSED) return state('off');
        const answer = await fetch('/assets/icon.svg').catch(() => null);
        if (signal.aborted || source !== opened) return undefined;
        if (answer && isSignedOut(answer)) return state('out');
        timer = setTimeout(open, AGAIN);
        return state('off');
      };
    };
    // Opens the connection again if it is not for the memories that are shown. One look after the other: what is seen last counts.
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
      // What came between the page and this is not heard. A file that no look has seen yet is seen by the second one.
      hear(LOOK_AGAIN);
      setTimeout(() => following && hear(LOOK_AGAIN), 2 * GRACE);
    }
  } else if (said.kind === 'changes' && said.of === memory) {
    hear(JSON.parse(said.data));
  }
});

// A page that nobody sees needs no connection.
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

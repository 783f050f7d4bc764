
// --- one connection for all tabs ------------------------------------------------------------------
//
// A browser opens six connections to a server at most. So of all tabs that show a memory one holds the stream of changes, and
// passes on what it hears. It is the one that has a lock; when it closes or is hidden, the browser gives the lock to another.

const LOOK_AGAIN = { changes: [] };
// How long a connection may be gone before somebody is told.
const GRACE = 2000;
// How long until it is tried again, if the browser does not do so by itself.
const AGAIN = 3000;

const channel = memory ? new BroadcastChannel('memdir') : null;
const tell = (kind, more = {}) => channel?.postMessage({ kind, store, memory, ...more });

// What ends this tab's part, as long as it follows changes.
let following = null;
// Whether this tab holds the connection, and what opens it again.
let reconnect = null;
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
  if (reconnect) reconnect();
  else tell('try again');
}

// Holds the connection until this tab is closed or hidden.
function lead(signal) {
  return new Promise((resolve) => {
    let source = null;
    let timer = null;
    const state = (is) => {
      connected(is);
      tell('connection', { state: is });
    };
    const open = () => {
      clearTimeout(timer);
      source?.close();
      source = new EventSource(`/${memory}/changes`);
      source.onopen = () => state('on');
      source.onmessage = ({ data }) => {
        tell('changes', { data });
        hear(JSON.parse(data));
      };
      source.onerror = async () => {
        // The browser tries again by itself, unless it was refused.
        if (source.readyState !== EventSource.CLOSED) return state('off');
        const answer = await fetch('/assets/icon.svg').catch(() => null);
        if (signal.aborted) return undefined;
        if (answer && isSignedOut(answer)) return state('out');
        timer = setTimeout(open, AGAIN);
        return state('off');
      };
    };
    reconnect = open;
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      source?.close();
      reconnect = null;
      resolve();
    });
    open();
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
  const lock = `memdir changes ${memory}`;
  navigator.locks.request(lock, { signal }, () => lead(signal)).catch(() => undefined);
  isNew = true;
  tell('hello');
}

function rest() {
  following?.abort();
  following = null;
  clearTimeout(grace);
}

channel?.addEventListener('message', ({ data: said }) => {
  // A page was opened, so this browser is signed in again.
  if (said.kind === 'opened') {
    if (connection !== 'on') reconnect?.();
    return;
  }
  if (said.store !== store || said.memory !== memory) return;
  if (said.kind === 'redacted') dropDrafts();
  if (!following) return;
  if (reconnect) {
    if (said.kind === 'hello') tell('connection', { state: connection });
    if (said.kind === 'try again') reconnect();
  } else if (said.kind === 'connection') {
    connected(said.state);
    if (isNew && said.state === 'on') {
      isNew = false;
      // What came between the page and this is not heard. A file that no look has seen yet is seen by the second one.
      hear(LOOK_AGAIN);
      setTimeout(() => following && hear(LOOK_AGAIN), 2 * GRACE);
    }
  } else if (said.kind === 'changes') {
    hear(JSON.parse(said.data));
  }
});

// A page that nobody sees needs no connection.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) rest();
  else follow();
});
addEventListener('focus', () => {
  if (connection === 'out') tryAgain();
});

tell('opened');
if (wasDone === 'redacted') {
  dropDrafts();
  tell('redacted');
}
follow();

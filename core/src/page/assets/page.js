// What a page of memdir cannot do by itself: follow changes, open branches, and be used by keys. Every page works
// without it.
'use strict';

const memory = document.body.dataset.memory;
const $ = (selector, within = document) => within.querySelector(selector);
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// --- what comes from the server ---------------------------------------------------------------

async function load(address) {
  const response = await fetch(address, { headers: { accept: 'text/html' } });
  return new DOMParser().parseFromString(await response.text(), 'text/html');
}

function fill(place, loaded) {
  place.replaceChildren(...document.importNode(loaded.body, true).childNodes);
}

// --- times -----------------------------------------------------------------------------------

const MINUTE = 60, HOUR = 3600, DAY = 86400, MONTH = 2592000, YEAR = 31536000;

function ago(seconds) {
  const several = (count, unit) => `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  if (seconds < 10) return 'just now';
  if (seconds < MINUTE) return `${seconds} s ago`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return several(Math.floor(seconds / HOUR), 'hour');
  if (seconds < MONTH) return several(Math.floor(seconds / DAY), 'day');
  if (seconds < YEAR) return several(Math.floor(seconds / MONTH), 'month');
  return several(Math.floor(seconds / YEAR), 'year');
}

function short(seconds) {
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < YEAR) return `${Math.floor(seconds / DAY)}d`;
  return `${Math.floor(seconds / YEAR)}y`;
}

function tick() {
  for (const time of all('time')) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000));
    const text = time.classList.contains('short') ? short(seconds) : ago(seconds);
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(tick, 10_000);

// --- the files at the side ---------------------------------------------------------------------

async function fold(button, open) {
  const item = button.closest('li');
  let list = $(':scope > ul', item);
  button.setAttribute('aria-expanded', String(open));
  if (open && !list) {
    const loaded = await load(button.dataset.branch);
    list = $(':scope > ul', item) ?? document.importNode($('ul', loaded), true);
    item.append(list);
  }
  if (list) list.hidden = !open;
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('.fold');
  if (button) fold(button, button.getAttribute('aria-expanded') !== 'true');
});

function openBranches() {
  return all('#tree .fold[aria-expanded="true"]').map((button) => button.dataset.branch);
}

async function openAgain(branches) {
  // From the top: a branch may be within another one.
  for (const branch of branches) {
    const button = all('#tree .fold').find((button) => button.dataset.branch === branch);
    if (button && button.getAttribute('aria-expanded') !== 'true') await fold(button, true);
  }
}

// --- what changed, within a timeline -----------------------------------------------------------

async function show(details) {
  if (details.dataset.shown) return;
  details.dataset.shown = 'yes';
  const loaded = await load(details.dataset.fragment);
  all(':scope > :not(summary)', details).forEach((old) => old.remove());
  details.append(...document.importNode(loaded.body, true).childNodes);
}

document.addEventListener(
  'toggle',
  (event) => {
    if (event.target.matches?.('details[data-fragment][open]')) show(event.target);
  },
  true,
);

// --- following changes --------------------------------------------------------------------------

// A page on which somebody writes or decides something stays as it is.
const isStill = () => $('#main form[method="post"]') !== null;

let isLoading = false;
let isStale = false;

async function refresh() {
  if (isLoading) {
    isStale = true;
    return;
  }
  isLoading = true;
  try {
    do {
      isStale = false;
      await replace(await load(location.href));
    } while (isStale);
  } catch {
    // The server is away: the connection that follows says so.
  } finally {
    isLoading = false;
  }
}

async function replace(loaded) {
  const focused = document.activeElement;
  const key = focused?.closest('#tree, #main') ? focused.getAttribute('href') ?? focused.dataset.branch : null;
  const branches = openBranches();
  const opened = all('#main details[open]').map((details) => details.dataset.fragment ?? details.className);
  const tree = $('#tree', loaded);
  if (tree) {
    const top = $('#tree').scrollTop;
    $('#tree').replaceChildren(...document.importNode(tree, true).childNodes);
    await openAgain(branches);
    $('#tree').scrollTop = top;
  }
  const main = $('#main', loaded);
  if (main && !isStill()) {
    const top = $('#main').scrollTop;
    const shown = new Map(all('#main details[data-shown]').map((details) => [details.dataset.fragment, details]));
    $('#main').replaceChildren(...document.importNode(main, true).childNodes);
    for (const details of all('#main details')) {
      // What a version changed does not change: what was shown of it stays.
      const before = shown.get(details.dataset.fragment);
      if (before) details.replaceWith(before);
      else if (opened.includes(details.dataset.fragment ?? details.className)) details.open = true;
    }
    $('#main').scrollTop = top;
  }
  if (key) all('#tree a, #tree button, #main a').find((one) => (one.getAttribute('href') ?? one.dataset.branch) === key)?.focus();
  tick();
}

let source = null;

function follow() {
  if (source || document.hidden || !memory) return;
  source = new EventSource(`/${memory}/changes`);
  source.onopen = () => live(true);
  source.onerror = () => live(false);
  source.onmessage = (event) => {
    const { changes } = JSON.parse(event.data);
    const editing = $('[data-editing]')?.dataset.editing;
    if (changes.some((change) => change.path === editing)) $('#stale').hidden = false;
    refresh();
  };
}

function live(isOn) {
  $('#live').classList.toggle('on', isOn);
  $('#live').textContent = isOn ? 'live' : 'not connected';
}

// A browser has few connections for one place: a page that nobody sees needs none.
document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else {
    follow();
  }
});
follow();

// --- the editor ----------------------------------------------------------------------------------

const text = $('#text');
let isSent = false;
document.addEventListener('submit', () => {
  isSent = true;
});
addEventListener('beforeunload', (event) => {
  if (text && !isSent && text.value !== text.defaultValue) event.preventDefault();
});

// --- dark and light ------------------------------------------------------------------------------

const THEMES = ['', 'dark', 'light'];
function theme(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
}
const chosen = () => localStorage.getItem('memdir-theme') ?? '';
theme(chosen());
const themes = $('#theme');
if (themes) {
  themes.hidden = false;
  const said = () => `Colours: ${chosen() || 'those of the system'}`;
  themes.title = said();
  themes.addEventListener('click', () => {
    localStorage.setItem('memdir-theme', THEMES[(THEMES.indexOf(chosen()) + 1) % THEMES.length]);
    theme(chosen());
    themes.title = said();
  });
}

// --- keys ----------------------------------------------------------------------------------------

const keys = $('#keys');
if (keys) {
  keys.hidden = false;
  keys.addEventListener('click', () => $('#key-list').showModal());
}

function step(selector, by, within = document) {
  const places = all(selector, within).filter((place) => place.offsetParent !== null);
  const now = places.findIndex((place) => place === document.activeElement || place.contains(document.activeElement));
  const next = places[now < 0 ? (by > 0 ? 0 : places.length - 1) : now + by];
  const link = next?.matches('a, button') ? next : next && $('a', next);
  link?.focus();
  link?.scrollIntoView({ block: 'nearest' });
}

const go = (address) => {
  if (address) location.href = address;
};

const KEYS = {
  '/': () => $('#query')?.select(),
  j: () => step('#main [data-item]', 1),
  k: () => step('#main [data-item]', -1),
  o: () => {
    const details = $('details', document.activeElement?.closest('[data-item]') ?? document.createElement('p'));
    if (details) details.open = !details.open;
  },
  t: () => ($('#tree a[aria-current]') ?? $('#tree a'))?.focus(),
  h: () => go($('#timeline')?.href ?? `/${memory}/history`),
  e: () => go($('#edit')?.href),
  n: () => go($('#tree .new')?.href),
  g: () => go(`/${memory}/`),
  '?': () => $('#key-list')?.showModal(),
};

document.addEventListener('keydown', (event) => {
  const isSave = (event.ctrlKey || event.metaKey) && event.key === 's';
  if (isSave && text) {
    event.preventDefault();
    text.form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target;
  if (at.matches('input, textarea, select') || $('dialog[open]')) {
    if (event.key === 'Escape') at.blur();
    return;
  }
  if (at.closest('#tree') && arrows(event)) {
    event.preventDefault();
    return;
  }
  const does = KEYS[event.key];
  if (does) {
    event.preventDefault();
    does();
  }
});

// In the tree, arrows go up and down, and open and close.
function arrows(event) {
  const button = $('.fold', event.target.closest('.entry') ?? document.createElement('p'));
  switch (event.key) {
    case 'ArrowDown':
      step('#tree .entry > a, #tree .more', 1);
      return true;
    case 'ArrowUp':
      step('#tree .entry > a, #tree .more', -1);
      return true;
    case 'ArrowRight':
      if (button) fold(button, true);
      return button !== null;
    case 'ArrowLeft':
      if (button?.getAttribute('aria-expanded') === 'true') fold(button, false);
      else event.target.closest('ul')?.closest('li')?.querySelector('.entry > a')?.focus();
      return true;
    default:
      return false;
  }
}

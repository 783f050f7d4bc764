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

// A new tree, with those branches open that are open in the one that is shown.
async function openAgain(tree) {
  const folds = new Map(all('#tree .fold').map((button) => [button.dataset.branch, button]));
  // From the top: a branch may be within another one.
  for (const [branch, before] of folds) {
    const button = all('.fold', tree).find((button) => button.dataset.branch === branch);
    const isOpen = before.getAttribute('aria-expanded');
    if (button && button.getAttribute('aria-expanded') !== isOpen) await fold(button, isOpen === 'true');
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

// A page on which somebody writes or decides something, or is told why nothing was changed, stays as it is.
const isStill = () => $('#main form[method="post"], #main [role="alert"]') !== null;

// A part as the server made it, but for how long ago something was.
function made(part) {
  const copy = part.cloneNode(true);
  all('time', copy).forEach((time) => time.replaceChildren());
  return copy.innerHTML;
}
let shownMain = memory ? made($('#main')) : '';

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
      // What stays as it is may be the answer to a form, which has no address of its own.
      if (isStill()) await replaceTree(await load(`/${memory}/branch`));
      else await replace(await load(location.href));
    } while (isStale);
  } catch {
    // The server is away: the connection that follows says so.
  } finally {
    isLoading = false;
  }
}

async function replace(loaded) {
  const [tree, main] = [$('#tree', loaded), $('#main', loaded)];
  // Without a tree it says that there is no such page any more.
  if (tree) await replaceTree(tree);
  const focused = focus();
  // What is the same stays, with what is selected or typed in it.
  if (!isStill() && made(main) !== shownMain) {
    shownMain = made(main);
    replaceMain(document.importNode(main, true));
  }
  focused();
  tick();
}

async function replaceTree(tree) {
  const fresh = document.importNode(tree.body ?? tree, true);
  await openAgain(fresh);
  const focused = focus();
  const top = $('#tree').scrollTop;
  // The branch at the root comes without its head, and without a mark at what is shown.
  if (!$('.tree-head', fresh)) {
    const here = $('#tree [aria-current]')?.getAttribute('href');
    all('a', fresh).find((link) => link.getAttribute('href') === here)?.setAttribute('aria-current', 'true');
    fresh.prepend($('#tree .tree-head'));
  }
  $('#tree').replaceChildren(...fresh.childNodes);
  $('#tree').scrollTop = top;
  focused();
}

function replaceMain(main) {
  // Narrow, the columns are what scrolls.
  const places = ['.columns', '#main', '#main .source', '#main .diff', '#main .rendered'];
  const tops = places.map((place) => $(place)?.scrollTop);
  const opened = all('#main details[open]').map((details) => details.dataset.fragment ?? details.className);
  const shown = new Map(all('#main details[data-shown]').map((details) => [details.dataset.fragment, details]));
  const typed = all('#main form input').map((input) => [input.name, input]);
  $('#main').replaceChildren(...main.childNodes);
  for (const details of all('#main details')) {
    // What a version changed does not change: what was shown of it stays.
    const before = shown.get(details.dataset.fragment);
    if (before) details.replaceWith(before);
    else if (opened.includes(details.dataset.fragment ?? details.className)) details.open = true;
  }
  for (const [name, before] of typed) {
    const input = all('#main form input').find((input) => input.name === name);
    if (input && input.type !== 'hidden') input.replaceWith(before);
  }
  places.forEach((place, number) => {
    if (tops[number]) $(place)?.scrollTo({ top: tops[number], behavior: 'instant' });
  });
}

// Remembers what has the focus; what is returned gives it back to what is there in its place.
function focus() {
  const focused = document.activeElement;
  const part = focused?.closest('#tree, #main');
  if (!part || part === focused) return () => undefined;
  const key = (one) =>
    one.getAttribute('href') ?? one.dataset.branch ?? (one.name || one.parentElement.dataset.fragment) ?? one.textContent;
  const alike = () => all('a, button, input, summary, [tabindex]', part).filter((one) => key(one) === key(focused));
  const number = alike().indexOf(focused);
  return () => {
    if (document.activeElement !== focused) (alike()[number] ?? alike()[0])?.focus({ preventScroll: true });
  };
}

// Whether what is edited was changed meanwhile. The answer to a form has no address to ask.
async function compare() {
  const base = $('#main [data-editing] [name="base"]')?.value;
  if (base && location.search && $('[name="base"]', await load(location.href))?.value !== base) stale();
}

function stale() {
  const banner = $('#stale');
  if (banner) banner.hidden = false;
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
    const own = changes.filter((change) => change.path === editing);
    // What it is told of may have happened before the file was opened. The first event, and the one after too many, name nothing.
    if (own.some((change) => change.kind === 'deleted')) stale();
    else if (own.length > 0 || changes.length === 0) compare().catch(() => undefined);
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
document.addEventListener('submit', (event) => {
  // A search leaves the page, too, and does not take the text along.
  if (event.target === text?.form) isSent = true;
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

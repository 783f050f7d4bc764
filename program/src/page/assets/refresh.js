
// --- what changed, within a timeline: it is loaded when it is opened ----------------------------

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

// --- a page that is open shows what is there now, and keeps what is typed in it ------------------

// A page on which somebody writes or decides something, or is told why nothing was changed, stays as it is. So does a list from
// which somebody chooses, until it is left: it would close.
const isStill = () => $('#main form[method="post"], #main [role="alert"], #main select:focus') !== null;
document.addEventListener('focusout', ({ target }) => {
  if (memory && target.matches?.('#main select')) refresh();
});

// A part as the server made it, but for how long ago something was, and for the time that this long ago is.
function made(part) {
  const copy = part.cloneNode(true);
  all('time, [data-ago]', copy).forEach((time) => time.replaceChildren());
  // What was done is said once, and stays until another page is opened.
  $(':scope > .banner', copy)?.remove();
  return copy.innerHTML;
}
let shownMain = memory ? made($('#main')) : '';
sayZone();

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
  if (loaded.body.dataset.store && loaded.body.dataset.store !== store) {
    say('other');
    return;
  }
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

// What somebody types or chooses. Of the buttons of a choice each has a value of its own.
const fields = () => all('#main form :is(input:not([type="hidden"]), select)');
const fieldKey = ({ name, type, value }) => (type === 'radio' ? `${name} ${value}` : name);

function replaceMain(main) {
  // Narrow, the columns are what scrolls.
  const places = ['.columns', '#main', '#main .source', '#main .diff', '#main .rendered'];
  const tops = places.map((place) => $(place)?.scrollTop);
  const opened = all('#main details[open]').map((details) => details.dataset.fragment ?? details.className);
  const shown = new Map(all('#main details[data-shown]').map((details) => [details.dataset.fragment, details]));
  const typed = new Map(fields().map((field) => [fieldKey(field), field]));
  const banner = $('#main > .banner');
  $('#main').replaceChildren(...main.childNodes);
  if (banner && !$('#main > .banner')) $('#main').prepend(banner);
  for (const details of all('#main details')) {
    // What a version changed does not change: what was shown of it stays.
    const before = shown.get(details.dataset.fragment);
    if (before) details.replaceWith(before);
    else if (opened.includes(details.dataset.fragment ?? details.className)) details.open = true;
  }
  for (const field of fields()) {
    const before = typed.get(fieldKey(field));
    if (!before) continue;
    // What is chosen stays, and what can be chosen is what there is now.
    if (field.matches('select')) field.value = before.value;
    else if (field.type === 'radio') field.checked = before.checked;
    else field.replaceWith(before);
  }
  sayZone();
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
    one.getAttribute('href') ?? one.dataset.branch ?? (fieldKey(one) || one.parentElement.dataset.fragment) ?? one.textContent;
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


// --- changes in a timeline: a diff is loaded when it is opened -----------------------------------

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

// --- an open page is updated when something changes, and keeps unsaved input ----------------------

// A page is not updated while the user writes or decides something there, or while it shows why nothing was changed. It is also not
// updated while a select list has the focus, because the list would close.
const isStill = () => $('#main form[method="post"], #main [role="alert"], #main select:focus') !== null;
document.addEventListener('focusout', ({ target }) => {
  if (memory && target.matches?.('#main select')) refresh();
});

// A part as the server rendered it, without the texts of ages, which change with time.
function made(part) {
  const copy = part.cloneNode(true);
  all('time, [data-ago]', copy).forEach((time) => time.replaceChildren());
  // The banner is shown once, and stays until another page is opened.
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
      // A page that is not updated may be the answer to a form, which has no address.
      if (isStill()) await replaceTree(await load(`/${memory}/branch`));
      else await replace(await load(location.href));
    } while (isStale);
  } catch {
    // The server is unavailable. The connection reports that.
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
  // A response without a tree means that the page no longer exists.
  if (tree) await replaceTree(tree);
  const focused = focus();
  // Parts that are the same stay, with their selection and input.
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
  // The branch at the root comes without its head, and without a mark on the current path.
  if (!$('.tree-head', fresh)) {
    const here = $('#tree [aria-current]')?.getAttribute('href');
    all('a', fresh).find((link) => link.getAttribute('href') === here)?.setAttribute('aria-current', 'true');
    fresh.prepend($('#tree .tree-head'));
  }
  $('#tree').replaceChildren(...fresh.childNodes);
  $('#tree').scrollTop = top;
  focused();
}

// The fields in which the user types or chooses something. Each radio button has its own value.
const fields = () => all('#main form :is(input:not([type="hidden"]), select)');
const fieldKey = ({ name, type, value }) => (type === 'radio' ? `${name} ${value}` : name);

function replaceMain(main) {
  // In a narrow window, the columns scroll.
  const places = ['.columns', '#main', '#main .source', '#main .diff', '#main .rendered'];
  const tops = places.map((place) => $(place)?.scrollTop);
  const opened = all('#main details[open]').map((details) => details.dataset.fragment ?? details.className);
  const shown = new Map(all('#main details[data-shown]').map((details) => [details.dataset.fragment, details]));
  const typed = new Map(fields().map((field) => [fieldKey(field), field]));
  const banner = $('#main > .banner');
  $('#main').replaceChildren(...main.childNodes);
  if (banner && !$('#main > .banner')) $('#main').prepend(banner);
  for (const details of all('#main details')) {
    // The diff of a version never changes, so keep the loaded one.
    const before = shown.get(details.dataset.fragment);
    if (before) details.replaceWith(before);
    else if (opened.includes(details.dataset.fragment ?? details.className)) details.open = true;
  }
  for (const field of fields()) {
    const before = typed.get(fieldKey(field));
    if (!before) continue;
    // Keep the choice, but with the present options.
    if (field.matches('select')) field.value = before.value;
    else if (field.type === 'radio') field.checked = before.checked;
    else field.replaceWith(before);
  }
  sayZone();
  places.forEach((place, number) => {
    if (tops[number]) $(place)?.scrollTo({ top: tops[number], behavior: 'instant' });
  });
}

// Remembers the focused element. The returned function moves the focus to the element that replaced it.
function focus() {
  const focused = document.activeElement;
  const part = focused?.closest('#tree, #main, #best');
  if (!part || part === focused) return () => undefined;
  const key = (one) =>
    one.getAttribute('href') ?? one.dataset.branch ?? (fieldKey(one) || one.parentElement.dataset.fragment) ?? one.textContent;
  const alike = () => all('a, button, input, summary, [tabindex]', part).filter((one) => key(one) === key(focused));
  const number = alike().indexOf(focused);
  return () => {
    if (document.activeElement !== focused) (alike()[number] ?? alike()[0])?.focus({ preventScroll: true });
  };
}

// Checks whether the edited file was changed meanwhile. The answer to a form has no address that could be loaded.
async function compare() {
  const base = $('#main [data-editing] [name="base"]')?.value;
  if (base && location.search && $('[name="base"]', await load(location.href))?.value !== base) stale();
}

function stale() {
  const banner = $('#stale');
  if (banner) banner.hidden = false;
}

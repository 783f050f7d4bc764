
// --- keys: makes the page usable without a mouse ------------------------------------------------

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

// Presses a button by its own key. A button whose action cannot be undone only gets the focus, and Enter presses it.
function press(button) {
  button.focus();
  if (!button.matches('.danger')) button.click();
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
  t: () => {
    if ($('.columns.folded')) foldTree(false);
    ($('#tree a[aria-current]') ?? $('#tree a'))?.focus();
  },
  h: () => go($('#timeline')?.href ?? `/${memory}/history`),
  e: () => go($('#edit')?.href),
  n: () => go($('#tree .new')?.href),
  g: () => go(`/${memory}/`),
  '?': () => $('#key-list')?.showModal(),
};

document.addEventListener('keydown', (event) => {
  // The same keys with caps lock.
  const key = event.shiftKey ? event.key : event.key.toLowerCase();
  const isSave = (event.ctrlKey || event.metaKey) && key === 's';
  if (isSave && $('#text')) {
    event.preventDefault();
    $('#text').form.requestSubmit();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const at = event.target;
  // Radio buttons and checkboxes take no text, so shortcuts work there.
  if (at.matches('input:not([type="radio"], [type="checkbox"]), textarea, select') || $('dialog[open]')) {
    if (event.key === 'Escape') at.blur();
    return;
  }
  if (at.closest('#tree') && arrows(event)) {
    event.preventDefault();
    return;
  }
  const own = all('#main [aria-keyshortcuts]').find((button) => button.getAttribute('aria-keyshortcuts') === key);
  const does = own ? () => press(own) : KEYS[key];
  if (does) {
    event.preventDefault();
    does();
  }
});

// In the tree, the arrow keys move up and down, and open and close branches.
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

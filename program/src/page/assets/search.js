// --- search: the best files below the field while the user types -----------------------------------

const query = $('#query');
const best = $('#best');
// The pause after a key before the server is asked, and the wait before the page says that it searches, in milliseconds.
const TYPING = 150;
const SLOW = 500;

let isSearching = false;
// Whether the memory has changed since the last request.
let isOutdated = false;
// Whether the user is at the field or its results.
let isWanted = false;
let nextSearch = null;

const asked = () => query.value.trim();

// One request at a time. An answer is shown only if the text is still the same; otherwise the present text is asked for.
async function search() {
  clearTimeout(nextSearch);
  if (isSearching) return;
  isSearching = true;
  const slow = setTimeout(() => isWanted && showBest('Searching…'), SLOW);
  try {
    while (isWanted && asked()) {
      const text = asked();
      isOutdated = false;
      const [sentence, files] = await answered(text);
      if (isWanted && text === asked()) {
        showBest(sentence, files);
        if (!isOutdated) return;
      }
    }
  } finally {
    clearTimeout(slow);
    isSearching = false;
  }
}

// A sentence about the answer, and the files, which the server has rendered.
async function answered(text) {
  try {
    const response = await fetch(`/${memory}/best?${new URLSearchParams({ q: text })}`);
    if (isSignedOut(response)) {
      say('out', { again: tryAgain });
      return ['The search failed: this browser is signed out.'];
    }
    const { body } = parsed(await response.text());
    if (response.ok) return [$('p', body).textContent, $('div', body)];
    return [`The search failed: ${$('main p', body)?.textContent ?? response.status}`];
  } catch {
    return ['The search failed: memdir serve does not answer.'];
  }
}

function showBest(sentence, files) {
  best.classList.add('open');
  const [said, list] = [$('p', best), $(':scope > div', best)];
  // A screen reader announces the sentence when it changes.
  if (said.textContent !== sentence) said.textContent = sentence;
  if (!files && sentence === 'Searching…') return;
  if (files?.innerHTML === list.innerHTML) return;
  const focused = focus();
  list.replaceChildren(...(files ? document.importNode(files, true).childNodes : []));
  focused();
}

function closeBest() {
  isWanted = false;
  clearTimeout(nextSearch);
  if (!best) return;
  best.classList.remove('open');
  $('p', best).textContent = '';
  $(':scope > div', best).replaceChildren();
}

// Something in the memory has changed.
function searchAgain() {
  isOutdated = true;
  if (best?.classList.contains('open')) search();
}

if (query) {
  query.addEventListener('input', () => {
    if (!asked()) {
      closeBest();
      return;
    }
    isWanted = true;
    clearTimeout(nextSearch);
    nextSearch = setTimeout(search, TYPING);
  });
  query.form.addEventListener('keydown', (event) => {
    const isOpen = best.classList.contains('open');
    if (event.key === 'Escape' && isOpen) {
      // Otherwise the browser empties the field.
      event.preventDefault();
      const wasInside = event.target !== query;
      closeBest();
      if (wasInside) query.focus();
      else query.blur();
    } else if (event.key === 'ArrowDown') {
      if (isOpen) step('#best a', 1);
      else if (asked()) {
        isWanted = true;
        search();
      }
    } else if (event.key === 'ArrowUp') {
      if (event.target === query) return;
      if (event.target === $('#best a')) query.focus();
      else step('#best a', -1);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  // Not when the field loses the focus: a click on a result would find it gone.
  for (const event of ['focusin', 'pointerdown']) {
    document.addEventListener(event, ({ target }) => {
      if (!query.form.contains(target)) closeBest();
    });
  }
  // The browser may show this page again as it was left.
  addEventListener('pagehide', closeBest);
}

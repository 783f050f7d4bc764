
// --- drafts: unsaved text, for when the editor is opened again -------------------------------------
//
// Drafts are in the storage of the tab, and are deleted with the tab. The server disables them for an encrypted memory, so the browser
// keeps no plain copy of it.

const DRAFT = `memdir-draft ${store} `;
// A draft that was offered and not decided about, while something else was typed.
const EARLIER = '\n';

const edited = () => $('#main [data-draft]');

function draftOf(key) {
  try {
    return JSON.parse(sessionStorage.getItem(key));
  } catch {
    return null;
  }
}

const draftKeys = () => Object.keys(sessionStorage).filter((key) => key.startsWith(DRAFT));

let typing = null;
let undecided = [];

function keepDraft() {
  clearTimeout(typing);
  typing = null;
  const [editor, area] = [edited(), $('#text')];
  if (!editor || !area) return;
  const key = DRAFT + editor.dataset.draft;
  // A text that equals the file needs no draft, but the merged text of a conflict does.
  if (area.value === area.defaultValue && !$('#main [role="alert"]:not([hidden])')) {
    if (!undecided.includes(key)) sessionStorage.removeItem(key);
    return;
  }
  if (undecided.includes(key)) {
    sessionStorage.setItem(key + EARLIER, sessionStorage.getItem(key));
    undecided = [];
    editor.querySelectorAll('.draft').forEach((offer) => offer.remove());
    offerDraft(editor, key + EARLIER);
  }
  const { base, was, to } = area.form.elements;
  const draft = { text: area.value, at: Date.now(), base: base?.value, was: was?.value, to: to?.value };
  try {
    sessionStorage.setItem(key, JSON.stringify(draft));
  } catch {
    // There was not enough room. Without the base text there can be no merge, but there is still a draft.
    try {
      sessionStorage.setItem(key, JSON.stringify({ ...draft, was: '' }));
    } catch {
      $('#main .no-draft')?.remove();
      area.after(element('p', { class: 'note no-draft' }, 'The text is too long for a draft, so save it often.'));
    }
  }
}

function dropDraft() {
  clearTimeout(typing);
  typing = null;
  const editor = edited();
  if (editor) sessionStorage.removeItem(DRAFT + editor.dataset.draft);
}

document.addEventListener('input', (event) => {
  if (!edited()?.contains(event.target) || !$('#text')) return;
  clearTimeout(typing);
  typing = setTimeout(keepDraft, 200);
});
const keepNow = () => typing && keepDraft();
addEventListener('pagehide', keepNow);
document.addEventListener('visibilitychange', keepNow);

const clock = (time) => new Date(time).toLocaleString([], { dateStyle: 'medium', timeStyle: 'short' });

function offerDraft(editor, key) {
  const draft = draftOf(key);
  const area = $('#text');
  const { base, was, to } = area.form.elements;
  if (!draft || (draft.text === area.value && (draft.to ?? '') === (to?.value ?? ''))) {
    sessionStorage.removeItem(key);
    return;
  }
  undecided.push(key);
  const isOlder = base && draft.base !== base.value;
  const since = isOlder ? ' The file was changed since then: when you save, both are merged.' : '';
  const offer = element('div', { class: 'draft note', role: 'status' });
  offer.append(element('p', {}, `There is a draft of ${clock(draft.at)} that was not saved.${since}`));
  const choice = (label, choose) => {
    const button = element('button', { type: 'button' }, label);
    button.addEventListener('click', () => {
      undecided = undecided.filter((other) => other !== key);
      sessionStorage.removeItem(key);
      choose();
      offer.remove();
      area.focus();
    });
    offer.append(button, ' ');
  };
  choice('Use it', () => {
    area.value = draft.text;
    if (base) base.value = draft.base ?? '';
    if (was) was.value = draft.was ?? '';
    if (to && draft.to) to.value = draft.to;
    keepDraft();
    area.dispatchEvent(new Event('input', { bubbles: true }));
  });
  choice('Discard it', () => undefined);
  editor.prepend(offer);
}

function offerDrafts() {
  const editor = edited();
  undecided = [];
  if (!editor || !$('#text')) return;
  const key = DRAFT + editor.dataset.draft;
  for (const each of [key + EARLIER, key]) offerDraft(editor, each);
}

// Lists the drafts on other pages.
function listDrafts() {
  const list = $('#drafts');
  if (!list) return;
  const open = edited()?.dataset.draft;
  const paths = new Set(draftKeys().map((key) => key.slice(DRAFT.length).replace(EARLIER, '')));
  if (open !== undefined) paths.delete(open);
  list.hidden = paths.size === 0;
  list.replaceChildren('Not saved yet: ');
  for (const path of paths) {
    const page = path ? `edit?path=${encodeURIComponent(path)}` : 'new';
    const name = path ? path.replace(/^\/memories\//, '') : 'a new file';
    list.append(element('a', { href: `/${memory}/${page}` }, name), ' ');
  }
}

function dropDrafts() {
  clearTimeout(typing);
  typing = null;
  for (const key of draftKeys()) sessionStorage.removeItem(key);
  undecided = [];
  all('#main .draft').forEach((offer) => offer.remove());
  listDrafts();
}

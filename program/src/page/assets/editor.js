
// --- the editor: sends a text without leaving the page, so that no failure can lose it -------------

let isSent = false;
let isSending = false;

addEventListener('beforeunload', (event) => {
  const text = $('#text');
  if (text && !isSent && text.value !== text.defaultValue) event.preventDefault();
});

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (form.method !== 'post' || !form.elements.text) return;
  event.preventDefault();
  send(form, event.submitter);
});

async function send(form, button) {
  if (isSending) return;
  isSending = true;
  keepDraft();
  const again = () => send(form, button);
  const body = new URLSearchParams(new FormData(form));
  if (button?.name) body.append(button.name, button.value);
  try {
    const response = await post(button?.getAttribute('formaction') ?? form.getAttribute('action'), body);
    if (isSignedOut(response)) {
      say('out', { unsaved: 'Not saved.', again });
    } else if (response.redirected) {
      dropDraft();
      isSent = true;
      well({ saved: true });
      location.assign(response.url);
    } else {
      const page = parsed(await response.text());
      if (response.ok) askAgain(page);
      else say($('#main p', page)?.textContent ?? response.statusText, { unsaved: 'Not saved.', again });
    }
  } catch (error) {
    const what = error instanceof TypeError ? 'gone' : error.message;
    say(what, { unsaved: 'Not saved.', again });
  } finally {
    isSending = false;
  }
}

// The form may be from a server that was stopped since. The present server has another token.
async function post(action, body) {
  const sent = () => fetch(action, { method: 'POST', body, headers: { accept: 'text/html' } });
  const response = await sent();
  if (response.status !== 403 || isSignedOut(response)) return response;
  const fresh = await load(`/${memory}/new`);
  const token = $('[name="token"]', fresh)?.value;
  if (!token || token === body.get('token')) return response;
  if (fresh.body.dataset.store !== store) throw new Error('other');
  body.set('token', token);
  all('[name="token"]').forEach((field) => (field.value = token));
  return sent();
}

// Shows the form again, with the reason why nothing was saved.
function askAgain(page) {
  well({ saved: true });
  $('#main').replaceChildren(...document.importNode($('#main', page), true).childNodes);
  undecided = [];
  announceHidden();
  $('#main').scrollTop = 0;
  $('#text')?.focus({ preventScroll: true });
}

offerDrafts();
listDrafts();


// --- problems: the server is unavailable, this browser is signed out, or a text was not saved ------

const TROUBLES = {
  gone: 'memdir serve does not answer: it was stopped, or is being started again. Start it again, and open the address that it prints in another tab.',
  out: 'This browser is signed out: memdir serve was started again, or the cookie is gone. Open the address that memdir serve printed last, in another tab.',
  other: 'Another memory is served at this address now. Start memdir serve with this memory again.',
};

// The shown problem, and the action of its button.
let trouble = null;

// `what` is one of TROUBLES, or a message. An unsaved text takes precedence over a lost connection.
function say(what, { unsaved = '', again } = {}) {
  const banner = $('#trouble');
  if (!banner || (trouble?.unsaved && !unsaved)) return;
  trouble = { what, unsaved, again };
  const sentence = TROUBLES[what] ?? what;
  $('p', banner).textContent = [unsaved, sentence, unsaved && kept()].filter(Boolean).join(' ');
  banner.hidden = false;
}

// Says where the text is meanwhile.
function kept() {
  return $('#main [data-draft]')
    ? 'What you typed is still here, and this tab keeps a draft of it.'
    : 'What you typed is still here, and nowhere else: copy it before you close this tab.';
}

// The connection is back, or the text is saved.
function well({ saved = false } = {}) {
  if (!trouble || (trouble.unsaved && !saved)) return;
  trouble = null;
  $('#trouble').hidden = true;
}

if ($('#trouble')) $('button', $('#trouble')).addEventListener('click', () => trouble?.again?.());

// Whether the answer says that the server does not know this browser.
const isSignedOut = (response) => response.headers.get('memdir-session') === 'none';

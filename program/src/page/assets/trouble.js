
// --- what is the matter: the server is gone, this browser is signed out, or a text was not saved --

const TROUBLES = {
  gone: 'memdir serve does not answer: it was stopped, or is being started again. Start it again, and open the address that it prints in another tab.',
  out: 'This browser is signed out: memdir serve was started again, or the cookie is gone. Open the address that memdir serve printed last, in another tab.',
  other: 'Another memory is served at this address now. Start memdir serve with this memory again.',
};

// What is said now, and what is done when somebody presses the button.
let trouble = null;

// `what` is one of TROUBLES, or a sentence. A text that was not saved is more than a connection that is gone.
function say(what, { unsaved = '', again } = {}) {
  const banner = $('#trouble');
  if (!banner || (trouble?.unsaved && !unsaved)) return;
  trouble = { what, unsaved, again };
  const sentence = TROUBLES[what] ?? what;
  $('p', banner).textContent = [unsaved, sentence, unsaved && kept()].filter(Boolean).join(' ');
  banner.hidden = false;
}

// What becomes of the text meanwhile.
function kept() {
  return $('#main [data-draft]')
    ? 'What you typed is still here, and this tab keeps a draft of it.'
    : 'What you typed is still here, and nowhere else: copy it before you close this tab.';
}

// The connection is there again, or the text is saved.
function well({ saved = false } = {}) {
  if (!trouble || (trouble.unsaved && !saved)) return;
  trouble = null;
  $('#trouble').hidden = true;
}

if ($('#trouble')) $('button', $('#trouble')).addEventListener('click', () => trouble?.again?.());

// Whether the answer says that the server does not know this browser.
const isSignedOut = (response) => response.headers.get('memdir-session') === 'none';

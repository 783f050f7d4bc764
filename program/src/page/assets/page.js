
// --- dark and light: the chosen theme -----------------------------------------------------------

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

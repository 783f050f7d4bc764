
// --- invisible characters: the editor reports them during typing ------------------------------------
//
// The server provides the list of characters, so both report the same ones.

const NAMED = 20;

function announceHidden() {
  const [said, area] = [$('#hidden-characters'), $('#text')];
  if (!said || !area) return;
  const odd = new RegExp(`[${said.dataset.characters}]`, 'gu');
  const found = [];
  area.value.split('\n').forEach((line, number) => {
    for (const [character] of line.matchAll(odd)) {
      const code = character.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
      found.push(`⟨U+${code}⟩ in line ${number + 1}`);
    }
  });
  const more = found.length > NAMED ? `, and ${found.length - NAMED} more` : '';
  const text = found.slice(0, NAMED).join(', ') + more;
  if ($('span', said).textContent !== text) $('span', said).textContent = text;
  said.hidden = found.length === 0;
}

document.addEventListener('input', (event) => {
  if (event.target === $('#text')) announceHidden();
});

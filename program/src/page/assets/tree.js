
// --- the tree in the sidebar: opens branches in place --------------------------------------------

async function fold(button, open) {
  const item = button.closest('li');
  let list = $(':scope > ul', item);
  button.setAttribute('aria-expanded', String(open));
  if (open && !list) {
    const loaded = await load(button.dataset.branch);
    list = $(':scope > ul', item) ?? document.importNode($('ul', loaded), true);
    item.append(list);
  }
  if (list) list.hidden = !open;
}

document.addEventListener('click', (event) => {
  const button = event.target.closest('.fold');
  if (!button) return;
  const isOpen = button.getAttribute('aria-expanded') === 'true';
  fold(button, !isOpen).catch(() => say('gone', { again: tryAgain }));
});

// Opens and closes the branches of a new tree as in the shown one.
async function openAgain(tree) {
  const folds = new Map(all('#tree .fold').map((button) => [button.dataset.branch, button]));
  // From the top, because a branch may be inside another one.
  for (const [branch, before] of folds) {
    const button = all('.fold', tree).find((button) => button.dataset.branch === branch);
    const isOpen = before.getAttribute('aria-expanded');
    if (button && button.getAttribute('aria-expanded') !== isOpen) await fold(button, isOpen === 'true');
  }
}

// In a narrow window the tree covers the content. It can be hidden while the tab is open.
const treeToggle = $('#tree-toggle');

function foldTree(isFolded) {
  $('.columns').classList.toggle('folded', isFolded);
  treeToggle.setAttribute('aria-expanded', String(!isFolded));
  sessionStorage.setItem('memdir-tree', isFolded ? 'folded' : '');
}

if (treeToggle) {
  treeToggle.hidden = false;
  foldTree(sessionStorage.getItem('memdir-tree') === 'folded');
  treeToggle.addEventListener('click', () => foldTree(!$('.columns').classList.contains('folded')));
}

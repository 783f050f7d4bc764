
// --- what was done is said once: not again when the page is loaded again -------------------------

const address = new URL(location.href);
const wasDone = memory && address.searchParams.get('done');
if (wasDone) {
  address.searchParams.delete('done');
  // On the page of a version it is the version's.
  if (!address.pathname.endsWith('/version')) address.searchParams.delete('id');
  history.replaceState(null, '', address);
}


// --- the banner about an action is shown only once: not again after a reload ----------------------

const address = new URL(location.href);
const wasDone = memory && address.searchParams.get('done');
if (wasDone) {
  address.searchParams.delete('done');
  // On the page of a version, the id is that of the version.
  if (!address.pathname.endsWith('/version')) address.searchParams.delete('id');
  history.replaceState(null, '', address);
}

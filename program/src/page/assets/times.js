
// --- times: keeps ages up to date --------------------------------------------------------------

const MINUTE = 60, HOUR = 3600, DAY = 86400, MONTH = 2592000, YEAR = 31536000;

function ago(seconds) {
  const several = (count, unit) => `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  if (seconds < 10) return 'just now';
  if (seconds < MINUTE) return `${seconds} s ago`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)} min ago`;
  if (seconds < DAY) return several(Math.floor(seconds / HOUR), 'hour');
  if (seconds < MONTH) return several(Math.floor(seconds / DAY), 'day');
  if (seconds < YEAR) return several(Math.floor(seconds / MONTH), 'month');
  return several(Math.floor(seconds / YEAR), 'year');
}

function short(seconds) {
  if (seconds < MINUTE) return `${seconds}s`;
  if (seconds < HOUR) return `${Math.floor(seconds / MINUTE)}m`;
  if (seconds < DAY) return `${Math.floor(seconds / HOUR)}h`;
  if (seconds < YEAR) return `${Math.floor(seconds / DAY)}d`;
  return `${Math.floor(seconds / YEAR)}y`;
}

// Typed times are in the zone of the browser, so a form contains the offset from UTC.
function sayZone() {
  const ahead = -new Date().getTimezoneOffset();
  const two = (number) => String(Math.floor(number)).padStart(2, '0');
  const offset = `${ahead < 0 ? '-' : '+'}${two(Math.abs(ahead) / 60)}:${two(Math.abs(ahead) % 60)}`;
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone;
  for (const field of all('[name="zone"]')) field.value = offset;
  for (const said of all('[data-zone]')) said.textContent = `that of this browser: ${ahead === 0 ? name : `${name}, UTC${offset}`}`;
}

function tick() {
  for (const time of all('time')) {
    const seconds = Math.max(0, Math.floor((Date.now() - Date.parse(time.dateTime)) / 1000));
    const text = time.classList.contains('short') ? short(seconds) : ago(seconds);
    if (time.textContent !== text) time.textContent = text;
  }
}
setInterval(tick, 10_000);

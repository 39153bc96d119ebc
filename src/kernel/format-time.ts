/** A day and a time as people read them, in a zone that is named: `Monday 30 November 2026 at 10:00 (Europe/Berlin)`. */
export function formatInZone(at: Date, timezone: string): string {
  return `${formatDate(at, timezone)} at ${formatTime(at, timezone)} (${timezone})`;
}

/** `Monday 30 November 2026`. */
export function formatDate(at: Date, timezone: string): string {
  return formatter('full', timezone).format(at);
}

/** `10:00`. */
export function formatTime(at: Date, timezone: string): string {
  return formatter('time', timezone).format(at);
}

const OPTIONS = { full: { dateStyle: 'full' }, time: { timeStyle: 'short' } } as const;
const formatters = new Map<string, Intl.DateTimeFormat>();

/** To make one takes longer than to use it a thousand times; there are some four hundred zones. */
function formatter(kind: keyof typeof OPTIONS, timezone: string): Intl.DateTimeFormat {
  const key = `${kind} ${timezone}`;
  const made =
    formatters.get(key) ?? new Intl.DateTimeFormat('en-GB', { ...OPTIONS[kind], timeZone: timezone });
  formatters.set(key, made);
  return made;
}

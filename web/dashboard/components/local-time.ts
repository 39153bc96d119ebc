const MINUTE_MS = 60_000;

/** An instant as a `datetime-local` input has it, in the zone of the browser; '' for none. */
export function localTime(instant: string | null): string {
  if (instant === null) return '';
  const at = new Date(instant);
  return new Date(at.getTime() - at.getTimezoneOffset() * MINUTE_MS).toISOString().slice(0, 16);
}

/** Converts the value of a local date-time input to the API's timestamp; null for an empty one. */
export function instantOf(local: string): string | null {
  return local === '' ? null : new Date(local).toISOString();
}

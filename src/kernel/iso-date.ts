const DAY = /^\d{4}-\d\d-\d\d$/;

/** Is it a day of the calendar as ISO 8601 writes it, such as `2026-11-20`? */
export function isIsoDate(text: string): boolean {
  if (!DAY.test(text)) return false;
  try {
    Temporal.PlainDate.from(text);
    return true;
  } catch {
    return false;
  }
}

const DAY = /^\d{4}-\d\d-\d\d$/;

/** Reports whether the text is a valid ISO 8601 date, such as `2026-11-20`. */
export function isIsoDate(text: string): boolean {
  if (!DAY.test(text)) return false;
  try {
    Temporal.PlainDate.from(text);
    return true;
  } catch {
    return false;
  }
}

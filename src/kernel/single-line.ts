/** Characters that change the direction of the text after them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Converts a name to one line without control characters, for emails, rooms and lists, so that a name cannot
 * add text to an email. Returns '' when no characters remain.
 */
export function toSingleLine(text: string): string {
  return text
    .replaceAll(TURNS, '')
    .replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}

/** What turns the direction of the text after it. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/gu;

/**
 * A name as it stands in mails, rooms and lists: on one line, without control characters. Whoever types one cannot write
 * more of a mail with it. '' where nothing is left.
 */
export function toSingleLine(text: string): string {
  return text
    .replaceAll(TURNS, '')
    .replaceAll(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ')
    .trim();
}

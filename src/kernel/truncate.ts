/**
 * Returns at most `most` UTF-16 units of a text, without splitting a surrogate pair: JSON columns reject half
 * a pair.
 */
export function truncate(text: string, most: number): string {
  return text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
}

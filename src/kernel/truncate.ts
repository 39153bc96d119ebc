/** At most so many UTF-16 units of a text. No character is cut in two: JSON columns take no half of one. */
export function truncate(text: string, most: number): string {
  return text
    .slice(0, most)
    .replace(/[\ud800-\udbff]$/, '')
    .toWellFormed();
}

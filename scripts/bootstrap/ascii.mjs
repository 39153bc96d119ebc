/**
 * Code that says the same in ASCII. V8 keeps the text of a program for as long as it runs, and with one letter beyond
 * Latin-1 it takes two bytes for each of all (docs/decisions/startup-and-idle.md#one-bundle). No template of ours or of a
 * package has such letters where it is read raw.
 */
export function toAscii(code) {
  // A backslash before the letter, itself not escaped, begins the escape that is written.
  return code.replace(/(\\*)([^\0-\x7f])/g, (_match, before, letter) =>
    before.length % 2 === 1 ? `${before}${escaped(letter)}` : `${before}\\${escaped(letter)}`,
  );
}

/** Without its backslash. */
function escaped(unit) {
  return `u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

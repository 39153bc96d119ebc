/**
 * Converts code to ASCII by escaping other characters. V8 keeps the source of a program in memory, and a
 * single character beyond Latin-1 doubles its size (docs/decisions/startup-and-idle.md#one-bundle). No
 * template literal of ours or of a package contains such characters where its raw text is read.
 */
export function toAscii(code) {
  // A backslash before the letter, itself not escaped, begins the escape that is written.
  return code.replace(/(\\*)([^\0-\x7f])/g, (_match, before, letter) =>
    before.length % 2 === 1 ? `${before}${escaped(letter)}` : `${before}\\${escaped(letter)}`,
  );
}

/** Returns the escape without its backslash. */
function escaped(unit) {
  return `u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

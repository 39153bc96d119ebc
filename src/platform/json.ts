import { parse } from 'secure-json-parse';

/** Maximum nesting depth of foreign JSON; deeper nesting is an attack on parsers and validators. */
const MAX_DEPTH = 64;

/**
 * Parses JSON from an untrusted source.
 *
 * @throws {SyntaxError} when it is not JSON, nests deeper than 64 levels, or names `__proto__`.
 */
export function parseJson(text: string): unknown {
  assertDepth(text);
  return parse(text);
}

/**
 * Writes a parsed value in its canonical form (RFC 8785): no whitespace, members in the order of their UTF-16 code
 * units, numbers and strings as ECMAScript writes them. Equal texts mean equal values.
 *
 * @param value of `parseJson`, which bounds its depth.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const members: [string, unknown][] = Object.entries(value);
    members.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`).join(',')}}`;
  }
  // A number beyond the range of doubles is parsed as infinite, which JSON.stringify would write as null.
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : JSON.stringify(value);
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** One pass over the text, before anything is built of it. */
function assertDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
    } else if (code === OPEN_ARRAY || code === OPEN_OBJECT) {
      depth += 1;
      if (depth > MAX_DEPTH) throw new SyntaxError(`it nests deeper than ${MAX_DEPTH} levels`);
    } else if (code === CLOSE_ARRAY || code === CLOSE_OBJECT) {
      depth -= 1;
    }
  }
}

/** @returns where the string that begins at `start` ends; the end of the text when it does not. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return end;
  }
  return text.length;
}

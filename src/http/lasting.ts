/** What objects were written as; null where they were not yet. */
const texts = new WeakMap<object, string | null>();
/** The same as UTF-8, for those that were a row of a list. */
const bytes = new WeakMap<object, Uint8Array>();

/**
 * Makes what is shown of a row once for as long as the row is there, and with it its text. For rows that are the same
 * object while they are in the same state (`platform/db/versions.ts`).
 *
 * @param lasts false where something that is shown changes with the time, such as a signed address.
 * @param beside what else is shown in all of them: when it changes, they are made anew.
 */
export function shapeOnce<R extends object, C, T extends object>(
  lasts: (row: R) => boolean,
  shape: (caller: C, row: R) => T,
  beside: () => unknown = () => null,
): (caller: C, row: R) => T {
  let shaped = new WeakMap<R, T>();
  let shapedBeside = beside();
  return (caller, row) => {
    const now = beside();
    if (now !== shapedBeside) {
      shapedBeside = now;
      shaped = new WeakMap();
    }
    const known = shaped.get(row);
    if (known !== undefined) return known;
    const made = shape(caller, row);
    if (!lasts(row)) return made;
    shaped.set(row, made);
    texts.set(made, null);
    return made;
  };
}

/** Was it made by `shapeOnce`, to last? */
export function isLasting(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && texts.has(value);
}

/** The value as `write` writes it, which is remembered where the value lasts. */
export function writeOnce<T extends object>(value: T, write: (value: T) => string): string {
  const known = texts.get(value);
  if (typeof known === 'string') return known;
  const text = write(value);
  if (known === null) texts.set(value, text);
  return text;
}

const encoder = new TextEncoder();

/** The same as UTF-8: to put many together as text, and to encode that, costs more than all else in a list. */
export function bytesOnce<T extends object>(value: T, write: (value: T) => string): Uint8Array {
  const known = bytes.get(value);
  if (known !== undefined) return known;
  const text = texts.get(value);
  // Not a `Buffer`, which would keep those that were made beside it, too.
  const made = encoder.encode(typeof text === 'string' ? text : write(value));
  if (text !== undefined) bytes.set(value, made);
  return made;
}

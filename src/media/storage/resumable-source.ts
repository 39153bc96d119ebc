/**
 * The chunks of a source that may break off: the end and a failure of it look alike, because what came before
 * is kept either way. Failures of whoever consumes the chunks pass through untouched.
 */
export async function* untilError(source: AsyncIterable<Uint8Array | string>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  let isOpen = true;
  const next = async () => {
    try {
      return await chunks.next();
    } catch {
      return { done: true, value: undefined } as const;
    }
  };
  try {
    for (;;) {
      const { done, value } = await next();
      if (done === true || value === undefined) {
        isOpen = false;
        return;
      }
      yield typeof value === 'string' ? Buffer.from(value) : value;
    }
  } finally {
    if (isOpen) await chunks.return?.();
  }
}

/**
 * Yields the chunks of a source that may break off. A failure of the source looks like its end, because the
 * chunks received before are used either way. Failures of the consumer pass through unchanged.
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

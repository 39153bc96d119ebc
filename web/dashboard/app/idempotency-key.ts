const BYTES = 16;

/**
 * Gives an `Idempotency-Key` for each content: a form that is sent again as it was, because nobody knows whether the
 * first request arrived, makes one thing and not two (docs/guides/idempotency.md).
 */
export function createIdempotencyKeys(): (content: unknown) => string {
  let last = '';
  let key = '';
  return (content) => {
    const text = JSON.stringify(content);
    if (text !== last) key = randomText();
    last = text;
    return key;
  };
}

/** A random name: `crypto.randomUUID` is not there on plain http. */
export function randomText(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(BYTES));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const BYTES = 16;

/**
 * Returns a function that yields one `Idempotency-Key` per content. A form submitted again unchanged, because
 * it is unknown whether the first request arrived, creates one resource, not two
 * (docs/guides/idempotency.md).
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

const PART = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/;
/** Keys become file names and S3 keys; our longest has about 110 characters. */
const MAX_KEY = 240;

/**
 * Keeps keys inside the store: only `[A-Za-z0-9._-]` and single slashes between parts that do not begin with
 * a dot.
 *
 * @throws {Error} for any other key.
 */
export function checkKey(key: string): string {
  if (key.length > MAX_KEY || !key.split('/').every((part) => PART.test(part))) {
    throw new Error(`not a storage key: ${JSON.stringify(key.slice(0, 300))}`);
  }
  return key;
}

/** As `checkKey`, for the beginning of keys: the last part may be empty. */
export function checkPrefix(prefix: string): string {
  checkKey(prefix.endsWith('/') ? prefix.slice(0, -1) : prefix);
  return prefix;
}

/** As `checkPrefix`, for deleting: ends in a slash, so that `v/1` never takes `v/10` along. */
export function checkFolder(prefix: string): string {
  if (!prefix.endsWith('/')) throw new Error(`a prefix to delete must end with a slash: ${prefix}`);
  return checkPrefix(prefix);
}

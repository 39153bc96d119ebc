import { createHmac, randomBytes } from 'node:crypto';
import { withTimeout } from '../../../kernel/timeout.ts';
import { isTransientError } from '../../../platform/db/index.ts';
import type { AccessRequest, Entitlements, ProtectedMedia } from './access.service.ts';

interface Options {
  entitlements: Entitlements;
  /** Time after the last successful check in which a viewer remains entitled without the database. */
  maxAgeMs: number;
}

/** Wait for a check before the last one counts. */
const LATE_MS = 250;
/** Maximum remembered viewers, about 15 MB; the longest unchecked is dropped first. */
const MAX_VIEWERS = 100_000;
const SALT_BYTES = 16;

/**
 * Creates entitlements that, while the database is unavailable or slow, still allow viewers who were entitled
 * when they were last checked (docs/decisions/playback-and-tokens.md#last-known-state). Other viewers get the
 * error of the database.
 */
export function rememberEntitlements({ entitlements, maxAgeMs }: Options): Entitlements {
  const salt = randomBytes(SALT_BYTES);
  /** Time of the last successful check, longest ago first. */
  const checkedMs = new Map<string, number>();
  const remember = (key: string, isEntitled: boolean) => {
    checkedMs.delete(key);
    if (!isEntitled) return;
    checkedMs.set(key, performance.now());
    const [oldest] = checkedMs.keys();
    if (checkedMs.size > MAX_VIEWERS && oldest !== undefined) checkedMs.delete(oldest);
  };
  return {
    async allows(asking, guarded) {
      const key = keyOf(salt, asking, guarded);
      const check = entitlements.allows(asking, guarded);
      check.then(
        (isEntitled) => remember(key, isEntitled),
        () => {},
      );
      const lastMs = checkedMs.get(key);
      if (lastMs === undefined || performance.now() - lastMs > maxAgeMs) return check;
      return withTimeout(check, LATE_MS, true).catch((error: unknown) => {
        if (isTransientError(error)) return true;
        throw error;
      });
    },
  };
}

/** Returns a key of the media and the credentials in the request. */
function keyOf(salt: Buffer, { headers }: AccessRequest, guarded: ProtectedMedia): string {
  const { cookie, authorization } = headers;
  const credentials = [cookie, authorization, headers['x-api-key'], headers['x-user-token']];
  return createHmac('sha256', salt)
    .update(JSON.stringify([guarded.id, guarded.visibility, guarded.tierIds, credentials]))
    .digest('base64');
}

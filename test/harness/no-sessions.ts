import type { Sessions } from '../../src/http/ports.ts';

/** For apps of a test's own that only know keys. */
export const noSessions: Sessions = {
  cookie: { read: () => null, keep: () => '', drop: () => '' },
  isOwnOrigin: () => false,
  verify: () => null,
  isCsrfToken: () => false,
  onChanged: () => {},
};

import type { Sessions } from '../../src/http/ports.ts';

/** Sessions for test apps that only accept keys. */
export const noSessions: Sessions = {
  cookie: { read: () => null, keep: () => '', drop: () => '' },
  isOwnOrigin: () => false,
  verify: () => null,
  isCsrfToken: () => false,
  onChanged: () => {},
};

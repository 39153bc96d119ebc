import { type ApiKeys, apiKeyRoutes, createApiKeys } from '../../features/api-keys/index.ts';
import { createGuesses } from '../../platform/guesses.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

const MINUTE_SEC = 60;

export function apiKeysPart(base: Base): Built<{ apiKeys: ApiKeys }> {
  const { caps, cursors } = base;
  const apiKeys = createApiKeys({ ...base, guesses: createGuesses(caps(MINUTE_SEC), 'api-key') });
  return {
    gives: { apiKeys },
    part: {
      routes: () => apiKeyRoutes({ apiKeys, cursors }),
      tasks: () => [{ name: 'expiring keys', everyMs: EVERY.hour, run: () => apiKeys.announceExpiring() }],
      close: () => apiKeys.close(),
    },
  };
}

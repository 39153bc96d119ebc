import { type ApiKeys, apiKeyRoutes, createApiKeys } from '../../features/api-keys/index.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export function apiKeysPart(base: Base): Built<{ apiKeys: ApiKeys }> {
  const { cursors } = base;
  const apiKeys = createApiKeys(base);
  return {
    gives: { apiKeys },
    part: {
      routes: () => apiKeyRoutes({ apiKeys, cursors }),
      tasks: () => [{ name: 'expiring keys', everyMs: EVERY.hour, run: () => apiKeys.announceExpiring() }],
      close: () => apiKeys.close(),
    },
  };
}

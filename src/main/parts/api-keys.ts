import {
  type ApiKeys,
  apiKeyRoutes,
  createApiKeys,
  createKeyNotices,
} from '../../features/api-keys/index.ts';
import type { Mailbox } from '../../features/mail/index.ts';
import { HOUR_SEC } from '../../kernel/durations.ts';
import { type Built, EVERY } from '../part.ts';
import type { Base } from '../wiring.ts';

export function apiKeysPart(base: Base & { mailbox: Mailbox }): Built<{ apiKeys: ApiKeys }> {
  const { caps, cursors, mailbox } = base;
  const apiKeys = createApiKeys({
    ...base,
    notices: createKeyNotices({ mailbox, counter: caps(HOUR_SEC) }),
  });
  return {
    gives: { apiKeys },
    part: {
      routes: () => apiKeyRoutes({ apiKeys, cursors }),
      tasks: () => [{ name: 'expiring keys', everyMs: EVERY.hour, run: () => apiKeys.announceExpiring() }],
      close: () => apiKeys.close(),
    },
  };
}

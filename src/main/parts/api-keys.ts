import {
  type ApiKeys,
  apiKeyRoutes,
  createApiKeys,
  createKeySecurityEmails,
} from '../../features/identity/api-keys/index.ts';
import type { Mailbox } from '../../features/integration/mail/index.ts';
import { HOUR_SEC } from '../../kernel/durations.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';

export function apiKeysPart(
  base: BaseContext & { mailbox: Mailbox },
): ModuleWithExports<{ apiKeys: ApiKeys }> {
  const { caps, cursors, mailbox } = base;
  const apiKeys = createApiKeys({
    ...base,
    notices: createKeySecurityEmails({ mailbox, counter: caps(HOUR_SEC) }),
  });
  return {
    exports: { apiKeys },
    module: {
      routes: () => apiKeyRoutes({ apiKeys, cursors }),
      tasks: () => [
        { name: 'expiring keys', everyMs: INTERVALS.hour, run: () => apiKeys.announceExpiring() },
      ],
      close: () => apiKeys.close(),
    },
  };
}

import { HOUR_SEC } from '../../../kernel/durations.ts';
import type { Mailbox } from '../../integration/mail/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { apiKeyEvents } from './events.ts';
import { apiKeyRoutes } from './routes.ts';
import { createKeySecurityEmails } from './security-emails.ts';
import { type ApiKeys, createApiKeys } from './service.ts';

export const apiKeysDeclarations: Declarations = { events: apiKeyEvents };

interface ApiKeysDeps extends Pick<Platform, 'bus' | 'caps' | 'clock' | 'cursors' | 'db' | 'events' | 'log'> {
  mailbox: Mailbox;
}

export function createApiKeysModule(deps: ApiKeysDeps): FeatureModule & { apiKeys: ApiKeys } {
  const { caps, cursors, mailbox } = deps;
  const apiKeys = createApiKeys({
    ...deps,
    notices: createKeySecurityEmails({ mailbox, counter: caps(HOUR_SEC) }),
  });
  return {
    apiKeys,
    routes: () => apiKeyRoutes({ apiKeys, cursors }),
    tasks: () => [
      { name: 'expiring API keys', everyMs: INTERVALS.hour, run: () => apiKeys.announceExpiring() },
    ],
    close: () => apiKeys.close(),
  };
}

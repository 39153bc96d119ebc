import { type EventConsumer, on } from '../../../events/index.ts';
import type { followerAdded, followerRemoved } from '../../identity/users/index.ts';
import type { UsageEvent, UsageEvents } from '../usage-events/index.ts';

interface Deps {
  facts: Pick<UsageEvents, 'append'>;
  users: { followerAdded: typeof followerAdded; followerRemoved: typeof followerRemoved };
}

/** Records follows and unfollows as usage events, in their transaction. */
export function createAnalyticsConsumers({ facts, users }: Deps): EventConsumer[] {
  const fact = (kind: UsageEvent['kind'], workspaceId: string): UsageEvent[] => [{ kind, workspaceId }];
  return [
    on(users.followerAdded, (tx, { workspaceId }) => facts.append(tx, fact('FOLLOW', workspaceId))),
    on(users.followerRemoved, (tx, { workspaceId }) => facts.append(tx, fact('UNFOLLOW', workspaceId))),
  ];
}

import { createRevenue } from '../../features/commerce/ledger/index.ts';
import { memberMetrics } from '../../features/commerce/subscriptions/index.ts';
import { followerAdded, followerRemoved, followers } from '../../features/identity/users/index.ts';
import {
  analyticsRoutes,
  createAnalyticsConsumers,
  createAnalyticsQueries,
  createFinanceAnalytics,
} from '../../features/insight/analytics/index.ts';
import { listBroadcasts } from '../../features/live/streams/index.ts';
import type { Core, OptionalModule } from '../core.ts';
import { namesIn } from './revenue.ts';

/** Builds the analytics of content. */
export const analytics: OptionalModule = {
  build(core) {
    return {
      routes: () => analyticsRoutes({ ...readsOf(core), cursors: core.cursors }),
      consumers: createAnalyticsConsumers({ ...core, users: { followerAdded, followerRemoved } }),
    };
  },
};

function readsOf(core: Core) {
  const { db } = core;
  const reads = createAnalyticsQueries({
    ...core,
    sessions: (workspaceId, streamId, span, most) =>
      listBroadcasts(db, { workspaceId, streamId }, span, most),
  });
  const revenue = createRevenue({ ...core, names: namesIn(core) });
  const finance = createFinanceAnalytics({
    ...core,
    reads,
    money: (workspaceId, spans) => revenue.sums(workspaceId, spans),
    followers: (workspaceId) => followers.count(db, workspaceId),
    members: {
      at: (workspaceId, moments) => memberMetrics.at(db, workspaceId, moments),
      changes: (workspaceId, spans) => memberMetrics.changes(db, workspaceId, spans),
    },
  });
  return { reads, finance };
}

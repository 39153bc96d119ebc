/** Content analytics (docs/concepts/analytics.md). */
import { optional } from '../../commands.ts';
import type { Revenue } from '../../commerce/ledger/index.ts';
import type { memberChanges, membersAt } from '../../commerce/subscriptions/index.ts';
import type { followerAdded, followerRemoved, followers } from '../../identity/users/index.ts';
import type { listBroadcasts } from '../../live/streams/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import { createAnalyticsConsumers } from './consumers.ts';
import { createFinanceAnalytics } from './finance.service.ts';
import { createAnalyticsQueries } from './reads.service.ts';
import { createRollups } from './rollups.service.ts';
import { analyticsRoutes } from './routes.ts';

interface AnalyticsDeps extends Pick<Platform, 'clock' | 'cursors' | 'db' | 'facts'> {
  revenue: Revenue;
  followerAdded: typeof followerAdded;
  followerRemoved: typeof followerRemoved;
  followers: typeof followers;
  listBroadcasts: typeof listBroadcasts;
  memberChanges: typeof memberChanges;
  membersAt: typeof membersAt;
}

/** Builds the analytics of content. */
export function createAnalyticsModule(deps: AnalyticsDeps): FeatureModule {
  return {
    routes: () => analyticsRoutes({ ...readsOf(deps), cursors: deps.cursors }),
    consumers: createAnalyticsConsumers({ facts: deps.facts, users: deps }),
  };
}

function readsOf(deps: AnalyticsDeps) {
  const { db, followers, listBroadcasts, memberChanges, membersAt, revenue } = deps;
  const reads = createAnalyticsQueries({
    ...deps,
    sessions: (workspaceId, streamId, span, most) =>
      listBroadcasts(db, { workspaceId, streamId }, span, most),
  });
  const finance = createFinanceAnalytics({
    ...deps,
    reads,
    money: (workspaceId, spans) => revenue.sums(workspaceId, spans),
    followers: (workspaceId) => followers.count(db, workspaceId),
    members: {
      at: (workspaceId, moments) => membersAt(db, workspaceId, moments),
      changes: (workspaceId, spans) => memberChanges(db, workspaceId, spans),
    },
  });
  return { reads, finance };
}

type RollupDeps = Pick<Platform, 'clock' | 'config' | 'db' | 'facts' | 'metrics'>;

const RUN_MS = 10 * INTERVALS.second;

const rebuild = {
  name: 'analytics rebuild',
  usage: 'analytics rebuild [--from DAY] [--to DAY]',
  options: ['from', 'to'],
};

export const rollupsDeclarations: Declarations = { commands: [rebuild] };

/**
 * Builds the periodic rollups of usage events, and the operator's rebuild
 * (docs/guides/operations.md#analytics).
 */
export function createRollupsModule({ db, clock, config, metrics, facts }: RollupDeps): FeatureModule {
  const analyticsRollups = createRollups({ db, clock, facts, rawDays: config.ANALYTICS_RAW_DAYS });
  return {
    tasks() {
      metrics.sumsBehind(() => analyticsRollups.lagSec());
      return [
        {
          name: 'analytics rollups',
          everyMs: RUN_MS,
          run: async () => {
            await analyticsRollups.run();
          },
        },
      ];
    },
    commands: () => [
      {
        command: rebuild,
        async run(values) {
          const { days } = await analyticsRollups.rebuild(optional(values, 'from'), optional(values, 'to'));
          const span =
            days.length === 1 ? `of ${days[0]}` : `of ${days.length} days, ${days[0]} to ${days.at(-1)}`;
          return { data: { days }, text: `rebuilt the sums ${span} from the usage events` };
        },
      },
    ],
  };
}

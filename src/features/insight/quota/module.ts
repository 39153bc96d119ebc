/** Plan limits and their usage (docs/concepts/quota.md). */
import { wholeMinutes } from '../../../kernel/minute-buckets.ts';
import { startOfNextMonth } from '../../../kernel/months.ts';
import type { ResourceKey } from '../../../kernel/plans.ts';
import { getWorkspaceOwner } from '../../../platform/db/workspace.ts';
import type { ApiKeys } from '../../identity/api-keys/index.ts';
import type { Domains } from '../../identity/domains/index.ts';
import type { Team } from '../../identity/team/index.ts';
import type { Webhooks } from '../../integration/webhooks/index.ts';
import type { Restreams } from '../../live/restreams/index.ts';
import type { livePlan, Streams } from '../../live/streams/index.ts';
import { type Declarations, type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Rooms } from '../../rooms/index.ts';
import type { Uploads } from '../../video/uploads/index.ts';
import type { topHeight } from '../../video/videos/index.ts';
import type { videoMs } from '../summary/index.ts';
import type { UsageReader } from '../usage/index.ts';
import { quotaEvents } from './events.ts';
import { createQuotaNotifications } from './quota-notifications.service.ts';
import { quotaRoutes } from './routes.ts';
import type { ResourceMeter } from './rules.ts';
import type { Heights } from './schemas.ts';
import { createQuota } from './service.ts';

export { createQuotaSignals } from './quota-notifications.service.ts';

interface QuotaDeps extends Pick<Platform, 'bus' | 'clock' | 'db' | 'events' | 'log' | 'requestCounts'> {
  apiKeys: ApiKeys;
  domains: Domains;
  restreams: Restreams;
  rooms: Rooms;
  streams: Streams;
  team: Team;
  uploads: Uploads;
  usage: UsageReader;
  webhooks: Webhooks;
  videoMs: typeof videoMs;
  livePlan: typeof livePlan;
  topHeight: typeof topHeight;
}

/** Returns the meters of all plan limits, each from the feature that enforces the limit. */
function metersOf(deps: QuotaDeps): ResourceMeter[] {
  const { db, clock, uploads, streams, restreams, rooms, webhooks, apiKeys, domains, usage } = deps;
  // Only counted: no plan limits them.
  const monthly = (
    key: ResourceKey,
    unit: 'MINUTES' | 'BYTES',
    metric: 'ROOM' | 'EGRESS' | 'LIVE',
  ): ResourceMeter => ({
    key,
    unit,
    limit: () => null,
    async used(workspaceId) {
      const amount = await usage.thisMonth(workspaceId, metric);
      return unit === 'MINUTES' ? wholeMinutes(amount) : amount;
    },
    resetsAt: () => startOfNextMonth(clock.now()),
    toldFor: 'MONTH',
  });
  const videoMinutes = async (workspaceId: string) => wholeMinutes(await deps.videoMs(db, workspaceId));
  const storage = async (workspaceId: string) => (await getWorkspaceOwner(db, workspaceId)).storageBytes;
  return [
    { key: 'STORAGE_BYTES', unit: 'BYTES', limit: (plan) => plan.storageBytes, used: storage },
    { key: 'VIDEO_MINUTES', unit: 'MINUTES', limit: () => null, used: videoMinutes },
    {
      key: 'OPEN_UPLOADS',
      unit: 'COUNT',
      limit: (plan) => plan.openUploads,
      used: uploads.countOpen,
      toldFor: 'DAY',
    },
    {
      key: 'CONCURRENT_STREAMS',
      unit: 'COUNT',
      limit: (plan) => plan.concurrentStreams,
      used: streams.countLive,
      toldFor: 'DAY',
    },
    monthly('LIVE_MINUTES', 'MINUTES', 'LIVE'),
    {
      key: 'ENCODERS',
      unit: 'COUNT',
      limit: (plan) => plan.encoders,
      used: streams.countEncoders,
      toldFor: 'DAY',
    },
    {
      key: 'RESTREAM_TARGETS',
      unit: 'COUNT',
      limit: (plan) => plan.restreamTargets,
      used: restreams.countTargets,
    },
    {
      key: 'ROOM_PARTICIPANTS',
      unit: 'COUNT',
      limit: (plan) => plan.roomParticipants,
      used: rooms.most,
      toldFor: 'DAY',
    },
    monthly('ROOM_MINUTES', 'MINUTES', 'ROOM'),
    monthly('EGRESS_BYTES', 'BYTES', 'EGRESS'),
    {
      key: 'TEAM_SEATS',
      unit: 'COUNT',
      limit: (plan) => plan.teamSeats,
      used: deps.team.seatsUsed,
      isOfAccount: true,
    },
    { key: 'WEBHOOKS', unit: 'COUNT', limit: (plan) => plan.webhooks, used: webhooks.count },
    { key: 'API_KEYS', unit: 'COUNT', limit: (plan) => plan.apiKeys, used: apiKeys.countUsable },
    {
      key: 'INTEGRATION_DOMAINS',
      unit: 'COUNT',
      limit: (plan) => plan.integrationDomains,
      used: domains.count,
    },
  ];
}

export const quotaDeclarations: Declarations = { events: quotaEvents };

export function createQuotaModule(deps: QuotaDeps): FeatureModule {
  const meters = metersOf(deps);
  const quota = createQuota({ ...deps, meters, requests: deps.requestCounts });
  const notices = createQuotaNotifications({ ...deps, meters });
  const heights: Heights = {
    live: (plan, mode) => deps.livePlan(plan, mode).maxHeight,
    upload: deps.topHeight,
  };
  return {
    routes: () => quotaRoutes({ quota, heights }),
    tasks: () => [{ name: 'quota notifications', everyMs: INTERVALS.second, run: () => notices.run() }],
  };
}

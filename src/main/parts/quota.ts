import {
  createQuota,
  createQuotaNotifications,
  type Heights,
  quotaEvents,
  quotaRoutes,
  type ResourceMeter,
} from '../../features/insight/quota/index.ts';
import { videoMs } from '../../features/insight/summary/index.ts';
import { livePlan } from '../../features/live/streams/index.ts';
import { topHeight } from '../../features/video/videos/index.ts';
import { wholeMinutes } from '../../kernel/minute-buckets.ts';
import { startOfNextMonth } from '../../kernel/months.ts';
import type { ResourceKey } from '../../kernel/plans.ts';
import { getWorkspaceOwner } from '../../platform/db/workspace.ts';
import type { Core, OptionalModule } from '../core.ts';
import { INTERVALS } from '../feature-module.ts';

/** Returns the meters of all plan limits, each from the feature that enforces the limit. */
function metersOf(core: Core): ResourceMeter[] {
  const { db, clock, uploads, streams, restreams, rooms, webhooks, apiKeys, domains, usage } = core;
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
  const videoMinutes = async (workspaceId: string) => wholeMinutes(await videoMs(db, workspaceId));
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
      used: core.team.seatsUsed,
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

export const quota: OptionalModule = {
  events: quotaEvents,
  build(core) {
    const meters = metersOf(core);
    const quota = createQuota({ ...core, meters, requests: core.requestCounts });
    const notices = createQuotaNotifications({ ...core, meters });
    const heights: Heights = {
      live: (plan, mode) => livePlan(plan, mode).maxHeight,
      upload: topHeight,
    };
    return {
      routes: () => quotaRoutes({ quota, heights }),
      tasks: () => [{ name: 'use of the plans', everyMs: INTERVALS.second, run: () => notices.run() }],
    };
  },
};

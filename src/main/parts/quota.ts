import { createQuota, type Heights, type Meter, quotaRoutes } from '../../features/quota/index.ts';
import { livePlan } from '../../features/streams/index.ts';
import { topHeight } from '../../features/videos/index.ts';
import { nextMonthOf } from '../../kernel/months.ts';
import { ownerOf } from '../../platform/db/workspace.ts';
import type { Core, Noun } from '../core.ts';

/** What each plan counts, by the feature that refuses what is over it. */
function metersOf(core: Core): Meter[] {
  const { db, clock, uploads, streams, restreams, rooms, webhooks, apiKeys, domains } = core;
  const storage = async (workspaceId: string) => (await ownerOf(db, workspaceId)).storageBytes;
  return [
    { key: 'STORAGE_BYTES', unit: 'BYTES', limit: (plan) => plan.storageBytes, used: storage },
    { key: 'OPEN_UPLOADS', unit: 'COUNT', limit: (plan) => plan.openUploads, used: uploads.countOpen },
    {
      key: 'CONCURRENT_STREAMS',
      unit: 'COUNT',
      limit: (plan) => plan.concurrentStreams,
      used: streams.countLive,
    },
    { key: 'ENCODERS', unit: 'COUNT', limit: (plan) => plan.encoders, used: streams.countSignals },
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
    },
    {
      key: 'ROOM_MINUTES',
      unit: 'MINUTES',
      limit: () => null,
      used: rooms.minutes,
      resetsAt: () => nextMonthOf(clock.now()),
    },
    { key: 'TEAM_SEATS', unit: 'COUNT', limit: (plan) => plan.teamSeats, used: core.team.seatsUsed },
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

export const quota: Noun = {
  build(core) {
    const quota = createQuota({ ...core, meters: metersOf(core), requests: core.requestCounts });
    const heights: Heights = {
      live: (plan, mode) => livePlan(plan, mode).maxHeight,
      upload: topHeight,
    };
    return { routes: () => quotaRoutes({ quota, heights }) };
  },
};

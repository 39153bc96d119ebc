/** Watching by WebRTC (WHEP, draft-ietf-wish-whep). */
import { startSchedule } from '../../../jobs/schedule.ts';
import type { ClientInfo } from '../../../kernel/client-info.ts';
import type { Snapshots } from '../../../kernel/snapshots.ts';
import type {
  Access,
  createLiveAdmission,
  LiveAdmission,
  StreamSnapshot,
  tokenFingerprint,
} from '../../audience/playback/index.ts';
import type { ViewerFingerprints } from '../../audience/viewer-fingerprints/index.ts';
import type { UsageAggregator } from '../../insight/usage/index.ts';
import { type FeatureModule, INTERVALS } from '../../module.ts';
import type { Platform } from '../../platform.ts';
import type { Viewers } from '../streams/index.ts';
import type { IceServer, iceLinks } from '../whip/index.ts';
import { createWhep, type Whep } from './service.ts';
import { whepPages } from './whep.pages.ts';

export { trackWhepAvailability, WHEP_TOPIC } from './service.ts';

interface WhepDeps extends Pick<Platform, 'bus' | 'caps' | 'clock' | 'config' | 'db' | 'log' | 'secrets'> {
  access: Access;
  arrivals: ViewerFingerprints;
  hasWhep(): boolean;
  snapshots: { streams: Snapshots<StreamSnapshot> };
  tally: UsageAggregator;
  viewers: Viewers;
  createLiveAdmission: typeof createLiveAdmission;
  tokenFingerprint: typeof tokenFingerprint;
  /** Topic of the IDs of streams that changed. */
  streamTopic: string;
  iceServers(): IceServer[];
  iceLinks: typeof iceLinks;
}

/** Builds playback by WebRTC; the media role sends the media. */
export function createWhepModule(deps: WhepDeps): FeatureModule & { whep: Whep } {
  const { config, bus, log, caps, access, snapshots, viewers, arrivals, tally } = deps;
  const { createLiveAdmission, iceLinks, tokenFingerprint } = deps;
  const seen = ({ stream, suffix }: LiveAdmission, visit: ClientInfo) => {
    const { workspaceId } = stream;
    const viewer = { ip: visit.ip, userAgent: visit.userAgent, token: tokenFingerprint(suffix) };
    viewers.seen(stream, viewer, () => arrivals.fingerprint(visit, { workspaceId, isSelf: false }));
  };
  const whep = createWhep({
    ...deps,
    perAddress: config.WHEP_MAX_VIEWERS_PER_ADDRESS,
    isThere: deps.hasWhep,
    admit: createLiveAdmission({ streams: snapshots.streams, access }),
    seen,
    sent: ({ stream: { workspaceId, id: subjectId } }, amount) =>
      tally.add({ kind: 'EGRESS', workspaceId, subjectId, amount }),
    onChanged: (listener) => void bus.subscribe(deps.streamTopic, listener),
  });
  return {
    whep,
    pages: () => [whepPages({ whep, caps, iceLinks: () => iceLinks(deps.iceServers()) })],
    services: {
      api: () => {
        const task = { name: 'WHEP viewers', everyMs: INTERVALS.second, run: () => whep.look() };
        const schedule = startSchedule([task], log);
        return { stop: () => schedule.stop() };
      },
    },
    tasks: () => [{ name: 'WHEP offers', everyMs: INTERVALS.minute, run: () => whep.sweep() }],
  };
}

import {
  createLiveAdmission,
  type LiveAdmission,
  type Snapshots,
  type StreamSnapshot,
  tokenFingerprint,
} from '../../features/audience/playback/index.ts';
import type { ViewerFingerprints } from '../../features/audience/viewer-fingerprints/index.ts';
import type { UsageAggregator } from '../../features/insight/usage/index.ts';
import { STREAM_TOPIC, type Viewers } from '../../features/live/streams/index.ts';
import { createWhep, type Whep, whepPages } from '../../features/live/whep/index.ts';
import { iceLinks } from '../../features/live/whip/index.ts';
import { startSchedule } from '../../jobs/schedule.ts';
import type { ClientInfo } from '../../kernel/client-info.ts';
import { createIceServers } from '../../media/rooms/turn.ts';
import { INTERVALS, type ModuleWithExports } from '../feature-module.ts';
import type { BaseContext } from '../wiring.ts';
import type { PlaybackUrls } from './addresses.ts';

type Needs = BaseContext &
  Pick<PlaybackUrls, 'access' | 'hasWhep'> & {
    snapshots: { streams: Snapshots<StreamSnapshot> };
    viewers: Viewers;
    arrivals: ViewerFingerprints;
    tally: UsageAggregator;
  };

/** Builds playback by WebRTC; the media role sends the media. */
export function whepPart(needs: Needs): ModuleWithExports<{ whep: Whep }> {
  const { config, clock, bus, log, caps, access, snapshots, viewers, arrivals, tally } = needs;
  const seen = ({ stream, suffix }: LiveAdmission, visit: ClientInfo) => {
    const { workspaceId } = stream;
    const viewer = { ip: visit.ip, userAgent: visit.userAgent, token: tokenFingerprint(suffix) };
    viewers.seen(stream, viewer, () => arrivals.fingerprint(visit, { workspaceId, isSelf: false }));
  };
  const whep = createWhep({
    ...needs,
    perAddress: config.WHEP_MAX_VIEWERS_PER_ADDRESS,
    isThere: needs.hasWhep,
    admit: createLiveAdmission({ streams: snapshots.streams, access }),
    seen,
    sent: ({ stream: { workspaceId, id: subjectId } }, amount) =>
      tally.add({ kind: 'EGRESS', workspaceId, subjectId, amount }),
    onChanged: (listener) => void bus.subscribe(STREAM_TOPIC, listener),
  });
  const iceServers = createIceServers({ urls: config.TURN_URLS, secret: config.TURN_SECRET, clock });
  return {
    exports: { whep },
    module: {
      pages: () => [whepPages({ whep, caps, iceLinks: () => iceLinks(iceServers()) })],
      services: {
        api: () => {
          const task = { name: 'viewers by WHEP', everyMs: INTERVALS.second, run: () => whep.look() };
          const schedule = startSchedule([task], log);
          return { stop: () => schedule.stop() };
        },
      },
      tasks: () => [{ name: 'offers by WHEP', everyMs: INTERVALS.minute, run: () => whep.sweep() }],
    },
  };
}

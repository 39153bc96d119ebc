import type { ClientInfo } from '../../../kernel/client-info.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_SEC } from '../../../kernel/durations.ts';
import { ipBlock } from '../../../kernel/ip-block.ts';
import type { Snapshots } from '../../../kernel/snapshots.ts';
import type { Visibility } from '../../../kernel/visibility.ts';
import { type CounterFactory, counterKey } from '../../../platform/counters.ts';
import type { UsageEvents } from '../../insight/usage-events/index.ts';
import type { ViewerFingerprint, ViewerFingerprints } from '../viewer-fingerprints/index.ts';
import { mayWatch } from './access.rules.ts';
import { type AcceptedPlayerEvent, acceptEvents, type ReportedPlayerEvent } from './beacon.rules.ts';
import { createBeaconOrder } from './beacon-order.ts';
import type { StreamSnapshot } from './live/snapshot.ts';
import type { OnWatched } from './live/watchers.ts';
import { isShown } from './paywall.ts';
import type { PlaybackSession, PlaybackSessions } from './playback-sessions.ts';
import type { VideoSnapshot } from './videos/snapshot.ts';

/** Beacon of a player. */
export interface Beacon {
  session: string;
  /** Number in the session. */
  n: number;
  sentAt?: string | number;
  /** False when playlist requests count the viewer. */
  isPresence?: boolean;
  events: readonly ReportedPlayerEvent[];
}

/** Takes the messages of players (docs/concepts/playback.md#beacons). */
export interface Beacons {
  /** Records a beacon. Invalid beacons are ignored. */
  take(beacon: Beacon, visit: ClientInfo): Promise<void>;
}

interface Deps {
  streams: Snapshots<StreamSnapshot>;
  videos: Snapshots<VideoSnapshot>;
  sessions: Pick<PlaybackSessions, 'read'>;
  viewers: OnWatched;
  arrivals: Pick<ViewerFingerprints, 'fingerprint' | 'viewerOf'>;
  facts: Pick<UsageEvents, 'record' | 'isDuplicate' | 'lastNumber'>;
  counters: CounterFactory;
  clock: Clock;
}

/**
 * Maximum beacons: a player sends four a minute, more when seeking; some hundred may share one IP address.
 */
const MAX_PER_MINUTE = { session: 60, address: 1200 };
/**
 * Time after a broadcast in which beacons still count: viewers see the rest for 15 seconds, some seconds late
 * (docs/decisions/playback-and-tokens.md#end-of-a-broadcast), and their players then report the end.
 */
const ENDING_MS = 30_000;
/** Events after which the viewer is no longer watching. */
const LEAVES: ReadonlySet<string> = new Set(['PAUSE', 'END']);

export function createBeacons(deps: Deps): Beacons {
  const { streams, videos, sessions, viewers, arrivals, facts, counters, clock } = deps;
  const counter = counters({ name: 'beacons', window: MINUTE_SEC, withoutStore: 'insured' });
  const order = createBeaconOrder(facts);
  const isTooMuch = async (session: PlaybackSession, { ip }: ClientInfo) => {
    const counts = await Promise.all([
      counter.hit(session.key),
      counter.hit(counterKey(`address ${ipBlock(ip)}`)),
    ]);
    return counts[0].count > MAX_PER_MINUTE.session || counts[1].count > MAX_PER_MINUTE.address;
  };

  /**
   * Reports whether the beacon repeats an old one. Rollups deduplicate within a day; older sessions are
   * looked up.
   */
  const isOldReplay = async ({ key, madeAtMs }: PlaybackSession, number: number, now: Date) =>
    now.getTime() - madeAtMs >= DAY_MS && facts.isDuplicate({ playbackSession: key, number, before: now });

  return {
    async take(beacon, visit) {
      const session = sessions.read(beacon.session);
      if (session === null || (await isTooMuch(session, visit))) return;
      const [stream, video] = await Promise.all([streams.get(session.id), videos.get(session.id)]);
      const now = clock.now();
      const what = playing(stream, video, session, now.getTime());
      if (what === undefined || (await isOldReplay(session, beacon.n, now))) return;
      const durationSec = video?.durationSec ?? null;
      const events = acceptEvents(beacon.events, {
        nowMs: now.getTime(),
        sentAt: beacon.sentAt,
        durationSec,
      });
      if (events.length === 0) return;
      const { workspaceId } = what;
      const meet = (): ViewerFingerprint => arrivals.fingerprint(visit, { workspaceId, ...session });
      const isPresence = stream?.isLive && beacon.isPresence !== false;
      if (isPresence && (await order.advance(session, beacon.n, now)))
        recordPresence(viewers, stream, { session, visit, events, meet });
      const viewer = await arrivals.viewerOf(meet(), now);
      facts.record({
        kind: 'BEACON',
        workspaceId,
        subjectId: session.id,
        at: now,
        viewer,
        playbackSession: session.key,
        number: beacon.n,
        playerEvents: events,
      });
    },
  };
}

/**
 * Returns the live broadcast (or one that has just ended, for sessions created before its end) or the
 * playable video, while the grant of the session allows it. A session of a member page was entitled when it
 * was created; PRIVATE media has no entitled viewers.
 */
function playing(
  stream: StreamSnapshot | undefined,
  video: VideoSnapshot | undefined,
  { grant, madeAtMs }: PlaybackSession,
  nowMs: number,
): { workspaceId: string; visibility: Visibility } | undefined {
  const endedMs = stream?.ended?.until.getTime() ?? Number.NEGATIVE_INFINITY;
  const isOn = stream?.isLive || (nowMs - endedMs < ENDING_MS && madeAtMs <= endedMs);
  const what = isOn ? stream : video !== undefined && isShown(video) ? video : undefined;
  if (what === undefined) return undefined;
  const { visibility } = what;
  return mayWatch({ visibility, grant, isEntitled: visibility !== 'PRIVATE' }) ? what : undefined;
}

interface AcceptedBeacon {
  session: PlaybackSession;
  visit: ClientInfo;
  events: readonly AcceptedPlayerEvent[];
  meet(): ViewerFingerprint;
}

function recordPresence(
  viewers: OnWatched,
  stream: StreamSnapshot,
  { session, visit, events, meet }: AcceptedBeacon,
): void {
  const last = events.findLast(({ type }) => type !== 'ERROR');
  if (last === undefined) return;
  const { ip, userAgent } = visit;
  const viewer = { ip, userAgent, token: session.tokenFingerprint };
  viewers.seen(stream, viewer, meet, LEAVES.has(last.type) ? 'gone' : 'beacon');
}

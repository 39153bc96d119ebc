import type { ClientInfo } from '../../../../kernel/client-info.ts';
import { type Clock, dateFromMs } from '../../../../kernel/clock.ts';
import { notFound } from '../../../../kernel/errors.ts';
import type { Visibility } from '../../../../kernel/visibility.ts';
import type { Db } from '../../../../platform/db/index.ts';
import type { Secrets } from '../../../../platform/secrets.ts';
import type { ViewerFingerprints } from '../../../audience/viewer-fingerprints/index.ts';
import type { UsageEvent, UsageEvents } from '../../../insight/usage-events/index.ts';
import { isView } from '../rules.ts';
import type { RelatedRow } from './repository.ts';
import * as repository from './repository.ts';

export interface Viewing {
  /** Player session; when null, viewers are distinguished by IP address and browser. */
  sessionId: string | null;
  /** Playback position; when the player sends none, null, and the view counts once per IP address. */
  positionSec: number | null;
  /** Playback token, for a video that is not public. */
  token: string | null;
  /** IP address, or the address block of one household. */
  address: string;
  userAgent: string;
  visit: ClientInfo;
  /** Referring page as reported by the player. */
  referrer: string | null;
}

/**
 * Operations of viewers without a key. Functions reject with NOT_FOUND for a video that the viewer may not
 * see.
 */
export interface Audience {
  /** Counts a viewer who has watched 10 seconds or a quarter, once in 24 hours. */
  view(videoId: string, viewing: Viewing): Promise<{ counted: boolean; viewCount: number }>;
  /** Lists videos related to a PUBLIC video, best first: of its channel, with its tags, then the newest. */
  related(videoId: string, limit: number): Promise<RelatedRow[]>;
  /** Deletes viewers counted longer ago. */
  forgetViewers(): Promise<void>;
}

const ONCE_MS = 24 * 3_600_000;
/** Text that cannot be an ID never reaches the database. */
const VIDEO_ID = /^vid_[0-9a-z]{26}$/;

interface Deps {
  db: Db;
  clock: Clock;
  secrets: Pick<Secrets, 'sign'>;
  arrivals: ViewerFingerprints;
  facts: Pick<UsageEvents, 'append'>;
  /** Reports whether a viewer with this token or these cookies may see the video. Provided by playback. */
  mayWatch(
    video: { id: string; workspaceId: string; visibility: Visibility; tierIds: readonly string[] },
    viewer: { token: string | null; asking: ClientInfo },
  ): Promise<boolean>;
}

export function createAudience({ db, clock, secrets, arrivals, facts, mayWatch }: Deps): Audience {
  const find = async (id: string) => {
    const video = VIDEO_ID.test(id) ? await repository.findView(db, id) : undefined;
    if (video === undefined) throw notFound();
    return video;
  };
  const factOf = async (
    { visit, referrer }: Viewing,
    { videoId, workspaceId, accountId }: { videoId: string; workspaceId: string; accountId: string },
    at: Date,
  ): Promise<UsageEvent> => {
    const isSelf = await arrivals.isOwner(visit, accountId);
    const viewer = await arrivals.viewerOf(
      arrivals.fingerprint(visit, { workspaceId, isSelf, referrer }),
      at,
    );
    return { kind: 'VIEW', workspaceId, subjectId: videoId, at, viewer };
  };
  const dayAgo = () => dateFromMs(clock.ms() - ONCE_MS);
  return {
    async view(videoId, viewing) {
      const { positionSec, token, visit } = viewing;
      const video = await find(videoId);
      const { visibility, workspace_id: workspaceId, tier_ids: tierIds } = video;
      const guarded = { id: videoId, workspaceId, visibility, tierIds };
      if (!(await mayWatch(guarded, { token, asking: visit }))) throw notFound();
      const unchanged = { counted: false, viewCount: video.view_count };
      const isSeen = positionSec === null || isView(positionSec, video.duration_sec);
      if (!video.is_playable || !isSeen) return unchanged;
      // The signed value does not reveal the viewer and cannot be compared between videos.
      const who = JSON.stringify([videoId, viewerOf(viewing)]);
      const viewer = Buffer.from(secrets.sign('views', who), 'base64url');
      const now = clock.now();
      const fact = await factOf(viewing, { videoId, workspaceId, accountId: video.account_id }, now);
      const viewCount = await db.transaction().execute(async (tx) => {
        const count = await repository.countView(tx, { videoId, viewer, now, since: dayAgo() });
        if (count !== undefined) await facts.append(tx, [fact]);
        return count;
      });
      return viewCount === undefined ? unchanged : { counted: true, viewCount };
    },
    async related(videoId, limit) {
      const anchor = await find(videoId);
      if (anchor.visibility !== 'PUBLIC' || anchor.mode !== 'live') throw notFound();
      const found = new Map<string, RelatedRow>();
      const add = (rows: RelatedRow[]) => {
        for (const row of rows) if (found.size < limit && !found.has(row.id)) found.set(row.id, row);
      };
      add(await repository.channelVideos(db, anchor, limit));
      if (found.size < limit && anchor.tags.length > 0)
        add(await repository.taggedVideos(db, anchor, limit * 2));
      if (found.size < limit) add(await repository.recentVideos(db, anchor, limit * 2));
      return [...found.values()];
    },
    forgetViewers: () => repository.deleteViewers(db, dayAgo()),
  };
}

/** Returns the properties that identify a viewer across views. */
function viewerOf({ sessionId, positionSec, address, userAgent }: Viewing): object {
  if (positionSec === null) return { address };
  return sessionId === null ? { client: `${address}\n${userAgent}` } : { sessionId };
}

import type { Mode } from '../../../kernel/access.ts';
import type { Visibility } from '../../../kernel/visibility.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Chapter } from '../../../platform/db/json-columns.ts';
import type { VideoStatus } from '../../../platform/db/tables.generated.ts';
import { VIDEO_TOPIC } from '../locked.ts';
import * as repository from './repository.ts';

/** One playable set of files, below the video's folder in the store. */
export interface ReadyRendition {
  /** `r1a1/720p` */
  path: string;
  codecs: string;
  /** Bits per second. */
  averageBitrate: number;
  peakBitrate: number;
}

export interface ReadyRung extends ReadyRendition {
  width: number;
  height: number;
  frameRate: number | null;
}

/** What playback and the watch page need to know of a video. */
export interface VideoGate {
  id: string;
  workspaceId: string;
  accountId: string;
  title: string;
  description: string | null;
  visibility: Visibility;
  status: VideoStatus;
  durationSec: number | null;
  /** Of the original, as shown. */
  width: number | null;
  height: number | null;
  /** Highest first; empty before the first can be played. */
  rungs: readonly ReadyRung[];
  audio: ReadyRendition | null;
  captions: readonly { language: string; label: string; file: string }[];
  chapters: readonly Chapter[];
  /** The folder of the pictures; null before they are made. */
  imageFolder: string | null;
  hasStoryboard: boolean;
  hasPreview: boolean;
  thumbnailFile: string | null;
  viewCount: number;
  publishedAt: Date | null;
  createdAt: Date;
  mode: Mode;
  creator: { username: string; name: string | null };
  /** Host patterns of the sites that may play it; null: any. */
  embedHosts: readonly string[] | null;
}

/** How long an answer is reused when no hint of a change arrives. */
const FRESH_MS = 500;
const ENTRIES = 10_000;
/** What no id looks like never reaches the database. */
const VIDEO_ID = /^vid_[0-9a-z]{26}$/;

export interface VideoGates {
  /** Undefined when there is no such video, or not any more. */
  get(id: string): Promise<VideoGate | undefined>;
}

/** Reads videos for viewers, at most twice a second for each however many watch. */
export function createVideoGates({ db, bus }: { db: Db; bus: Bus }): VideoGates {
  const cache = new Map<string, { until: number; gate: Promise<VideoGate | undefined> }>();
  bus.subscribe(VIDEO_TOPIC, (id) => cache.delete(id));
  return {
    get(id) {
      if (!VIDEO_ID.test(id)) return Promise.resolve(undefined);
      const known = cache.get(id);
      const now = performance.now();
      if (known !== undefined && known.until > now) return known.gate;
      if (cache.size >= ENTRIES) cache.clear();
      const gate = repository.findGate(db, id).then((row) => row && toGate(row));
      cache.set(id, { until: now + FRESH_MS, gate });
      gate.catch(() => cache.delete(id));
      return gate;
    },
  };
}

function toGate(row: repository.GateRow): VideoGate {
  return {
    id: row.id,
    workspaceId: row.workspace_id,
    accountId: row.account_id,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    status: row.status,
    durationSec: row.duration_sec,
    width: row.width,
    height: row.height,
    rungs: row.renditions.flatMap((rendition) => {
      const { kind, width, height, frame_rate: frameRate } = rendition;
      const files = toReady(rendition);
      if (kind !== 'VIDEO' || files === null || width === null || height === null) return [];
      return [{ ...files, width, height, frameRate }];
    }),
    audio: row.renditions.filter(({ kind }) => kind === 'AUDIO').map(toReady)[0] ?? null,
    captions: row.captions,
    chapters: row.chapters,
    imageFolder: row.image_folder,
    hasStoryboard: row.has_storyboard,
    hasPreview: row.has_preview,
    thumbnailFile: row.thumbnail_file,
    viewCount: row.view_count,
    publishedAt: row.published_at,
    createdAt: row.created_at,
    mode: row.mode,
    creator: { username: row.username, name: row.name },
    embedHosts: row.embed_mode === 'OPEN' ? null : row.embed_domains,
  };
}

function toReady(row: repository.GateRow['renditions'][number]): ReadyRendition | null {
  const { name, folder, codecs, average_bitrate: average, peak_bitrate: peak } = row;
  if (folder === null || codecs === null) return null;
  return { path: `${folder}/${name}`, codecs, averageBitrate: average ?? 0, peakBitrate: peak ?? 0 };
}

import type { AudioInfo, VideoInfo } from '../../media/contract/index.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Db } from '../../platform/db/index.ts';
import type { StreamLatencyMode } from '../../platform/db/tables.generated.ts';
import * as repository from './repository.ts';
import { STREAM_TOPIC } from './service.ts';

/** What playback and the watch page need to know of a stream. */
export interface StreamGate {
  id: string;
  title: string;
  description: string | null;
  visibility: repository.StreamRow['visibility'];
  isLive: boolean;
  hasSignal: boolean;
  /** Of the last signal; null before the first one. */
  currentSessionId: string | null;
  /** Since when the broadcast is on. */
  liveSince: Date | null;
  scheduledStartAt: Date | null;
  latencyMode: StreamLatencyMode;
  creator: { username: string; name: string | null };
  /** Host patterns of the sites that may show the embed player; null: any. */
  embedHosts: readonly string[] | null;
  video: VideoInfo | null;
  audio: AudioInfo | null;
}

/** How long an answer is reused when no hint of a change arrives: start and stop show within a second. */
const FRESH_MS = 500;
const ENTRIES = 10_000;
/** What no id looks like never reaches the database. */
const STREAM_ID = /^str_[0-9a-z]{26}$/;

export interface StreamGates {
  /** Undefined when there is no such stream. Any workspace: viewers have none. */
  get(id: string): Promise<StreamGate | undefined>;
}

/** Reads the flags for viewers, at most twice a second for each stream however many watch. */
export function createStreamGates({ db, bus }: { db: Db; bus: Bus }): StreamGates {
  const cache = new Map<string, { until: number; gate: Promise<StreamGate | undefined> }>();
  bus.subscribe(STREAM_TOPIC, (id) => cache.delete(id));
  return {
    get(id) {
      if (!STREAM_ID.test(id)) return Promise.resolve(undefined);
      const known = cache.get(id);
      const now = performance.now();
      if (known !== undefined && known.until > now) return known.gate;
      if (cache.size >= ENTRIES) cache.clear();
      const gate = load(db, id);
      cache.set(id, { until: now + FRESH_MS, gate });
      gate.catch(() => cache.delete(id));
      return gate;
    },
  };
}

async function load(db: Db, id: string): Promise<StreamGate | undefined> {
  const row = await repository.findGate(db, id);
  if (row === undefined) return undefined;
  return {
    id: row.id,
    title: row.title,
    description: row.description,
    visibility: row.visibility,
    isLive: row.is_live,
    hasSignal: row.has_signal,
    currentSessionId: row.current_session_id,
    liveSince: row.live_since,
    scheduledStartAt: row.scheduled_start_at,
    latencyMode: row.latency_mode,
    creator: { username: row.username, name: row.name },
    embedHosts: row.embed_mode === 'OPEN' ? null : row.embed_domains,
    video: row.video,
    audio: row.audio,
  };
}

import { createIdleCache } from '../../../kernel/cache.ts';
import { withTimeout } from '../../../kernel/timeout.ts';
import type { DvrFile, HistorySegment, LiveHistory } from '../../../media/contract/index.ts';
import { type Db, isTransientError } from '../../../platform/db/index.ts';
import { fileKey } from './keys.ts';
import type { SegmentRow } from './repository.ts';
import * as repository from './repository.ts';

/** Cached history of one stream, oldest segment first. */
interface CachedHistory {
  rows: SegmentRow[];
  segments: HistorySegment[];
  /** `performance.now()` */
  readAt: number;
  reading: Promise<void> | null;
}

/** Minimum interval between two reads of a stream for a segment that is not cached. */
const FRESH_MS = 500;
/** Wait for a read before the cached history is used. */
const LATE_MS = 250;
/** Maximum cached segments of all streams, about 100 MB; four hours have 7,200. */
const SEGMENTS_MAX = 360_000;
const UNUSED_MS = 60_000;

/** Creates the reader of stored histories. It reads each segment once, whatever the number of viewers. */
export function createLiveHistory(db: Db): LiveHistory {
  const of = createIdleCache<CachedHistory>(
    () => ({ rows: [], segments: [], readAt: -FRESH_MS, reading: null }),
    {
      idleTtlMs: UNUSED_MS,
      sizeOf: ({ rows }) => rows.length,
      maxTotalSize: SEGMENTS_MAX,
    },
  );
  const read = async (streamId: string, known: CachedHistory): Promise<void> => {
    const [oldestMs, added] = await Promise.all([
      repository.oldestMs(db, streamId),
      repository.segmentsAfter(db, streamId, known.rows.at(-1)?.start_ms ?? 0),
    ]);
    const kept = known.rows.filter((row) => oldestMs !== null && row.start_ms >= oldestMs);
    known.rows = [...kept, ...added];
    known.segments = [...known.segments.slice(known.segments.length - kept.length), ...added.map(toSegment)];
    known.readAt = performance.now();
  };
  const refresh = (streamId: string, known: CachedHistory): Promise<void> => {
    if (performance.now() - known.readAt < FRESH_MS) return Promise.resolve();
    known.reading ??= read(streamId, known).finally(() => {
      known.reading = null;
    });
    return known.reading;
  };
  /** Does not wait long when segments are cached, and does not fail when the database is unavailable. */
  const tryRefresh = async (streamId: string, known: CachedHistory): Promise<void> => {
    const refreshed = refresh(streamId, known).catch((error: unknown) => {
      if (!isTransientError(error)) throw error;
    });
    await (known.segments.length === 0 ? refreshed : withTimeout(refreshed, LATE_MS, undefined));
  };

  return {
    async upTo(streamId, seq) {
      const known = of(streamId);
      if ((known.segments.at(-1)?.seq ?? -1) < seq) await tryRefresh(streamId, known);
      return known.segments;
    },
    async keyOf({ streamId, epoch, rung, file }) {
      const known = of(streamId);
      const look = (): DvrFile | null => {
        const isIt = (row: SegmentRow) =>
          row.epoch === epoch && row.rungs[rung] !== undefined && (file === 'init.mp4' || row.file === file);
        const row = known.rows.findLast(isIt);
        if (row === undefined) return null;
        const { start_ms: startMs, duration_sec: durationSec } = row;
        return { key: fileKey(row, rung, file), startMs, endMs: startMs + durationSec * 1000 };
      };
      const found = look();
      if (found !== null) return found;
      await refresh(streamId, known);
      return look();
    },
  };
}

function toSegment(row: SegmentRow): HistorySegment {
  const { stream_id: streamId, epoch, file, seq, discontinuity: disc, rungs } = row;
  const { start_ms: startMs, duration_sec: durationSec } = row;
  return { streamId, epoch, file, seq, disc, startMs, durationSec, rungs };
}

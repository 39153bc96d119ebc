import type { Events } from '../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { BlobStore, DvrPort, HistorySegment } from '../../../media/contract/index.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { VideoIntake } from '../../video/videos/index.ts';
import { dvrFolder, filesOf } from './keys.ts';
import type { SegmentRow } from './repository.ts';
import * as repository from './repository.ts';

export interface DvrDeps {
  db: Db;
  events: Events;
  store: Pick<BlobStore, 'delete' | 'deletePrefix'>;
  clock: Clock;
  intake: Pick<VideoIntake, 'hold'>;
  /** Reports whether the recording of a session's broadcast is still being produced. */
  isRecordingComing(sessionId: string): Promise<boolean>;
}

/** History of live streams beyond the live window, and its retention (docs/decisions/dvr.md). */
export interface Dvr {
  /** Port for the media plane. */
  readonly port: DvrPort;
  /** Removes segments older than the window of their stream, and the histories of ended broadcasts. */
  sweep(): Promise<void>;
}

/** Grace for players that have just read a playlist and request its segments. */
const PLAYER_GRACE_MS = 60_000;
const MAX_BATCH_SEGMENTS = 500;
/** Oldest segments deleted for a new one when the plan has no storage left. */
const REPLACED = 2;
/** Retention of a history without a recording; clips can be created from it until then. */
const CLIP_RETENTION_MS = 600_000;
/** Time after which a recording is no longer expected. */
const RECORDING_TIMEOUT_MS = 24 * 3_600_000;
const DELETES = 8;

export function createDvr(deps: DvrDeps): Dvr {
  const { db, clock } = deps;
  return {
    port: {
      async wanted(nodeId) {
        const rows = await repository.listRecordingForNode(db, nodeId);
        return rows.map(({ streamId, workspaceId, since, keptUntilMs }) => ({
          streamId,
          sinceMs: since?.getTime() ?? clock.ms(),
          keptUntilMs,
          folder: dvrFolder(workspaceId, streamId),
        }));
      },
      kept: (segment) => keep(deps, segment),
      lastKept: (streamId) => repository.lastNumbers(db, streamId),
    },
    async sweep() {
      await dropPast(deps);
      for (const { id } of await repository.listExpiredHistories(db)) await dropOver(deps, id);
    },
  };
}

async function keep(deps: DvrDeps, segment: HistorySegment): Promise<boolean> {
  const { db, events, intake } = deps;
  const workspaceId = await repository.findDvrWorkspace(db, segment.streamId);
  if (workspaceId === undefined) return false;
  const insert = () =>
    events.transaction(async (tx) => {
      // The workspace is locked first, as everywhere.
      await intake.hold.grow(tx, workspaceId, repository.totalBytes(segment));
      const isNew = await repository.insertSegment(tx, workspaceId, segment);
      if (!isNew) await intake.hold.grow(tx, workspaceId, -repository.totalBytes(segment));
    });
  if (await fits(() => intake.hold.makingRoom(workspaceId, insert))) return true;
  // A full plan retains a shorter history: the oldest segments are deleted.
  await drop(deps, await repository.oldest(db, segment.streamId, REPLACED));
  return fits(insert);
}

async function fits(insert: () => Promise<void>): Promise<boolean> {
  try {
    await insert();
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED') return false;
    throw error;
  }
}

async function dropPast(deps: DvrDeps): Promise<void> {
  for (;;) {
    const past = await repository.pastSegments(
      deps.db,
      deps.clock.ms() - PLAYER_GRACE_MS,
      MAX_BATCH_SEGMENTS,
    );
    for (const rows of Map.groupBy(past, (row) => row.stream_id).values()) await drop(deps, rows);
    if (past.length < MAX_BATCH_SEGMENTS) return;
  }
}

/** @param rows the oldest segments of one stream. */
async function drop({ store, events, intake }: DvrDeps, rows: readonly SegmentRow[]): Promise<void> {
  const last = rows.at(-1);
  if (last === undefined) return;
  const keys = rows.flatMap(filesOf).values();
  const lane = async () => {
    for (const key of keys) await store.delete(key);
  };
  await Promise.all(Array.from({ length: DELETES }, lane));
  await events.transaction(async (tx) => {
    const freed = await repository.deleteUntil(tx, last.stream_id, last.start_ms);
    await intake.hold.settle(tx, last.workspace_id, -freed);
  });
}

/**
 * Deletes the history of an ended broadcast. Checks again first, because the next broadcast may have begun.
 */
async function dropOver(deps: DvrDeps, id: string): Promise<void> {
  const { db, store, events, intake, clock } = deps;
  const nowMs = clock.ms();
  const [stream] = await repository.listExpiredHistories(db, id);
  if (stream === undefined || !(await isOver(deps, stream))) return;
  await store.deletePrefix(`${dvrFolder(stream.workspace_id, id)}/`);
  await events.transaction(async (tx) => {
    // Newer segments belong to the next broadcast.
    const freed = await repository.deleteUntil(tx, id, nowMs);
    await intake.hold.settle(tx, stream.workspace_id, -freed);
  });
}

type OverStream = Awaited<ReturnType<typeof repository.listExpiredHistories>>[number];

/** Reports whether the history is obsolete: a recording has replaced it, or there will be none. */
async function isOver(deps: DvrDeps, stream: OverStream): Promise<boolean> {
  const { ended_at: endedAt, current_session_id: sessionId } = stream;
  if (stream.deleted_at !== null || stream.dvr_window_sec === 0 || endedAt === null) return true;
  const isPast = (ms: number) => endedAt < dateFromMs(deps.clock.ms() - ms);
  if (!isPast(PLAYER_GRACE_MS)) return false;
  if (sessionId === null || !(await deps.isRecordingComing(sessionId))) return isPast(CLIP_RETENTION_MS);
  return isPast(RECORDING_TIMEOUT_MS);
}

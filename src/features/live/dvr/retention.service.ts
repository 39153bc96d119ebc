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
  /** Is the recording of a session's broadcast still being made? */
  isRecordingComing(sessionId: string): Promise<boolean>;
}

/** The history of live streams: what is kept beyond the live window, and for how long (docs/decisions/dvr.md). */
export interface Dvr {
  /** For the media plane. */
  readonly port: DvrPort;
  /** Removes what is older than the window of its stream, and the history of broadcasts that are over. */
  sweep(): Promise<void>;
}

/** Players that have just read a playlist ask for what it shows. */
const LEFT_MS = 60_000;
const AT_ONCE = 500;
/** What makes room for a new segment where the plan has no storage left. */
const REPLACED = 2;
/** A history that no recording follows: clips of it can be made for so long after the end. */
const KEPT_AFTER_MS = 600_000;
/** A recording that is not made by then will not be. */
const WAITS_MS = 24 * 3_600_000;
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
      // The workspace first, as everybody locks it.
      await intake.hold.grow(tx, workspaceId, repository.totalBytes(segment));
      const isNew = await repository.insertSegment(tx, workspaceId, segment);
      if (!isNew) await intake.hold.grow(tx, workspaceId, -repository.totalBytes(segment));
    });
  if (await fits(() => intake.hold.makingRoom(workspaceId, insert))) return true;
  // A full plan keeps a shorter history: the oldest gives way.
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
    const past = await repository.pastSegments(deps.db, deps.clock.ms() - LEFT_MS, AT_ONCE);
    for (const rows of Map.groupBy(past, (row) => row.stream_id).values()) await drop(deps, rows);
    if (past.length < AT_ONCE) return;
  }
}

/** @param rows the oldest of one stream. */
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

/** Looks once more: the others have taken their time, and its next broadcast may have begun. */
async function dropOver(deps: DvrDeps, id: string): Promise<void> {
  const { db, store, events, intake, clock } = deps;
  const nowMs = clock.ms();
  const [stream] = await repository.listExpiredHistories(db, id);
  if (stream === undefined || !(await isOver(deps, stream))) return;
  await store.deletePrefix(`${dvrFolder(stream.workspace_id, id)}/`);
  await events.transaction(async (tx) => {
    // What has come since is of the next broadcast.
    const freed = await repository.deleteUntil(tx, id, nowMs);
    await intake.hold.settle(tx, stream.workspace_id, -freed);
  });
}

type OverStream = Awaited<ReturnType<typeof repository.listExpiredHistories>>[number];

/** Nobody can want it any more: a recording has taken its place, or none will. */
async function isOver(deps: DvrDeps, stream: OverStream): Promise<boolean> {
  const { ended_at: endedAt, current_session_id: sessionId } = stream;
  if (stream.deleted_at !== null || stream.dvr_window_sec === 0 || endedAt === null) return true;
  const isPast = (ms: number) => endedAt < dateFromMs(deps.clock.ms() - ms);
  if (!isPast(LEFT_MS)) return false;
  if (sessionId === null || !(await deps.isRecordingComing(sessionId))) return isPast(KEPT_AFTER_MS);
  return isPast(WAITS_MS);
}

import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppendEvent, type Events, nextSequence } from '../../events/index.ts';
import { JobDeferredError, type JobRun, type JobWorker } from '../../jobs/job.ts';
import type { Clock } from '../../kernel/clock.ts';
import { originalKey } from '../../kernel/media-keys.ts';
import { MAX_DURATION_SEC, PLANS } from '../../kernel/plans.ts';
import {
  type BlobStore,
  MediaFileError,
  type RecordedRoomTrack,
  type RoomComposer,
} from '../../media/contract/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../platform/db/workspace.ts';
import { isDiskError } from '../../platform/disk.ts';
import type { Logger } from '../../platform/logger.ts';
import type { VideoIntake } from '../video/videos/index.ts';
import { roomRecordingReady } from './events.ts';
import { roomRecordingJob } from './recording.jobs.ts';
import type { RoomRecordingRow } from './recording.repository.ts';
import * as recordings from './recording.repository.ts';
import { prefixOf } from './recording.service.ts';
import { lockAnyRoom } from './repository.ts';

export interface RoomAssemblyDeps {
  db: Db;
  events: Events;
  store: Pick<BlobStore, 'list' | 'toLocalFile' | 'putFile' | 'deletePrefix'>;
  composer: RoomComposer;
  intake: Pick<VideoIntake, 'lock' | 'received' | 'fail' | 'hold'>;
  clock: Clock;
  log: Logger;
  /** Directory in which the video is composed, on the disk of the store. */
  scratchDir: string;
}

const CONCURRENCY = 1;
/** Height of the video in lines, unless the plan has fewer. */
const HEIGHT = 720;
const LONGEST_SEC = MAX_DURATION_SEC - 1;
const FULL_DISK_PAUSE_SEC = 30;

type Run = JobRun<{ recordingId: string }>;
type Outcome =
  | { key: string; sizeBytes: number }
  | { code: 'INTERNAL' | MediaFileError['code']; message: string };

/**
 * Creates the worker that composes the original of a recording's video from the tracks of all participants.
 */
export function createRoomAssembly(deps: RoomAssemblyDeps): JobWorker<typeof roomRecordingJob.payload> {
  return { job: roomRecordingJob, concurrency: CONCURRENCY, run: (run) => assemble(deps, run) };
}

async function assemble(deps: RoomAssemblyDeps, run: Run): Promise<void> {
  const row = await recordings.findRecording(deps.db, run.payload.recordingId);
  if (row === undefined || row.video_id === null) return;
  if (row.settled_at === null) {
    await handOver(deps, run, row.video_id, await outcomeOf(deps, run, row, row.video_id));
  }
  await deps.store.deletePrefix(prefixOf(row));
}

async function outcomeOf(
  deps: RoomAssemblyDeps,
  run: Run,
  row: RoomRecordingRow,
  videoId: string,
): Promise<Outcome> {
  const dir = join(deps.scratchDir, run.id);
  try {
    return await composed(deps, run, row, videoId, dir);
  } catch (error) {
    if (run.signal.aborted) throw error;
    if (error instanceof MediaFileError) return { code: error.code, message: error.message };
    if (isDiskError(error)) throw new JobDeferredError('no disk space for a recording', FULL_DISK_PAUSE_SEC);
    if (!run.isLast) throw error;
    deps.log.error({ err: error, recordingId: row.id }, 'a recording of a room could not be composed');
    return { code: 'INTERNAL', message: 'The recording of the room could not be composed.' };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

async function composed(
  { db, store, composer }: RoomAssemblyDeps,
  run: Run,
  row: RoomRecordingRow,
  videoId: string,
  dir: string,
): Promise<Outcome> {
  const fetched = join(dir, 'tracks');
  await rm(dir, { recursive: true, force: true });
  await mkdir(fetched, { recursive: true });
  const names = row.room_id === null ? new Map<string, string>() : await recordings.namesIn(db, row.room_id);
  const tracks: RecordedRoomTrack[] = [];
  for await (const { key } of store.list(prefixOf(row))) {
    const path = await store.toLocalFile(key, fetched, run.signal);
    const found = await composer.look(path);
    if (found !== null) tracks.push({ ...found, name: names.get(found.identity) ?? null, path });
  }
  const { plan } = await getWorkspaceOwner(db, row.workspace_id);
  const { path } = await composer.compose({
    tracks,
    dir,
    layout: row.layout,
    height: Math.min(HEIGHT, PLANS[plan].maxUploadHeight),
    maxSec: LONGEST_SEC,
    signal: run.signal,
  });
  return store.putFile(
    originalKey({ workspace_id: row.workspace_id, id: videoId }, row.id),
    path,
    'video/mp4',
  );
}

/** Gives the video its file or fails it; the tracks are no longer needed. */
async function handOver(
  { events, intake, clock }: RoomAssemblyDeps,
  run: Run,
  videoId: string,
  outcome: Outcome,
): Promise<void> {
  const { recordingId } = run.payload;
  await events.transaction(async (tx, append) => {
    const known = await recordings.findRecording(tx, recordingId);
    if (known === undefined) return;
    const video = { workspaceId: known.workspace_id, videoId };
    await intake.lock(tx, video);
    const row = await recordings.lockRecording(tx, recordingId);
    await run.confirm(tx);
    if (row === undefined || row.settled_at !== null) return;
    await ('code' in outcome
      ? intake.fail(tx, append, video, outcome)
      : intake.received(tx, append, video, outcome));
    await intake.hold.settle(tx, row.workspace_id, -row.reserved_bytes);
    await recordings.updateRecording(tx, recordingId, { settled_at: clock.now(), reserved_bytes: 0 });
  });
}

/** Returns the room of a recording and the number of its next event; null when the room is unknown. */
async function ofRoom(tx: Tx, known: RoomRecordingRow): Promise<{ roomId: string; sequence: number } | null> {
  const { room_id: present } = known;
  if (present !== null && (await lockAnyRoom(tx, present)) !== undefined) {
    return { roomId: present, sequence: await nextSequence(tx, 'room', present) };
  }
  // The room may have been deleted during the wait for its lock.
  const roomId = (await recordings.findRecording(tx, known.id))?.deleted_room_id ?? null;
  return roomId === null ? null : { roomId, sequence: await recordings.nextOfDeleted(tx, roomId) };
}

/** Creates the hook of the transaction that publishes a playable video: it emits the recording event once. */
export function createRoomRecordingReady({ clock }: { clock: Clock }) {
  return async (
    tx: Tx,
    append: AppendEvent,
    video: { id: string; duration_sec: number | null },
  ): Promise<void> => {
    // Runs under the lock of its video, so no other process emits the event in between.
    const known = await recordings.listUnnotified(tx, video.id);
    const told = known === undefined ? null : await ofRoom(tx, known);
    if (known === undefined || told === null) return;
    const { roomId, sequence } = told;
    await recordings.updateRecording(tx, known.id, { ready_notified_at: clock.now() });
    await append(roomRecordingReady, known.workspace_id, {
      roomId,
      videoId: video.id,
      durationSec: video.duration_sec,
      sequence,
    });
  };
}

import type { JobQueue } from '../../jobs/job.ts';
import { dateFromMs } from '../../kernel/clock.ts';
import { AppError, quotaExceeded } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import { MAX_DURATION_SEC } from '../../kernel/plans.ts';
import type { BlobStore, RoomEngine, RoomRecordingPort } from '../../media/contract/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import type { VideoIntake } from '../video/videos/index.ts';
import type { RoomEventContext } from './emit.ts';
import { changeLocked, type RoomDeps } from './locked.ts';
import * as participants from './participants.repository.ts';
import { assertRecordable, createNoRecorder, type RoomRecorder } from './recorder.ts';
import { roomRecordingJob } from './recording.jobs.ts';
import type { RoomRecordingRow } from './recording.repository.ts';
import * as recordings from './recording.repository.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { endRecording } from './transitions.ts';

export interface RoomRecordingDeps extends RoomDeps {
  queue: Pick<JobQueue, 'enqueue'>;
  intake: Pick<VideoIntake, 'create' | 'hold' | 'lock'>;
  store: Pick<BlobStore, 'deletePrefix'>;
  engine(): Pick<RoomEngine, 'name' | 'caps'>;
  log: Logger;
}

/** Recordings of rooms, up to the jobs that create their videos. */
export interface RoomRecordings {
  readonly recorder: RoomRecorder;
  /** Port for the media plane. */
  readonly port: RoomRecordingPort;
  /** Abandons recordings that a lost node has not delivered. */
  sweep(): Promise<void>;
}

/** Maximum length of a recording: below that of a video by more than the delay of the recorder. */
const LONGEST_MS = (MAX_DURATION_SEC - 120) * 1000;
/** Storage reserved ahead of the file: enough for the time between two reports of its size. */
const AHEAD_BYTES = 8 * 2 ** 20;
const STEP_BYTES = 32 * 2 ** 20;
/** Time a node may be absent, enough for the repair of a machine. */
const LOST_MS = 7 * 86_400_000;
const TITLE_MAX = 170;

export function createRoomRecordings(deps: RoomRecordingDeps): RoomRecordings {
  const { db, clock, events, engine } = deps;
  return {
    recorder: {
      canRecord: () => engine().caps.recording,
      async start(place, layout) {
        // Throws the error with the reason.
        if (!engine().caps.recording) return createNoRecorder(engine).start(place);
        await changeLocked(deps, place, (told, room) => begin(deps, told, room, layout));
      },
      async stop(place) {
        await changeLocked(deps, place, (told, room) => endRecording(told, room));
      },
    },
    port: createPort(deps),
    async sweep() {
      for (const lost of await recordings.listOrphanedRecordings(db, dateFromMs(clock.ms() - LOST_MS))) {
        await events.transaction((tx) => giveUp(deps, tx, lost.id));
      }
    },
  };
}

/** Begins a recording under the lock of the room, which may have changed in between. */
async function begin(
  { intake }: RoomRecordingDeps,
  { tx, now }: RoomEventContext,
  room: RoomRow,
  layout = room.record_layout,
): Promise<void> {
  assertRecordable(room);
  if (room.recording_since !== null) return;
  if (!(await intake.hold.hasStorage(tx, room.workspace_id))) {
    throw quotaExceeded(
      { workspaceId: room.workspace_id, resource: 'STORAGE_BYTES' },
      'The storage of the plan is full, so nothing is recorded.',
    );
  }
  const day = now.toISOString().slice(0, 10);
  await recordings.insertRecording(tx, {
    id: newId('rec'),
    workspace_id: room.workspace_id,
    room_id: room.id,
    title: `${[...room.name].slice(0, TITLE_MAX).join('')} (${day})`,
    layout,
    started_at: now,
  });
  await repository.updateRoom(tx, room.id, { recording_since: now });
}

function createPort(deps: RoomRecordingDeps): RoomRecordingPort {
  const { db, events } = deps;
  const endById = async (id: string, reason: RoomRecordingRow['end_reason']) => {
    const roomId = (await recordings.findRecording(db, id))?.room_id ?? null;
    if (roomId === null) return;
    await changeLocked(deps, { workspaceId: null, roomId }, (told, room) => endRecording(told, room, reason));
  };
  return {
    async wanted(nodeId, sizes) {
      await recordings.endOrphans(db, deps.clock.now());
      for (const roomId of await recordings.listRoomsToRecord(db)) await beginByItself(deps, roomId);
      const open: { recordingId: string; roomId: string }[] = [];
      const ended: string[] = [];
      for (const row of await recordings.claimUnsettled(db, nodeId)) {
        const reason = row.ended_at === null ? await overBy(deps, row, sizes.get(row.id) ?? 0) : null;
        if (reason !== null) await endById(row.id, reason);
        if (reason === 'TOO_LONG' && row.room_id !== null) await beginByItself(deps, row.room_id);
        if (row.ended_at !== null || reason !== null || row.room_id === null) ended.push(row.id);
        else open.push({ recordingId: row.id, roomId: row.room_id });
      }
      return { open, ended };
    },
    async isPresent(roomId, identity) {
      return (await participants.findPresent(db, roomId, identity))?.state === 'ACTIVE';
    },
    refused: (recordingId) => endById(recordingId, 'DISK_FULL'),
    async prefixOf(recordingId) {
      const row = await recordings.findRecording(db, recordingId);
      return row === undefined || row.settled_at !== null ? null : prefixOf(row);
    },
    async collected(recordingId, files) {
      await events.transaction((tx, append) =>
        collect(deps, { tx, append, facts: deps.facts, now: deps.clock.now() }, recordingId, files),
      );
    },
  };
}

/** Reserves the required storage. Returns the reason when the recording must end now. */
async function overBy(
  deps: RoomRecordingDeps,
  row: RoomRecordingRow,
  bytes: number,
): Promise<RoomRecordingRow['end_reason']> {
  if (deps.clock.ms() - row.started_at.getTime() >= LONGEST_MS) return 'TOO_LONG';
  const needed = bytes + AHEAD_BYTES;
  if (needed <= row.reserved_bytes) return null;
  const isHeld = (await hold(deps, row, bytes + STEP_BYTES)) || (await hold(deps, row, needed));
  return isHeld ? null : 'QUOTA_EXCEEDED';
}

/** @returns false when the plan has less storage left. */
async function hold(
  { events, intake }: RoomRecordingDeps,
  row: RoomRecordingRow,
  bytes: number,
): Promise<boolean> {
  try {
    await intake.hold.makingRoom(row.workspace_id, () =>
      events.transaction(async (tx) => {
        await intake.hold.grow(tx, row.workspace_id, bytes - row.reserved_bytes);
        const isMine = await recordings.reserveStorage(tx, row.id, row.reserved_bytes, bytes);
        if (!isMine) await intake.hold.grow(tx, row.workspace_id, row.reserved_bytes - bytes);
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED') return false;
    throw error;
  }
}

async function beginByItself(deps: RoomRecordingDeps, roomId: string): Promise<void> {
  try {
    await changeLocked(deps, { workspaceId: null, roomId }, (told, room) => begin(deps, told, room));
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log.debug({ err: error, roomId }, 'a room is not recorded');
  }
}

const EARLY = {
  QUOTA_EXCEEDED: 'The recording ended early: the storage of the plan was full.',
  DISK_FULL: 'The recording ended early: the disk of the platform was full.',
  TOO_LONG: null,
};

/** Creates the video once the files are in the store, if there are any. */
async function collect(
  { intake, queue }: RoomRecordingDeps,
  { tx, append, now }: RoomEventContext,
  recordingId: string,
  files: readonly { sizeBytes: number }[],
): Promise<void> {
  const found = await recordings.findRecording(tx, recordingId);
  if (found === undefined) return;
  const { accountId } = await intake.lock(tx, { workspaceId: found.workspace_id, videoId: null });
  const row = await recordings.lockRecording(tx, recordingId);
  if (row === undefined || row.uploaded_at !== null) return;
  const bytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  // Collected files are charged even beyond the plan.
  await intake.hold.settle(tx, row.workspace_id, bytes - row.reserved_bytes);
  await recordings.updateRecording(tx, row.id, { uploaded_at: now, reserved_bytes: bytes });
  if (files.length === 0) {
    await recordings.updateRecording(tx, row.id, { settled_at: now });
    return;
  }
  const video = await intake.create(tx, append, row.workspace_id, {
    title: row.title,
    description: row.end_reason === null ? null : EARLY[row.end_reason],
    visibility: 'PRIVATE',
    source: 'RECORDING',
  });
  await recordings.updateRecording(tx, row.id, { video_id: video.id });
  if (row.room_id !== null) await recordings.addVideo(tx, row.room_id, video.id);
  await queue.enqueue(tx, roomRecordingJob, { recordingId }, { group: accountId, key: recordingId });
}

async function giveUp({ intake, clock }: RoomRecordingDeps, tx: Tx, recordingId: string): Promise<void> {
  const found = await recordings.findRecording(tx, recordingId);
  if (found === undefined) return;
  await intake.lock(tx, { workspaceId: found.workspace_id, videoId: null });
  const row = await recordings.lockRecording(tx, recordingId);
  if (row === undefined || row.uploaded_at !== null) return;
  await intake.hold.settle(tx, row.workspace_id, -row.reserved_bytes);
  await recordings.updateRecording(tx, row.id, { reserved_bytes: 0, settled_at: clock.now() });
}

/** Returns the prefix of the stored tracks until the video is created. */
export function prefixOf({ workspace_id: workspaceId, id }: RoomRecordingRow): string {
  return `w/${workspaceId}/room-rec/${id}/`;
}

import type { AppendEvent, Events } from '../../../events/index.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import { type Clock, dateFromMs } from '../../../kernel/clock.ts';
import { AppError } from '../../../kernel/errors.ts';
import { MAX_DURATION_SEC } from '../../../kernel/plans.ts';
import type { BlobStore, RecordingPort } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { VideoIntake } from '../../video/videos/index.ts';
import { recordingJob } from './jobs.ts';
import type { RecordingRow } from './repository.ts';
import * as repository from './repository.ts';

export interface RecordingsDeps {
  db: Db;
  events: Events;
  queue: Pick<JobQueue, 'enqueue'>;
  intake: Pick<VideoIntake, 'create' | 'hold' | 'lock'>;
  store: Pick<BlobStore, 'deletePrefix'>;
  clock: Clock;
  /** Stops recording the broadcast of a session, and stores the reason in the session. */
  refuse(tx: Tx, sessionId: string): Promise<void>;
}

/** Recording of a broadcast (docs/decisions/recordings.md#more-than-twelve-hours). */
export interface RecordingInfo {
  /** Number from 1, without gaps unless the files of an earlier recording were removed. */
  number: number;
  /** ID of the video; null while nothing was recorded. */
  videoId: string | null;
  /** True while the recording is written or its video is produced. */
  isComing: boolean;
}

/** Recordings of broadcasts, from the first frame to the job that creates the video. */
export interface Recordings {
  /** Port for the media plane. */
  readonly port: RecordingPort;
  /**
   * May another recording begin? Not once the workspace's storage is full
   * (docs/decisions/recordings.md#storage-limit).
   */
  hasStorage(tx: Tx, workspaceId: string): Promise<boolean>;
  /**
   * Ends the recordings of a session in the transaction that ends its broadcast. If anything was recorded,
   * its video exists from now on, and the original follows as soon as the recorder has closed its file.
   */
  ended(tx: Tx, append: AppendEvent, sessionId: string): Promise<void>;
  /**
   * Returns the videos of a session's broadcast in order, including those still being produced, in any
   * workspace: viewers have none.
   */
  videosOf(sessionId: string): Promise<string[]>;
  /** Returns all recordings of a session's broadcast in order. */
  of(sessionId: string): Promise<RecordingInfo[]>;
  /** Reports whether a video of a session's broadcast is still being produced. */
  isComing(sessionId: string): Promise<boolean>;
  /** Abandons parts of lost nodes. */
  sweep(): Promise<void>;
  /** Removes files that are no longer needed. */
  cleanUp(): Promise<void>;
}

/**
 * Maximum length of one recording. A longer broadcast continues in another one, within the limit of a video
 * (docs/decisions/recordings.md#more-than-twelve-hours).
 */
const LONGEST_MS = (MAX_DURATION_SEC - 120) * 1000;
/** Storage reserved ahead of the file: enough for the time between two reports of its size. */
const AHEAD_BYTES = 8 * 2 ** 20;
const STEP_BYTES = 32 * 2 ** 20;
/** Silence after which a node has lost the files that it had not stored. */
const LOST_MS = 60_000;

export function createRecordings(deps: RecordingsDeps): Recordings {
  const { db, clock } = deps;
  return {
    port: createPort(deps),
    hasStorage: (tx, workspaceId) => deps.intake.hold.hasStorage(tx, workspaceId),
    async ended(tx, append, sessionId) {
      for (const recording of await repository.lockRecordings(tx, sessionId)) {
        await advance(deps, tx, append, recording);
      }
    },
    of: (sessionId) => repository.recordingsOf(db, sessionId),
    isComing: async (sessionId) =>
      (await repository.recordingsOf(db, sessionId)).some(({ isComing }) => isComing),
    videosOf: (sessionId) => repository.findVideoIds(db, sessionId),
    async sweep() {
      const deadline = dateFromMs(clock.ms() - LOST_MS);
      for (const part of await repository.listOrphanedParts(db, deadline)) {
        await closePart(deps, part.id, part.recording_id, null);
      }
    },
    async cleanUp() {
      for (const recording of await repository.obsoleteRecordings(db)) {
        await deps.store.deletePrefix(folderOf(recording));
        await deps.events.transaction(async (tx) => {
          await deps.intake.lock(tx, { workspaceId: recording.workspace_id, videoId: null });
          const held = await repository.releasePartStorage(tx, recording.id);
          await deps.intake.hold.grow(tx, recording.workspace_id, -held);
          await repository.deleteRecording(tx, recording.id);
        });
      }
    },
  };
}

function createPort(deps: RecordingsDeps): RecordingPort {
  const { db, events, clock } = deps;
  return {
    async wanted(nodeId, sizes) {
      await holdGrowing(deps, sizes);
      const wanted = await repository.listDesiredForNode(db, nodeId);
      return wanted.map(({ publishId, sessionId, error, number, begunAt }) => {
        const isOver = begunAt !== null && clock.ms() - begunAt.getTime() >= LONGEST_MS;
        const recordingId = recordingIdOf(sessionId, (number ?? 1) + (isOver ? 1 : 0));
        return { publishId, recordingId, isRefused: error === 'QUOTA_EXCEEDED' };
      });
    },
    opened: (nodeId, { id, recordingId }, hasMedia) =>
      events.transaction(async (tx, append) => {
        const now = clock.now();
        const named = parseRecordingId(recordingId);
        // Locks the earlier recordings of the session first; this one ends them.
        const known = named.number === 1 ? [] : await repository.lockRecordings(tx, named.sessionId);
        const recording = await repository.ensureRecording(tx, { id: recordingId, ...named }, now);
        if (recording === undefined || recording.settled_at !== null) return null;
        await repository.upsertPart(
          tx,
          { id, recording_id: recordingId, node_id: nodeId, has_media: hasMedia },
          now,
        );
        for (const earlier of known) {
          if (earlier.number < named.number) await advance(deps, tx, append, earlier);
        }
        return partKey(recording, id);
      }),
    async closed(partId, stored) {
      const part = await repository.findPart(db, partId);
      if (part !== undefined) await closePart(deps, partId, part.recording_id, stored?.sizeBytes ?? null);
    },
    openParts: (nodeId) => repository.openPartsOn(db, nodeId),
  };
}

/** Reserves storage for growing parts, one step ahead; a recording that gets none ends. */
async function holdGrowing(deps: RecordingsDeps, sizes: ReadonlyMap<string, number>): Promise<void> {
  if (sizes.size === 0) return;
  for (const part of await repository.listOpenParts(deps.db, [...sizes.keys()])) {
    const needed = (sizes.get(part.id) ?? 0) + AHEAD_BYTES;
    if (needed <= part.reserved_bytes) continue;
    const isHeld =
      (await hold(deps, part, needed - AHEAD_BYTES + STEP_BYTES)) || (await hold(deps, part, needed));
    if (!isHeld) await deps.events.transaction((tx) => deps.refuse(tx, part.session_id));
  }
}

/** @returns false when the plan has less storage left. */
async function hold(
  { events, intake }: RecordingsDeps,
  part: { id: string; workspace_id: string; reserved_bytes: number },
  bytes: number,
): Promise<boolean> {
  try {
    await intake.hold.makingRoom(part.workspace_id, () =>
      events.transaction(async (tx) => {
        await intake.hold.grow(tx, part.workspace_id, bytes - part.reserved_bytes);
        // The part was closed in between: its storage is settled, and the amount just added is released.
        const isOpen = await repository.reservePartStorage(tx, part.id, part.reserved_bytes, bytes);
        if (!isOpen) await intake.hold.grow(tx, part.workspace_id, part.reserved_bytes - bytes);
      }),
    );
    return true;
  } catch (error) {
    if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED') return false;
    throw error;
  }
}

async function closePart(
  deps: RecordingsDeps,
  partId: string,
  recordingId: string,
  sizeBytes: number | null,
): Promise<void> {
  const { db, events, intake, clock } = deps;
  const found = await repository.findRecording(db, recordingId);
  if (found === undefined) return;
  await events.transaction(async (tx, append) => {
    await intake.lock(tx, { workspaceId: found.workspace_id, videoId: null });
    const recording = await repository.lockRecording(tx, recordingId);
    if (recording === undefined) return;
    const held = await repository.closePart(tx, partId, sizeBytes, clock.now());
    // A stored file is charged even when it exceeds the plan.
    if (held !== null) await intake.hold.settle(tx, found.workspace_id, (sizeBytes ?? 0) - held);
    await advance(deps, tx, append, recording);
  });
}

/** Advances an ended recording under its lock: creates its video, then the job once no part is open. */
async function advance(
  { intake, queue, clock }: RecordingsDeps,
  tx: Tx,
  append: AppendEvent,
  recording: RecordingRow,
): Promise<void> {
  const {
    id: recordingId,
    session_id: sessionId,
    stream_id: streamId,
    workspace_id: workspaceId,
  } = recording;
  const broadcast = await repository.broadcastOf(tx, sessionId);
  if (recording.settled_at !== null) return;
  if (broadcast.endedAt === null && !(await repository.hasSuccessor(tx, recording))) return;
  const parts = await repository.partsOf(tx, recordingId);
  const hasMedia = parts.some((part) => part.has_media || part.size_bytes !== null);
  if (hasMedia && recording.video_id === null) {
    const { visibility, tierIds } = broadcast;
    const title = titleOf(broadcast.title, recording.number);
    const source = 'RECORDING';
    const video = await intake.create(tx, append, workspaceId, {
      title,
      visibility,
      tierIds,
      source,
      streamId,
      sessionId,
    });
    await repository.updateRecording(tx, recordingId, { video_id: video.id });
  }
  if (parts.some((part) => part.closed_at === null)) return;
  if (hasMedia)
    await queue.enqueue(tx, recordingJob, { recordingId }, { group: broadcast.accountId, key: recordingId });
  else await repository.updateRecording(tx, recordingId, { settled_at: clock.now() });
}

const TITLE_MAX = 190;

/** Returns the title of the video; further videos of one broadcast are numbered. */
function titleOf(title: string, number: number): string {
  return number === 1 ? title : `${[...title].slice(0, TITLE_MAX).join('')} (${number})`;
}

/** Returns the recording ID; the first one of a session equals the session ID. */
function recordingIdOf(sessionId: string, number: number): string {
  return number === 1 ? sessionId : `${sessionId}-${number}`;
}

function parseRecordingId(id: string): { sessionId: string; number: number } {
  const [sessionId = '', number = '1'] = id.split('-');
  return { sessionId, number: Number(number) };
}

/** Returns the folder of all stored files of a recording, except the joined file. */
export function folderOf(recording: RecordingRow): string {
  return `w/${recording.workspace_id}/rec/${recording.id}/`;
}

export function partKey(recording: RecordingRow, partId: string): string {
  return `${folderOf(recording)}${partId}.mp4`;
}

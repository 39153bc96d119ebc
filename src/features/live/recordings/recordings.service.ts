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
  /** The broadcast of a session is recorded no further, and its session says why. */
  refuse(tx: Tx, sessionId: string): Promise<void>;
}

/** One of the recordings of a broadcast (docs/decisions/recordings.md#more-than-twelve-hours). */
export interface RecordingInfo {
  /** From 1 on, without a gap unless the files of one before are removed. */
  number: number;
  /** Null where nothing was recorded, or nothing yet. */
  videoId: string | null;
  /** It is still being written, or its video made. */
  isComing: boolean;
}

/** The recordings of broadcasts, from the first picture to the job that makes a video of it. */
export interface Recordings {
  /** For the media plane. */
  readonly port: RecordingPort;
  /**
   * May another recording begin? Not once the workspace's storage is full
   * (docs/decisions/recordings.md#storage-limit).
   */
  hasRoom(tx: Tx, workspaceId: string): Promise<boolean>;
  /**
   * The broadcast of a session is over, in the transaction that ends it: if anything was recorded there is a video
   * from now on, and its original follows as soon as the recorder has closed its file.
   */
  ended(tx: Tx, append: AppendEvent, sessionId: string): Promise<void>;
  /** The videos of a session's broadcast in its order, which may still be made; of any workspace: viewers have none. */
  videosOf(sessionId: string): Promise<string[]>;
  /** All that there is of a session's broadcast, in its order. */
  of(sessionId: string): Promise<RecordingInfo[]>;
  /** Is a video of a session's broadcast still being made? */
  isComing(sessionId: string): Promise<boolean>;
  /** Gives up parts whose node is gone. */
  sweep(): Promise<void>;
  /** Removes files that nobody needs any more. */
  cleanUp(): Promise<void>;
}

/**
 * A recording goes on in another one before it is longer than a video may be
 * (docs/decisions/recordings.md#more-than-twelve-hours).
 */
const LONGEST_MS = (MAX_DURATION_SEC - 120) * 1000;
/** So much is taken of the storage before it is written: enough for the time between two looks at the files. */
const AHEAD_BYTES = 8 * 2 ** 20;
const STEP_BYTES = 32 * 2 ** 20;
/** How often a node says that it still has a part. */
const TOUCH_MS = 5000;
/** A node that was not heard of for so long has lost what it did not store. */
const LOST_MS = 60_000;

export function createRecordings(deps: RecordingsDeps): Recordings {
  const { db, clock } = deps;
  return {
    port: createPort(deps),
    hasRoom: (tx, workspaceId) => deps.intake.hold.hasRoom(tx, workspaceId),
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
      await repository.heartbeatParts(db, nodeId, clock.now(), dateFromMs(clock.ms() - TOUCH_MS));
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
        // Earlier ones of the session are over with this one, and are locked before it.
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

/** Takes the storage of parts that grow, a step ahead; a recording that gets none ends. */
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

/** @returns false when the plan has less left. */
async function hold(
  { events, intake }: RecordingsDeps,
  part: { id: string; workspace_id: string; reserved_bytes: number },
  bytes: number,
): Promise<boolean> {
  try {
    await intake.hold.makingRoom(part.workspace_id, () =>
      events.transaction(async (tx) => {
        await intake.hold.grow(tx, part.workspace_id, bytes - part.reserved_bytes);
        // Closed meanwhile: what it took is settled, and what was added just now is given back.
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
    // What is there is kept, plan or not.
    if (held !== null) await intake.hold.settle(tx, found.workspace_id, (sizeBytes ?? 0) - held);
    await advance(deps, tx, append, recording);
  });
}

/** Brings an ended recording on, under its lock: its video, then the job, when no part is open any more. */
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

/** The further videos of one broadcast are numbered. */
function titleOf(title: string, number: number): string {
  return number === 1 ? title : `${[...title].slice(0, TITLE_MAX).join('')} (${number})`;
}

/** The first recording of a session is called as the session is. */
function recordingIdOf(sessionId: string, number: number): string {
  return number === 1 ? sessionId : `${sessionId}-${number}`;
}

function parseRecordingId(id: string): { sessionId: string; number: number } {
  const [sessionId = '', number = '1'] = id.split('-');
  return { sessionId, number: Number(number) };
}

/** Everything that was stored of a recording, but for what its parts were joined to. */
export function folderOf(recording: RecordingRow): string {
  return `w/${recording.workspace_id}/rec/${recording.id}/`;
}

export function partKey(recording: RecordingRow, partId: string): string {
  return `${folderOf(recording)}${partId}.mp4`;
}

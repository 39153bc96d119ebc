import type { AppendEvent, Events } from '../../events/index.ts';
import type { JobQueue } from '../../jobs/job.ts';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { BlobStore, RecordingPort } from '../../media/contract/index.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { VideoIntake } from '../videos/index.ts';
import { recordingJob } from './jobs.ts';
import type { RecordingRow } from './repository.ts';
import * as repository from './repository.ts';

export interface RecordingsDeps {
  db: Db;
  events: Events;
  queue: Pick<JobQueue, 'enqueue'>;
  intake: Pick<VideoIntake, 'create' | 'hold'>;
  store: Pick<BlobStore, 'deletePrefix'>;
  clock: Clock;
}

/** The recordings of broadcasts, from the first picture to the job that makes a video of it. */
export interface Recordings {
  /** For the media plane. */
  readonly port: RecordingPort;
  /**
   * May another recording begin? Not once the workspace's storage is full
   * (docs/decisions/recordings.md#the-plans-storage).
   */
  hasRoom(tx: Tx, workspaceId: string): Promise<boolean>;
  /**
   * The broadcast of a session is over, in the transaction that ends it: if anything was recorded there is a video
   * from now on, and its original follows as soon as the recorder has closed its file.
   */
  ended(tx: Tx, append: AppendEvent, sessionId: string): Promise<void>;
  /** Gives up parts whose node is gone. */
  sweep(): Promise<void>;
  /** Removes files that nobody needs any more. */
  cleanUp(): Promise<void>;
}

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
      const recording = await repository.lockRecording(tx, sessionId);
      if (recording !== undefined) await advance(deps, tx, append, recording);
    },
    async sweep() {
      const deadline = dateFromMs(clock.ms() - LOST_MS);
      for (const part of await repository.lostParts(db, deadline)) {
        await closePart(deps, part.id, part.session_id, null);
      }
    },
    async cleanUp() {
      for (const recording of await repository.obsoleteRecordings(db)) {
        await deps.store.deletePrefix(folderOf(recording));
        await repository.deleteRecording(db, recording.session_id);
      }
    },
  };
}

function createPort(deps: RecordingsDeps): RecordingPort {
  const { db, events, clock } = deps;
  return {
    async wanted(nodeId) {
      await repository.touchParts(db, nodeId, clock.now(), dateFromMs(clock.ms() - TOUCH_MS));
      return repository.wantedOn(db, nodeId);
    },
    opened: (nodeId, { id, recordingId }, hasMedia) =>
      events.transaction(async (tx) => {
        const now = clock.now();
        const recording = await repository.ensureRecording(tx, recordingId, now);
        if (recording === undefined || recording.settled_at !== null) return null;
        await repository.upsertPart(
          tx,
          { id, session_id: recordingId, node_id: nodeId, has_media: hasMedia },
          now,
        );
        return partKey(recording, id);
      }),
    async closed(partId, stored) {
      const part = await repository.findPart(db, partId);
      if (part !== undefined) await closePart(deps, partId, part.session_id, stored?.sizeBytes ?? null);
    },
    openParts: (nodeId) => repository.openPartsOn(db, nodeId),
  };
}

async function closePart(
  deps: RecordingsDeps,
  partId: string,
  sessionId: string,
  sizeBytes: number | null,
): Promise<void> {
  await deps.events.transaction(async (tx, append) => {
    const recording = await repository.lockRecording(tx, sessionId);
    if (recording === undefined) return;
    await repository.closePart(tx, partId, sizeBytes, deps.clock.now());
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
  const { session_id: sessionId, stream_id: streamId, workspace_id: workspaceId } = recording;
  const broadcast = await repository.broadcastOf(tx, sessionId);
  if (broadcast.endedAt === null || recording.settled_at !== null) return;
  const parts = await repository.partsOf(tx, sessionId);
  const hasMedia = parts.some((part) => part.has_media || part.size_bytes !== null);
  if (hasMedia && recording.video_id === null) {
    const { title, visibility } = broadcast;
    const source = 'RECORDING';
    const video = await intake.create(tx, append, workspaceId, {
      title,
      visibility,
      source,
      streamId,
      sessionId,
    });
    await repository.updateRecording(tx, sessionId, { video_id: video.id });
  }
  if (parts.some((part) => part.closed_at === null)) return;
  if (hasMedia)
    await queue.enqueue(tx, recordingJob, { sessionId }, { group: broadcast.accountId, key: sessionId });
  else await repository.updateRecording(tx, sessionId, { settled_at: clock.now() });
}

/** Everything that was stored of a recording, but for what its parts were joined to. */
export function folderOf(recording: RecordingRow): string {
  return `w/${recording.workspace_id}/rec/${recording.session_id}/`;
}

export function partKey(recording: RecordingRow, partId: string): string {
  return `${folderOf(recording)}${partId}.mp4`;
}

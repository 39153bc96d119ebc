import { createHash, timingSafeEqual } from 'node:crypto';
import type { Events } from '../../../events/index.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import type { BlobStore, PartialState, VideoErrorCode } from '../../../media/contract/index.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { DiskSpace } from '../../../platform/disk.ts';
import type { Logger } from '../../../platform/logger.ts';
import type { VideoIntake } from '../videos/index.ts';
import { uploadExpired } from './events.ts';
import type { UploadRow } from './repository.ts';
import * as repository from './repository.ts';
import { type Hashes, heldBy, keyOf, partialOf } from './state.ts';

export interface EndingDeps {
  db: Db;
  events: Events;
  store: BlobStore;
  disk: Pick<DiskSpace, 'admit'>;
  clock: Clock;
  log: Logger;
  /** Operations on the video and its storage when a session ends. */
  intake: Pick<VideoIntake, 'lock' | 'received' | 'fail' | 'hold'>;
  hashes: Hashes;
}

/** Reason why a session ends without a file. */
export interface FailureReason {
  status: 'CANCELED' | 'EXPIRED' | 'FAILED';
  /** Error code of the video; a failed upload has it too. */
  code: VideoErrorCode;
  message: string;
}

/**
 * Completion of upload sessions. Each function may be repeated, by another process too: a crash in between is
 * completed.
 */
export interface UploadCompletion {
  /**
   * Completes a session whose bytes are all there: the file gets its key, its SHA-256 is checked where one was
   * promised, and the video is queued. Otherwise nothing changes.
   *
   * @returns the session as it is now: FAILED when the sum was wrong.
   */
  finish(id: string, sha256?: string): Promise<UploadRow>;
  /**
   * Checks the file of a COMPLETED session against a checksum sent later; a mismatch fails session and video.
   */
  verify(row: UploadRow, sha256: string): Promise<UploadRow>;
  /** @returns the session; unchanged when it has already ended. */
  giveUp(row: UploadRow, ending: FailureReason): Promise<UploadRow>;
  /** Removes the bytes of a session that ended without a file. */
  clear(row: UploadRow): Promise<void>;
  /** Cancels, expires, finishes and cleans up the sessions that are due. */
  sweep(): Promise<void>;
}

const SWEEP_BATCH = 100;
const MISMATCH: FailureReason = {
  status: 'FAILED',
  code: 'CHECKSUM_MISMATCH',
  message: 'The received file does not match the expected SHA-256 checksum.',
};
const EXPIRED: FailureReason = {
  status: 'EXPIRED',
  code: 'UPLOAD_EXPIRED',
  message: 'The upload received no data for seven days.',
};
const WITHDRAWN: FailureReason = {
  status: 'CANCELED',
  code: 'UPLOAD_EXPIRED',
  message:
    'The upload was canceled: its key was revoked, or its creator can no longer upload to this workspace.',
};
export const CANCELED: FailureReason = {
  status: 'CANCELED',
  code: 'UPLOAD_EXPIRED',
  message: 'The upload was canceled.',
};

/** @throws {AppError} BAD_REQUEST, field `sha256`, when the file did not match its checksum. */
export function assertIntact(row: UploadRow): UploadRow {
  if (row.error_code !== 'CHECKSUM_MISMATCH') return row;
  throw badRequest('sha256', row.error_message ?? 'The SHA-256 of the file does not match.');
}

/** @throws {AppError} CONFLICT when the upload was completed before it could be canceled. */
export function assertCanceled(row: UploadRow): void {
  if (row.status !== 'COMPLETED') return;
  throw new AppError('CONFLICT', { message: 'The upload is complete. Delete its video instead.' });
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: an object of short methods that share their steps.
export function createUploadCompletion(deps: EndingDeps): UploadCompletion {
  const { db, store, clock, log, hashes } = deps;
  const finishing = new Map<string, Promise<UploadRow>>();

  const giveUp = async (row: UploadRow, ending: FailureReason) => {
    const ended = await endSession(deps, row, ending);
    if (ended.status === ending.status) await clear(ended);
    return ended;
  };
  const clear = async (row: UploadRow) => {
    if (!row.has_bytes) return;
    const state = partialOf(row);
    if (state !== null) await store.partials.abort(keyOf(row), state);
    await store.delete(keyOf(row));
    hashes.forget(row.id);
    await repository.updateUpload(db, row.id, { has_bytes: false });
  };
  const isIntact = async (row: UploadRow, sha256: string): Promise<boolean> => {
    const digest = hashes.take(row.id, row.size_bytes ?? 0) ?? (await sha256Of(store, keyOf(row)));
    return timingSafeEqual(digest, Buffer.from(sha256, 'hex'));
  };
  const whole = async (row: UploadRow): Promise<PartialState | null> => {
    const state = partialOf(row);
    if (row.ended_at !== null || row.size_bytes === null || state === null) return null;
    const stored = await store.partials.inspect(keyOf(row), state);
    return stored.sizeBytes === row.size_bytes ? stored : null;
  };
  const finish = async (id: string, sha256: string | undefined): Promise<UploadRow> => {
    const row = await repository.findAnyUpload(db, id);
    if (row === undefined) throw new Error(`the upload ${id} was not found`);
    const state = await whole(row);
    if (state === null) return row;
    await store.partials.complete(keyOf(row), state);
    const expected = sha256 ?? row.sha256;
    if (expected !== null && !(await isIntact(row, expected))) return giveUp(row, MISMATCH);
    const ended = await completeSession(deps, row, expected);
    if (ended.status !== 'COMPLETED') await clear(ended);
    return ended;
  };
  const finishOnce = (id: string, sha256?: string) => {
    const running = finishing.get(id);
    // Another call is finishing it without a checksum or with another one: check this one afterwards.
    if (running !== undefined)
      return running.then((row) => (sha256 === undefined ? row : finish(id, sha256)));
    const run = finish(id, sha256).finally(() => finishing.delete(id));
    finishing.set(id, run);
    return run;
  };

  return {
    giveUp,
    clear,
    finish: finishOnce,
    async verify(row, sha256) {
      if (row.sha256 === sha256) return row;
      const isKnown = row.sha256 !== null;
      if (!isKnown && (await isIntact(row, sha256))) {
        return repository.updateUpload(db, row.id, { sha256 });
      }
      return giveUp(row, MISMATCH);
    },
    async sweep() {
      const due = await repository.findDue(db, clock.now(), SWEEP_BATCH);
      const work = [
        ...due.withdrawn.map((row) => () => giveUp(row, WITHDRAWN)),
        ...due.expired.map((row) => async () => {
          // All bytes may have arrived before a crash.
          const ended = await finishOnce(row.id);
          if (ended.ended_at === null) await giveUp(ended, EXPIRED);
        }),
        ...due.whole.map((row) => () => finishOnce(row.id)),
        ...due.uncleared.map((row) => () => clear(row)),
      ];
      for (const step of work) {
        await step().catch((error: unknown) => log.error({ err: error }, 'an upload could not be ended'));
      }
    },
  };
}

/** Marks the session as COMPLETED, reserves its size and queues the video, or changes nothing. */
function completeSession(
  { events, clock, intake }: EndingDeps,
  { id, workspace_id: workspaceId, video_id: videoId }: UploadRow,
  sha256: string | null,
): Promise<UploadRow> {
  return events.transaction(async (tx, append) => {
    await intake.lock(tx, { workspaceId, videoId });
    const row = await repository.lockUpload(tx, id);
    if (row === undefined) throw new Error(`the upload ${id} was not found`);
    if (row.ended_at !== null || row.size_bytes === null) return row;
    const sizeBytes = row.size_bytes;
    const original = { key: keyOf(row), sizeBytes };
    const isWanted = await intake.received(tx, append, heldBy(row), original);
    return repository.updateUpload(tx, id, {
      status: isWanted ? 'COMPLETED' : 'CANCELED',
      has_bytes: !isWanted,
      received_bytes: sizeBytes,
      sha256,
      ...repository.NO_WRITER,
      ended_at: clock.now(),
    });
  });
}

/** Ends the session, releases its storage and fails the video, or changes nothing. */
function endSession(
  { events, clock, intake }: EndingDeps,
  { id, workspace_id: workspaceId, video_id: videoId }: UploadRow,
  { status, code, message }: FailureReason,
): Promise<UploadRow> {
  return events.transaction(async (tx, append) => {
    await intake.lock(tx, { workspaceId, videoId });
    const row = await repository.lockUpload(tx, id);
    if (row === undefined) throw new Error(`the upload ${id} was not found`);
    const isRefuted = row.status === 'COMPLETED' && status === 'FAILED';
    if (row.ended_at !== null && !isRefuted) return row;
    const hasFailed = await intake.fail(tx, append, heldBy(row), { code, message });
    if (status === 'EXPIRED') {
      await append(uploadExpired, workspaceId, { uploadId: id, videoId, sequence: 1 });
    }
    return repository.updateUpload(tx, id, {
      status,
      ...(status === 'FAILED' ? { error_code: code, error_message: message } : {}),
      // A playable video keeps its original, even when a later checksum does not match.
      has_bytes: isRefuted ? hasFailed : row.has_bytes,
      ...repository.NO_WRITER,
      ended_at: clock.now(),
    });
  });
}

async function sha256Of(store: BlobStore, key: string): Promise<Buffer> {
  const file = await store.open(key);
  if (file === null) throw new AppError('CONFLICT', { message: 'The file was deleted.' });
  const hash = createHash('sha256');
  for await (const chunk of file.body) hash.update(chunk);
  return hash.digest();
}

import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';
import type { PartialState } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import { toDiskFullError } from '../../../platform/disk.ts';
import {
  assertCanceled,
  assertIntact,
  CANCELED,
  type EndingDeps,
  type UploadCompletion,
} from './completion.service.ts';
import { assertHoldsLease, busy, type PartWriter, Progress, type UploadPart } from './progress.ts';
import type { UploadRow } from './repository.ts';
import * as repository from './repository.ts';
import { readIncoming } from './request-body.ts';
import * as rules from './rules.ts';
import { heldBy, keyOf, partialOf, stored } from './state.ts';
import { hashToken } from './token.ts';
import type { Writer, Writers } from './writers.ts';

/** Progress of an upload. */
export interface UploadOffset {
  row: UploadRow;
  /** Bytes stored durably. */
  offset: number;
}

/**
 * Requests to an `uploadUrl` (docs/concepts/uploads.md): the token permits writing as long as the opener may
 * upload.
 */
export interface Transfers {
  /**
   * @throws {AppError} NOT_FOUND for unknown tokens and sessions that are or will be canceled,
   *   UPLOAD_EXPIRED.
   */
  find(token: string): Promise<UploadRow>;
  /** Returns the offset of the next part. Waits for a request that is just ending. */
  reached(row: UploadRow): Promise<UploadOffset>;
  /**
   * Stores a part; the last one completes the upload. An interrupted part is stored up to the break.
   *
   * @throws {AppError} CONFLICT for another offset and while another request writes; PAYLOAD_TOO_LARGE;
   *   QUOTA_EXCEEDED; INSUFFICIENT_STORAGE; BAD_REQUEST for an impossible length and, field `sha256`, for the
   *   wrong file.
   * @throws {DigestMismatch} when the part does not match its digest; none of it is stored.
   */
  receive(row: UploadRow, piece: UploadPart): Promise<UploadOffset>;
  cancel(row: UploadRow): Promise<void>;
  /** Aborts all transfers at shutdown; the bytes received are retained. */
  stop(): void;
}

export interface TransferDeps extends EndingDeps {
  endings: UploadCompletion;
  writers: Writers;
  bus: Pick<Bus, 'publish' | 'subscribe'>;
}

/** Bus topic with the upload's ID, published when a request waits for the writer of another process. */
const MAKE_WAY_TOPIC = 'uploads.make-way';

/** Lease of a writer, renewed while it lives; after it expires another writer takes over. */
const LEASE_SEC = 6;
const LEASE_POLL_MS = 500;
/** Time that an offset request waits for a request that is writing. */
const LOOK_MS = 2000;
/** Stall after which a writer verifies its lease before it continues. */
const LEASE_DOUBT_MS = 3000;
/** Time that the last request of an upload waits for the completion; the sweep finishes later ones. */
const FINISH_MS = 20_000;

export function createTransfers(deps: TransferDeps): Transfers {
  const { db, store, clock, log, endings, writers, bus } = deps;
  bus.subscribe(MAKE_WAY_TOPIC, writers.makeWay);

  const finish = async (row: UploadRow): Promise<UploadRow> => {
    const late = sleep(FINISH_MS, row, { ref: false });
    const ended = await Promise.race([endings.finish(row.id), late]).catch((error: unknown) => {
      log.error({ err: error, uploadId: row.id }, 'a received upload could not be completed; will retry');
      return row;
    });
    return assertIntact(ended);
  };

  return {
    async find(token) {
      const row = await repository.findByToken(db, hashToken(token));
      if (row === undefined || row.status === 'CANCELED') throw notFound();
      if (row.status === 'COMPLETED') return row;
      if (row.status === 'FAILED') {
        throw new AppError('UPLOAD_EXPIRED', { message: `The upload has failed: ${row.error_message}` });
      }
      if (row.status === 'EXPIRED' || row.expires_at <= clock.now()) throw new AppError('UPLOAD_EXPIRED');
      return row;
    },
    async reached(row) {
      if (row.ended_at !== null) return { row, offset: row.received_bytes };
      await writers.waitForEnd(row.id, LOOK_MS);
      const fresh = (await repository.findAnyUpload(db, row.id)) ?? row;
      if (fresh.ended_at !== null) return { row: fresh, offset: fresh.received_bytes };
      const state = partialOf(fresh);
      const offset = state === null ? 0 : (await store.partials.inspect(keyOf(fresh), state)).sizeBytes;
      if (offset !== fresh.size_bytes) return { row: fresh, offset };
      return { row: await finish(fresh), offset };
    },
    async receive(row, piece) {
      if (row.ended_at !== null) {
        if (piece.offset !== row.received_bytes || piece.pieceBytes !== 0)
          throw wrongOffset(row.received_bytes);
        return { row, offset: row.received_bytes };
      }
      const reached = await writeAlone(deps, row, piece);
      if (reached.offset !== reached.row.size_bytes) return reached;
      return { row: await finish(reached.row), offset: reached.offset };
    },
    async cancel(row) {
      writers.abort(row.id);
      assertCanceled(await endings.giveUp(row, CANCELED));
    },
    stop: () => writers.abortAll(),
  };
}

function wrongOffset(offset: number): AppError {
  return new AppError('CONFLICT', {
    field: 'Upload-Offset',
    message: `The current upload offset is ${offset} bytes.`,
    headers: { 'Upload-Offset': String(offset) },
  });
}

/** Receives a part as the only writer across all processes. */
async function writeAlone(deps: TransferDeps, row: UploadRow, piece: UploadPart): Promise<UploadOffset> {
  const { db, writers } = deps;
  const writer: Writer = { silentSince: null, abort: () => piece.body.abort() };
  const place = await writers.enter(row.id, writer);
  if (place === null) throw busy();
  const lease = randomBytes(9).toString('base64url');
  try {
    const fresh = await claim(deps, row.id, lease);
    return await write(deps, fresh, { ...piece, writer, lease });
  } catch (error) {
    await repository.releaseWriter(db, row.id, lease);
    throw toDiskFullError(error);
  } finally {
    place.leave();
  }
}

async function claim({ db, bus }: TransferDeps, id: string, lease: string): Promise<UploadRow> {
  const deadline = performance.now() + (LEASE_SEC + 2) * 1000;
  for (;;) {
    const row = await repository.claimWriter(db, id, lease, LEASE_SEC);
    if (row !== undefined) return row;
    const current = await repository.findAnyUpload(db, id);
    if (current?.status === 'COMPLETED') throw wrongOffset(current.received_bytes);
    if (current === undefined || current.ended_at !== null) throw new AppError('UPLOAD_EXPIRED');
    if (performance.now() > deadline) throw busy();
    bus.publish(MAKE_WAY_TOPIC, id);
    await sleep(LEASE_POLL_MS);
  }
}

async function write(deps: TransferDeps, row: UploadRow, writing: PartWriter): Promise<UploadOffset> {
  const { store, hashes } = deps;
  const key = keyOf(row);
  const before = await startingState(deps, row, writing);
  const offset = before.sizeBytes;
  const sized = await declare(deps, row, writing, offset);
  const room = (sized.size_bytes ?? MAX_FILE_BYTES) - offset;
  if (writing.pieceBytes !== null && writing.pieceBytes > room) throw tooLong(sized);
  const progress = new Progress(deps, sized, writing);
  await progress.announce(offset + (writing.pieceBytes ?? 0));
  const follow = sized.sha256 !== null && writing.digest === null;
  const content = readIncoming(writing.body, {
    room,
    admits: (bytes) => progress.admits(offset + bytes),
    onChunk: (chunk, at) => {
      if (follow) hashes.update(row.id, offset + at, chunk);
    },
    onWaiting: (isWaiting) => {
      writing.writer.silentSince = isWaiting ? performance.now() : null;
    },
    afterPause: { ms: LEASE_DOUBT_MS, run: () => progress.renew() },
  });
  const digest = writing.digest === null ? {} : { digest: writing.digest };
  const options = { ...digest, onDurable: (state: PartialState) => progress.save(state) };
  const appended = progress.during(store.partials.append(key, before, offset, content.chunks, options));
  const after = await appended.catch(async (error: unknown) => {
    // Release the bytes reserved ahead and the lease.
    await progress.end(await store.partials.inspect(key, before)).catch(() => {});
    throw progress.refusal ?? error;
  });
  const saved = await progress.end(after);
  if (progress.refusal !== null) throw progress.refusal;
  if (content.overflowed()) {
    await deps.endings.giveUp(saved, {
      status: 'FAILED',
      code: 'SIZE_EXCEEDED',
      message: 'Received more bytes than the declared upload size.',
    });
    throw tooLong(sized);
  }
  return { row: saved, offset: after.sizeBytes };
}

/** Returns the state stored before this part; its size must equal the part's offset. */
async function startingState(
  { db, store }: TransferDeps,
  row: UploadRow,
  { offset, protocol }: PartWriter,
): Promise<PartialState> {
  const key = keyOf(row);
  const known = partialOf(row);
  let state = known === null ? null : await store.partials.inspect(key, known);
  if (offset !== null && offset !== (state?.sizeBytes ?? 0)) throw wrongOffset(state?.sizeBytes ?? 0);
  if (offset === null && state !== null && state.sizeBytes > 0) {
    await store.partials.abort(key, state);
    state = null;
  }
  const isNew = state === null;
  state ??= await store.partials.create(key, row.mime_type);
  if (isNew || row.protocol !== protocol) {
    await repository.updateUpload(db, row.id, { ...stored(state), has_bytes: true, protocol });
  }
  return state;
}

/** Stores the length of the whole file when this request is the first to send it, and reserves it. */
async function declare(
  { events, intake }: TransferDeps,
  row: UploadRow,
  { totalBytes, protocol, lease }: PartWriter,
  offset: number,
): Promise<UploadRow> {
  if (totalBytes === null) return row;
  const field = protocol === 'TUS' ? 'Upload-Length' : 'Content-Length';
  if (row.size_bytes !== null && row.size_bytes !== totalBytes) {
    throw badRequest(field, `The declared upload size is ${row.size_bytes} bytes.`);
  }
  if (row.size_bytes !== null) return row;
  rules.checkedSize(field, totalBytes);
  if (totalBytes < offset) throw badRequest(field, `${offset} bytes have been received already.`);
  const { id, workspace_id: workspaceId } = row;
  const take = () =>
    events.transaction(async (tx) => {
      await intake.hold.reserve(tx, heldBy(row), totalBytes);
      return assertHoldsLease(await repository.recordProgress(tx, id, lease, { size_bytes: totalBytes }));
    });
  return intake.hold.makingRoom(workspaceId, take);
}

function tooLong(row: UploadRow): AppError {
  const most = row.size_bytes ?? MAX_FILE_BYTES;
  return new AppError('PAYLOAD_TOO_LARGE', { message: `The upload size is ${most} bytes.` });
}

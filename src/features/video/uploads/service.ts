import { keyIdOf } from '../../../kernel/access.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound, quotaExceeded } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Visibility } from '../../../kernel/visibility.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { Secrets } from '../../../platform/secrets.ts';
import type { UploadOpener, VideoIntake } from '../videos/index.ts';
import type { EndingDeps, UploadCompletion } from './completion.service.ts';
import { assertCanceled, assertIntact, CANCELED, createUploadCompletion } from './completion.service.ts';
import type { UploadFilter, UploadRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import { createHashes, keyOf, partialOf } from './state.ts';
import { hashToken, mintToken } from './token.ts';
import { createTransfers, type TransferDeps, type Transfers } from './transfer.service.ts';
import { createWriters } from './writers.ts';

export interface DeclaredFile {
  filename: string;
  /** Null when the client sends the size with the first request. */
  sizeBytes: number | null;
  mimeType?: string | null | undefined;
  corsOrigin?: string | null | undefined;
  sha256?: string | undefined;
}

export interface NewUpload extends DeclaredFile {
  videoId?: string;
  title?: string;
  description?: string | null;
  visibility?: Visibility;
  metadata?: Record<string, string>;
}

export interface UploadDeps extends Omit<EndingDeps, 'hashes'> {
  bus: TransferDeps['bus'];
  secrets: Secrets;
  publicUrl: string;
  intake: VideoIntake;
}

/** Upload sessions (docs/concepts/uploads.md). Each id is looked up in the workspace: NOT_FOUND otherwise. */
export interface Uploads extends Pick<UploadCompletion, 'sweep'> {
  readonly transfers: Transfers;
  /** @throws {AppError} BAD_REQUEST, QUOTA_EXCEEDED, INSUFFICIENT_STORAGE; NOT_FOUND and CONFLICT for `videoId`. */
  create(by: UploadOpener, input: NewUpload): Promise<UploadRow>;
  /**
   * Opens the session of a video that the caller has just created or locked; its earlier sessions have ended.
   * Reserves the storage, which locks the workspace.
   *
   * @throws {AppError} BAD_REQUEST for the file's properties, QUOTA_EXCEEDED, INSUFFICIENT_STORAGE.
   */
  open(
    tx: Tx,
    by: UploadOpener,
    videoId: string,
    file: DeclaredFile & { id?: string; replaces?: boolean },
  ): Promise<UploadRow>;
  /** Ends the open sessions of a deleted video. The caller has locked the workspace before the video. */
  cancelFor(tx: Tx, videoId: string): Promise<void>;
  list(workspaceId: string, filter: UploadFilter, page: PageRequest): Promise<UploadRow[]>;
  /** Counts the sessions that wait for bytes, as the plan does. */
  countOpen(workspaceId: string): Promise<number>;
  get(workspaceId: string, id: string): Promise<UploadRow>;
  /** Returns the COMPLETED session, once all bytes are stored. */
  complete(workspaceId: string, id: string, sha256: string | undefined): Promise<UploadRow>;
  /**
   * Cancels the session and fails its video.
   *
   * @throws {AppError} CONFLICT when it is COMPLETED.
   */
  remove(workspaceId: string, id: string): Promise<void>;
  /** Returns the URL that receives the bytes. */
  urlOf(row: UploadRow): string;
  /** Releases the writers of the previous process; called by a process that starts as the only one. */
  releaseWriters(): Promise<void>;
}

const OCTETS = 'application/octet-stream';

export function createUploads(deps: UploadDeps): Uploads {
  const { db, events, intake, secrets } = deps;
  const hashes = createHashes();
  const writers = createWriters();
  const endings = createUploadCompletion({ ...deps, hashes });

  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findUpload(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };

  return {
    transfers: createTransfers({ ...deps, hashes, writers, endings }),
    get,
    open: (tx, by, videoId, file) => open(deps, tx, by, { id: newId('upl', deps.clock), ...file, videoId }),
    sweep: endings.sweep,
    async create(by, input) {
      const { workspaceId } = by;
      const { title, description, visibility, metadata, videoId: given, ...file } = input;
      if (given === undefined && visibility === 'PURCHASE') {
        throw badRequest(
          'visibility',
          'PURCHASE visibility requires a price. Create the video with POST /videos.',
        );
      }
      const id = newId('upl', deps.clock);
      const fresh = {
        title: title ?? rules.titleOf(file.filename),
        source: 'UPLOAD' as const,
        uploadId: id,
        ...(description === undefined ? {} : { description }),
        ...(visibility === undefined ? {} : { visibility }),
        ...(metadata === undefined ? {} : { metadata }),
      };
      const make = () =>
        events.transaction(async (tx, append) => {
          await intake.lock(tx, { workspaceId, videoId: given ?? null });
          if (given !== undefined) await intake.attach(tx, workspaceId, given, id);
          const videoId = given ?? (await intake.create(tx, append, workspaceId, fresh)).id;
          return open(deps, tx, by, { ...file, videoId, id });
        });
      return intake.hold.makingRoom(workspaceId, make);
    },
    cancelFor: (tx, videoId) => cancelOpen(deps, tx, videoId),
    list: (workspaceId, filter, page) => repository.listUploads(db, workspaceId, filter, page),
    countOpen: (workspaceId) => repository.countOpen(db, workspaceId),
    async complete(workspaceId, id, sum) {
      const sha256 = sum?.toLowerCase();
      const row = await get(workspaceId, id);
      const ended = row.ended_at === null ? await endings.finish(id, sha256) : row;
      if (ended.status !== 'COMPLETED') throw await incomplete(deps, assertIntact(ended));
      return assertIntact(sha256 === undefined ? ended : await endings.verify(ended, sha256));
    },
    async remove(workspaceId, id) {
      const row = await get(workspaceId, id);
      writers.abort(id);
      assertCanceled(await endings.giveUp(row, CANCELED));
    },
    urlOf: (row) => `${deps.publicUrl}/uploads/${secrets.decrypt(row.token_encrypted, row.id)}`,
    releaseWriters: () => repository.releaseWriters(db),
  };
}

/** Returns the error why a session cannot be completed now, or ever. */
async function incomplete({ store, clock }: UploadDeps, row: UploadRow): Promise<AppError> {
  const isOver = row.ended_at === null && row.expires_at <= clock.now();
  if (isOver || row.status === 'EXPIRED') return new AppError('UPLOAD_EXPIRED');
  if (row.ended_at !== null) return new AppError('CONFLICT', { message: `The upload is ${row.status}.` });
  const state = partialOf(row);
  const received = state === null ? 0 : (await store.partials.inspect(keyOf(row), state)).sizeBytes;
  const size = row.size_bytes ?? 'a number not yet known';
  return new AppError('CONFLICT', { message: `Received ${received} of ${size} bytes.` });
}

async function open(
  { intake, secrets, clock, disk }: UploadDeps,
  tx: Tx,
  by: UploadOpener,
  file: DeclaredFile & { videoId: string; id: string; replaces?: boolean },
): Promise<UploadRow> {
  const { workspaceId, accountId, actor } = by;
  const { videoId, id, sizeBytes, corsOrigin, sha256, replaces = false } = file;
  if (sizeBytes !== null) rules.checkedSize('sizeBytes', sizeBytes);
  const origin = corsOrigin === null || corsOrigin === undefined ? null : rules.checkedOrigin(corsOrigin);
  await disk.admit(0);
  const { plan } = await intake.lock(tx, { workspaceId, videoId });
  for (const row of await repository.lockOpenOf(tx, videoId)) await cancelRow(clock.now(), tx, row);
  const { openUploads } = PLANS[plan];
  if ((await repository.countOpen(tx, workspaceId)) >= openUploads) {
    const message = `Limit of ${openUploads} open uploads reached for this plan. Complete or cancel some.`;
    throw quotaExceeded({ workspaceId, resource: 'OPEN_UPLOADS' }, message);
  }
  await intake.hold.reserve(tx, { workspaceId, videoId, ...(replaces && { uploadId: id }) }, sizeBytes ?? 0);
  const token = mintToken();
  return repository.insertUpload(tx, {
    id,
    workspace_id: workspaceId,
    video_id: videoId,
    key_id: keyIdOf(by),
    created_by: actor.userId === accountId ? null : actor.userId,
    status: 'WAITING',
    token_hash: hashToken(token),
    token_encrypted: secrets.encrypt(token, id),
    cors_origin: origin,
    filename: file.filename,
    mime_type: file.mimeType ?? OCTETS,
    size_bytes: sizeBytes,
    replaces,
    sha256: sha256?.toLowerCase() ?? null,
    expires_at: dateFromMs(clock.ms() + rules.EXPIRES_MS),
    created_at: clock.now(),
  });
}

async function cancelOpen({ clock }: UploadDeps, tx: Tx, videoId: string): Promise<void> {
  for (const row of await repository.lockOpenOf(tx, videoId)) await cancelRow(clock.now(), tx, row);
}

/** Cancels only the session; the caller handles the video. The sweep removes the bytes. */
async function cancelRow(now: Date, tx: Tx, { id }: UploadRow): Promise<void> {
  await repository.updateUpload(tx, id, { status: 'CANCELED', ...repository.NO_WRITER, ended_at: now });
}

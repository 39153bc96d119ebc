import { type AppendEvent, type Events, nextSequence } from '../../../events/index.ts';
import type { Caller } from '../../../kernel/access.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { BlobStore } from '../../../media/contract/index.ts';
import type { Bus } from '../../../platform/bus.ts';
import { createBatchReader, createDeduplicatingReader } from '../../../platform/db/batch.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { readByIds } from '../../../platform/db/read-by-ids.ts';
import type { AssertOwnTiers } from '../../commerce/tiers/index.ts';
import { emitUpdated, hasChanged } from './emit.ts';
import { videoDeleted, videoPublished, videoUnpublished } from './events.ts';
import { videoFields } from './fields.ts';
import { createVideo, type VideoIntake, type VideoProcessing } from './intake/service.ts';
import type { VideoFilter } from './lists.repository.ts';
import { takeOverReplacements } from './replacement/deletion.ts';
import type { VideoDetails, VideoRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';
import type { VideoIn, VideoPatch } from './schemas.ts';
import * as settingsRules from './settings.rules.ts';
import * as transitions from './transitions.ts';
import { createLockVideo, VIDEO_TOPIC, withVideoDetails } from './with-locked-video.ts';

/** Properties of a file that are declared before it arrives. */
export interface DeclaredFile {
  filename?: string;
  sizeBytes?: number;
  mimeType?: string;
  corsOrigin?: string | null;
}

interface AskedList {
  workspaceId: string;
  filter: VideoFilter;
  page: PageRequest;
}

/** Properties of the file of an upload session. */
export interface UploadedFile {
  filename: string;
  /** Null when the size is sent with the transfer. */
  sizeBytes: number | null;
  mimeType: string | null;
  corsOrigin: string | null;
}

/** Opener of a session, which is valid as long as they may upload. */
export type UploadOpener = Pick<Caller, 'workspaceId' | 'accountId' | 'actor'>;

/** Upload sessions for the files of videos; filled by the composition root. */
export interface UploadSessions {
  /**
   * Opens the session of a new video, or of a file that replaces one, and reserves its storage.
   *
   * @param file.id of the session, where it is known before. @param file.replaces the file that the video has.
   * @returns `shown`: the session as partners are shown it.
   * @throws {AppError} BAD_REQUEST for the file's properties, QUOTA_EXCEEDED.
   */
  open(
    tx: Tx,
    by: UploadOpener,
    videoId: string,
    file: UploadedFile & { id?: string; replaces?: boolean },
  ): Promise<{ id: string; shown: object }>;
}

/** Hook in the deletion of a video: ends everything still in progress for it. */
export type OnVideoDeleted = (tx: Tx, append: AppendEvent, video: VideoRow) => Promise<void>;

export interface VideoDeps {
  db: Db;
  events: Events;
  bus: Bus;
  clock: Clock;
  store: Pick<BlobStore, 'head'>;
  uploads: UploadSessions;
  intake: Pick<VideoIntake, 'hold' | 'lock'>;
  processing: Pick<VideoProcessing, 'start' | 'cancel'>;
  onDeleted: readonly OnVideoDeleted[];
  assertOwnTiers: AssertOwnTiers;
}

/** Video operations of partners and creators. Each ID is looked up in the workspace: NOT_FOUND otherwise. */
export interface Videos {
  /** A video that waits for its file, and the upload session for it. @throws {AppError} QUOTA_EXCEEDED. */
  create(by: UploadOpener, input: VideoIn): Promise<{ video: VideoDetails; upload: object }>;
  /** Concurrent equal calls share the rows: do not change them. */
  list(workspaceId: string, filter: VideoFilter, page: PageRequest): Promise<VideoDetails[]>;
  /** Concurrent calls share the row: do not change it. */
  get(workspaceId: string, id: string): Promise<VideoDetails>;
  update(workspaceId: string, id: string, input: VideoPatch): Promise<VideoDetails>;
  /** It answers NOT_FOUND from here on; its files go after 30 days. */
  remove(workspaceId: string, id: string): Promise<void>;
  /** @param at later; now when it is null. @throws {AppError} CONFLICT when it is to be later and is public. */
  publish(workspaceId: string, id: string, at: string | null): Promise<VideoDetails>;
  unpublish(workspaceId: string, id: string): Promise<VideoDetails>;
  /** @throws {AppError} CONFLICT unless it is FAILED and its original is there. */
  retry(workspaceId: string, id: string): Promise<VideoDetails>;
  /** Publishes the videos that are due. */
  publishDue(): Promise<void>;
}

export function createVideos(deps: VideoDeps): Videos {
  const { db, events, bus, clock } = deps;
  const readVideo = createBatchReader(readByIds(db, repository.selectVideos));
  const readList = createDeduplicatingReader(({ workspaceId, filter, page }: AskedList) =>
    repository.listVideos(db, workspaceId, filter, page),
  );
  const locked = withVideoDetails(createLockVideo(deps));
  const get = async (workspaceId: string, id: string) => {
    const row = await readVideo(id);
    if (row === undefined || row.workspace_id !== workspaceId) throw notFound();
    return row;
  };
  return {
    get,
    create: (by, input) => create(deps, by, input),
    list: (workspaceId, filter, page) => readList({ workspaceId, filter, page }),
    update: (workspaceId, id, input) =>
      locked(workspaceId, id, async (tx, row, append) => {
        await deps.assertOwnTiers(tx, workspaceId, input.tierIds);
        await update(tx, append, row, input, clock.now());
      }),
    remove: (workspaceId, id) => remove(deps, workspaceId, id),
    publish: (workspaceId, id, at) =>
      locked(workspaceId, id, async (tx, row, append) => {
        const now = clock.now();
        const publishAt = settingsRules.parsePublishAt('at', at, now);
        if (publishAt === null) return publishLocked(tx, append, row, now);
        if (row.visibility !== 'PRIVATE') {
          throw new AppError('CONFLICT', {
            field: 'at',
            message: 'The video is already published.',
          });
        }
        const after = await repository.updateVideo(tx, id, { publish_at: publishAt, updated_at: now });
        await emitUpdated(tx, append, row, after);
      }),
    unpublish: (workspaceId, id) =>
      locked(workspaceId, id, (tx, row, append) => setVisibility(tx, append, row, 'PRIVATE', clock.now())),
    retry: (workspaceId, id) => retry(deps, workspaceId, id),
    async publishDue() {
      for (const { id } of await repository.dueToPublish(db, clock.now())) {
        await events.transaction(async (tx, append) => {
          const row = await repository.lockAnyVideo(tx, id);
          const now = clock.now();
          if (row === undefined || row.deleted_at !== null) return;
          if (row.publish_at === null || row.publish_at > now) return;
          await publishLocked(tx, append, row, now);
        });
        bus.publish(VIDEO_TOPIC, id);
      }
    },
  };
}

/** @param title default name of the file. */
export function fileOf(
  { filename, sizeBytes, mimeType, corsOrigin }: DeclaredFile,
  title: string,
): UploadedFile {
  return {
    filename: filename ?? title,
    sizeBytes: sizeBytes ?? null,
    mimeType: mimeType ?? null,
    corsOrigin: corsOrigin ?? null,
  };
}

async function create(deps: VideoDeps, by: UploadOpener, input: VideoIn) {
  const { workspaceId } = by;
  const { events, clock, uploads, intake } = deps;
  const now = clock.now();
  const publishAt = settingsRules.parsePublishAt('publishAt', input.publishAt, now);
  const visibility = settingsRules.initialVisibility(input.visibility, publishAt);
  settingsRules.assertPriced(visibility, input.priceCents ?? null);
  const chapters = settingsRules.orderChapters(input.chapters ?? [], null);
  const file = fileOf(input, input.title);
  return intake.hold.makingRoom(workspaceId, () =>
    events.transaction(async (tx, append) => {
      await deps.assertOwnTiers(tx, workspaceId, input.tierIds);
      const { id } = await createVideo({ tx, append, clock }, workspaceId, {
        ...videoFields.toColumns(input),
        title: input.title,
        visibility,
        publish_at: publishAt,
        chapters: JSON.stringify(chapters),
        source: 'UPLOAD',
      });
      const upload = await uploads.open(tx, by, id, file);
      await repository.updateVideo(tx, id, { upload_id: upload.id });
      return { video: await repository.getVideoDetails(tx, id), upload: upload.shown };
    }),
  );
}

async function update(
  tx: Tx,
  append: AppendEvent,
  row: VideoRow,
  input: VideoPatch,
  now: Date,
): Promise<void> {
  const chapters =
    input.chapters === undefined
      ? row.chapters
      : settingsRules.orderChapters(input.chapters, row.duration_sec);
  const settings = { ...row, ...videoFields.toColumns(input), chapters };
  // A recording that is to be sold comes without a price.
  if (settings.visibility !== row.visibility || settings.price_cents !== row.price_cents)
    settingsRules.assertPriced(settings.visibility, settings.price_cents);
  const publication = publicationOf(row, settings.visibility, now);
  // A visible video has no planned publication.
  const publish_at = settings.visibility === 'PRIVATE' ? row.publish_at : null;
  if (!hasChanged(row, { ...settings, publish_at })) return;
  const after = await repository.updateVideo(tx, row.id, {
    ...videoFields.toColumns(input),
    chapters: JSON.stringify(chapters),
    published_at: publication.publishedAt,
    publish_at,
    updated_at: now,
  });
  await emitUpdated(tx, append, row, after);
  if (publication.event !== null) await emitPublication(tx, append, after, publication.event);
}

function publicationOf(row: VideoRow, to: VideoRow['visibility'], now: Date): rules.Published {
  const { status, visibility, published_at: publishedAt } = row;
  return rules.changeVisibility({ status, visibility, publishedAt }, to, now);
}

async function emitPublication(
  tx: Tx,
  append: AppendEvent,
  row: VideoRow,
  type: 'video.published' | 'video.unpublished',
): Promise<void> {
  const { id: videoId, workspace_id: workspaceId, visibility } = row;
  const publishedAt = row.published_at?.toISOString() ?? null;
  const sequence = await nextSequence(tx, 'video', videoId);
  if (type === 'video.unpublished') {
    await append(videoUnpublished, workspaceId, { videoId, visibility, publishedAt, sequence });
    return;
  }
  if (publishedAt === null) throw new Error(`the published video ${videoId} has no publication time`);
  await append(videoPublished, workspaceId, { videoId, visibility, publishedAt, sequence });
}

/**
 * Sets the visibility and drops a planned publication. Emits `video.updated` where no publication event is
 * due.
 */
async function setVisibility(
  tx: Tx,
  append: AppendEvent,
  row: VideoRow,
  visibility: VideoRow['visibility'],
  now: Date,
): Promise<void> {
  if (visibility === row.visibility && row.publish_at === null) return;
  const publication = publicationOf(row, visibility, now);
  const after = await repository.updateVideo(tx, row.id, {
    visibility,
    published_at: publication.publishedAt,
    publish_at: null,
    updated_at: now,
  });
  if (publication.event === null) await emitUpdated(tx, append, row, after);
  else await emitPublication(tx, append, after, publication.event);
}

function publishLocked(tx: Tx, append: AppendEvent, row: VideoRow, now: Date): Promise<void> {
  return setVisibility(tx, append, row, row.visibility === 'PRIVATE' ? 'PUBLIC' : row.visibility, now);
}

async function remove(deps: VideoDeps, workspaceId: string, id: string): Promise<void> {
  const { events, bus, clock, intake, processing, onDeleted } = deps;
  await events.transaction(async (tx, append) => {
    await intake.lock(tx, { workspaceId, videoId: id });
    const row = await repository.lockVideo(tx, workspaceId, id);
    if (row === undefined) throw notFound();
    // A stored file counts until it is removed.
    if (row.original_key === null) await intake.hold.release(tx, { workspaceId, videoId: id });
    const now = clock.now();
    await processing.cancel(tx, id);
    await takeOverReplacements(tx, intake.hold, row, now);
    for (const end of onDeleted) await end(tx, append, row);
    await repository.updateVideo(tx, id, { deleted_at: now, publish_at: null, updated_at: now });
    const sequence = await nextSequence(tx, 'video', id);
    await append(videoDeleted, workspaceId, { videoId: id, deletedAt: now.toISOString(), sequence });
  });
  bus.publish(VIDEO_TOPIC, id);
}

async function retry(deps: VideoDeps, workspaceId: string, id: string): Promise<VideoDetails> {
  const { db, store, clock, processing } = deps;
  const found = await repository.findOriginal(db, workspaceId, id);
  if (found === undefined) throw notFound();
  const isThere = found.original_key !== null && (await store.head(found.original_key)) !== null;
  return withVideoDetails(createLockVideo(deps))(workspaceId, id, async (tx, row, append) => {
    if (row.status !== 'FAILED') {
      throw new AppError('CONFLICT', {
        field: 'status',
        message: 'Only FAILED videos can be retried.',
      });
    }
    if (!isThere) {
      throw new AppError('CONFLICT', { message: 'No file to process. Upload it as a new video.' });
    }
    const queued = await transitions.retry({ tx, append, row, now: clock.now() });
    if (queued !== null) await processing.start(tx, queued);
  });
}

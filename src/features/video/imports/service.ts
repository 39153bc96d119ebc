import type { AppendEvent, Events } from '../../../events/index.ts';
import type { JobQueue } from '../../../jobs/job.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { PLANS } from '../../../kernel/plans.ts';
import type { Visibility } from '../../../kernel/visibility.ts';
import type { BlobStore } from '../../../media/contract/index.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { DiskSpace } from '../../../platform/disk.ts';
import type { Logger } from '../../../platform/logger.ts';
import { GuardError, type Outbound } from '../../../platform/outbound/index.ts';
import type { VideoIntake } from '../videos/index.ts';
import { cancelImport } from './completion.ts';
import { importJob } from './jobs.ts';
import { discardPartial, keyOf, partialOf, targetOf } from './partial.ts';
import type { ImportFilter, ImportRow } from './repository.ts';
import * as repository from './repository.ts';
import * as rules from './rules.ts';

export interface ImportDeps {
  db: Db;
  events: Events;
  jobs: JobQueue;
  clock: Clock;
  log: Logger;
  store: BlobStore;
  disk: Pick<DiskSpace, 'admit'>;
  intake: VideoIntake;
  fetcher: Pick<Outbound, 'checkUrl' | 'stream' | 'download'>;
}

export interface NewImport {
  sourceUrl: string;
  title?: string;
  visibility?: Visibility;
  metadata?: Record<string, string>;
}

/**
 * Import operations of the API (docs/concepts/imports.md). Each ID is looked up in the workspace: NOT_FOUND
 * otherwise.
 */
export interface Imports {
  /** @throws {AppError} BAD_REQUEST, field `sourceUrl`; QUOTA_EXCEEDED when the storage is full. */
  create(workspaceId: string, input: NewImport): Promise<ImportRow>;
  /**
   * Fetches the file that is to replace that of a video (docs/concepts/videos.md#replacing-the-file).
   *
   * @throws as `create` does; {AppError} NOT_FOUND; CONFLICT unless the video is READY, and while its file is being
   * replaced.
   */
  replace(workspaceId: string, videoId: string, sourceUrl: string): Promise<ImportRow>;
  list(workspaceId: string, filter: ImportFilter, page: PageRequest): Promise<ImportRow[]>;
  get(workspaceId: string, id: string): Promise<ImportRow>;
  /** @throws {AppError} CONFLICT when it has ended. */
  cancel(workspaceId: string, id: string): Promise<ImportRow>;
  /**
   * Ends an import whose replacement is canceled, under the locks of workspace and video.
   *
   * @returns a function that removes its bytes after the commit.
   */
  cancelFor(tx: Tx, id: string): Promise<() => Promise<void>>;
  /**
   * Restarts an import: with its existing video when none of its bytes were accepted, otherwise with a new
   * video of the same settings.
   *
   * @throws {AppError} CONFLICT unless it is FAILED or CANCELED; for a replacement, also as `replace` does,
   *   and when bytes of it were accepted.
   */
  retry(workspaceId: string, id: string): Promise<ImportRow>;
}

const URL_LENGTH = 4096;
/**
 * Bytes reserved at creation so that full storage rejects an import immediately; the size is known only
 * later.
 */
const FIRST_BYTES = 1;
const CANCELED = { code: 'UPLOAD_EXPIRED', message: 'The import was canceled.' } as const;

export function createImports(deps: ImportDeps): Imports {
  const { db } = deps;
  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findImport(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };
  return {
    get,
    list: (workspaceId, filter, page) => repository.listImports(db, workspaceId, filter, page),
    create: (workspaceId, input) => create(deps, workspaceId, input),
    replace: (workspaceId, videoId, sourceUrl) => create(deps, workspaceId, { sourceUrl }, videoId),
    cancel: async (workspaceId, id) => cancel(deps, await get(workspaceId, id)),
    async cancelFor(tx, id) {
      const row = await repository.lockImport(tx, id);
      if (rules.isTerminal(row.status)) return async () => {};
      await cancelImport(deps, tx, id);
      return () => discardPartial(deps, keyOf(row), partialOf(row));
    },
    retry: async (workspaceId, id) => retry(deps, await get(workspaceId, id)),
  };
}

/** @param replaced the video whose file is replaced. */
async function create(
  deps: ImportDeps,
  workspaceId: string,
  input: NewImport,
  replaced: string | null = null,
): Promise<ImportRow> {
  const url = URL.parse(input.sourceUrl);
  await checkSource(deps, input.sourceUrl);
  if (url === null) throw badRequest('sourceUrl', 'sourceUrl must be a valid URL.');
  if (input.visibility === 'PURCHASE') {
    throw badRequest(
      'visibility',
      'PURCHASE visibility requires a price. Import the video as PRIVATE, then set a price.',
    );
  }
  const { provider, refusal } = rules.sourceOf(url);
  if (refusal !== null) throw badRequest('sourceUrl', refusal);
  const make = () =>
    deps.events.transaction(async (tx, append) => {
      const wanted = {
        id: newId('imp', deps.clock),
        workspace_id: workspaceId,
        title: input.title ?? rules.titleOf(url),
        visibility: input.visibility ?? ('PUBLIC' as const),
        metadata: input.metadata ?? {},
        replaces: replaced !== null,
      };
      const videoId = await begin(deps, tx, append, { ...wanted, video_id: replaced }, false);
      return repository.insertImport(tx, {
        ...wanted,
        video_id: videoId,
        source_url: input.sourceUrl,
        provider,
        status: 'PENDING',
        created_at: deps.clock.now(),
      });
    });
  return deps.intake.hold.makingRoom(workspaceId, make);
}

/** @throws {AppError} BAD_REQUEST, field `sourceUrl`, when the address is blocked. */
async function checkSource({ fetcher }: ImportDeps, url: string): Promise<void> {
  try {
    await fetcher.checkUrl(url, { maxLength: URL_LENGTH, http: true });
  } catch (error) {
    if (!(error instanceof GuardError)) throw error;
    throw badRequest('sourceUrl', `Cannot fetch from this URL: ${error.reason}.`);
  }
}

type ImportTarget = Pick<
  ImportRow,
  'id' | 'workspace_id' | 'video_id' | 'title' | 'visibility' | 'metadata' | 'replaces'
>;

/** Creates the video, or the replacement of a video's file, and the job of a run. */
async function begin(
  { intake, jobs }: ImportDeps,
  tx: Tx,
  append: AppendEvent,
  wanted: ImportTarget,
  keeps: boolean,
): Promise<string> {
  const { id, workspace_id: workspaceId, video_id: before, title, visibility, metadata, replaces } = wanted;
  const old = { workspaceId, videoId: before };
  const { accountId, plan } = await intake.lock(tx, old);
  let videoId = before;
  if (replaces) {
    if (videoId === null) throw notFound();
    await intake.replace(tx, { workspaceId, videoId, importId: id });
  } else {
    const input = { title, visibility, metadata, source: 'IMPORT', importId: id } as const;
    videoId = (await intake.again(tx, append, old, { keeps, input })).id;
  }
  await intake.hold.reserve(tx, targetOf({ ...wanted, video_id: videoId }), FIRST_BYTES);
  const { priority } = PLANS[plan];
  await jobs.enqueue(tx, importJob, { importId: id }, { key: id, group: accountId, priority });
  return videoId;
}

async function cancel(deps: ImportDeps, found: ImportRow): Promise<ImportRow> {
  const { events, intake } = deps;
  const { id, workspace_id: workspaceId, video_id: videoId } = found;
  const after = await events.transaction(async (tx, append) => {
    await intake.lock(tx, { workspaceId, videoId });
    const row = await repository.lockImport(tx, id);
    if (rules.isTerminal(row.status) || row.video_id !== videoId) {
      throw new AppError('CONFLICT', { message: `The import is ${row.status}.` });
    }
    const canceled = await cancelImport(deps, tx, id);
    if (videoId !== null) await intake.fail(tx, append, targetOf({ ...row, video_id: videoId }), CANCELED);
    return canceled;
  });
  // The aborted run discards its file too, since it may have written more in the interim.
  await discardPartial(deps, keyOf(found), partialOf(found));
  return after;
}

function retry(deps: ImportDeps, found: ImportRow): Promise<ImportRow> {
  const { events, intake } = deps;
  const { id, workspace_id: workspaceId, video_id: videoId } = found;
  const renew = () =>
    events.transaction(async (tx, append) => {
      await intake.lock(tx, { workspaceId, videoId });
      const row = await repository.lockImport(tx, id);
      if ((row.status !== 'FAILED' && row.status !== 'CANCELED') || row.video_id !== videoId) {
        throw new AppError('CONFLICT', { message: `The import is ${row.status}.` });
      }
      // The run of a canceled import may still be ending: where it had a file, it may still write to it.
      const isUntouched = row.bytes_received === 0 && (row.status === 'FAILED' || row.storage_state === null);
      if (row.replaces && !isUntouched) {
        const message = 'The file was partially received: start another replacement instead.';
        throw new AppError('CONFLICT', { message });
      }
      return repository.updateImport(tx, row.id, {
        video_id: await begin(deps, tx, append, row, isUntouched),
        status: 'PENDING',
        bytes_total: null,
        bytes_received: 0,
        validator: null,
        storage_state: null,
        error_code: null,
        error_message: null,
        completed_at: null,
      });
    });
  return intake.hold.makingRoom(workspaceId, renew);
}

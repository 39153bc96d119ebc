import type { AppendEvent } from '../../../events/index.ts';
import { JobDeferredError, JobPermanentError, type JobRun, JobStoppedError } from '../../../jobs/job.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { PartialState } from '../../../media/contract/index.ts';
import type { Tx } from '../../../platform/db/index.ts';
import { isSuspended } from '../../../platform/db/workspace.ts';
import { isDiskError } from '../../../platform/disk.ts';
import { GuardError, OutboundError } from '../../../platform/outbound/index.ts';
import { finishImport } from './completion.ts';
import { download, type Progress } from './download.ts';
import { discardPartial, keyOf, partialOf, targetOf } from './partial.ts';
import { peerTubeFile } from './peertube.ts';
import type { ImportRow } from './repository.ts';
import * as repository from './repository.ts';
import { ImportFailure, isTerminal } from './rules.ts';
import type { ImportDeps } from './service.ts';
import { watchSuspension } from './suspension-watch.ts';

type Run = JobRun<{ importId: string }>;
/** Import whose video exists. */
type OpenImport = ImportRow & { video_id: string };

/** Last known state of the partial file, so that it can be removed when it is no longer needed. */
interface PartialFile {
  state: PartialState | null;
}

const TROUBLE_SEC = 60;
const INTERNAL = 'The import failed because of an internal error.';

/**
 * Creates the handler of `importJob`: fetches the file and passes it to the video, or records why that
 * failed.
 */
export function createImportRunner(deps: ImportDeps): (run: Run) => Promise<void> {
  return async (run) => {
    const row = await begin(deps, run);
    if (row === null) return;
    const held: PartialFile = { state: partialOf(row) };
    const standing = watchSuspension(() => isSuspended(deps.db, row.workspace_id));
    try {
      const signal = AbortSignal.any([run.signal, standing.signal]);
      await fetchAndHandOver(deps, { ...run, signal }, row, held);
    } catch (error) {
      if (run.signal.aborted || error instanceof JobStoppedError) await stopped(deps, run, row, held);
      if (standing.signal.aborted) throw suspended();
      if (isDiskError(error)) throw new JobDeferredError(describe(error), TROUBLE_SEC);
      const failure = failureOf(error);
      if (failure.isPassing && !run.isLast) throw error;
      await fail(deps, run, row, failure);
      await discardPartial(deps, keyOf(row), held.state);
      throw new JobPermanentError(failure.message, { cause: error });
    } finally {
      standing.end();
    }
  };
}

/** Defers the job until the account is active again; the bytes received are retained. */
function suspended(): JobDeferredError {
  return new JobDeferredError('The account is suspended.', TROUBLE_SEC);
}

/**
 * Rethrows the reason of the abort. Discards the bytes received when the import has ended; otherwise the next
 * run resumes from them.
 */
async function stopped(
  deps: ImportDeps,
  { signal }: Run,
  row: OpenImport,
  held: PartialFile,
): Promise<never> {
  const now = await repository.findAnyImport(deps.db, row.id);
  if (now === undefined || now.video_id !== row.video_id || isTerminal(now.status)) {
    await discardPartial(deps, keyOf(row), held.state);
  }
  throw signal.reason;
}

/** @returns null when there is nothing left to fetch. */
function begin({ events }: ImportDeps, run: Run): Promise<OpenImport | null> {
  return events.transaction(async (tx) => {
    const row = await repository.lockImport(tx, run.payload.importId);
    await run.confirm(tx);
    const isOpen = row.status === 'PENDING' || row.status === 'DOWNLOADING';
    if (!isOpen || row.video_id === null) return null;
    if (await isSuspended(tx, row.workspace_id)) throw suspended();
    const after = await repository.updateImport(tx, row.id, { status: 'DOWNLOADING' });
    return { ...after, video_id: row.video_id };
  });
}

async function fetchAndHandOver(
  deps: ImportDeps,
  run: Run,
  row: OpenImport,
  held: PartialFile,
): Promise<void> {
  const { store, fetcher } = deps;
  const key = keyOf(row);
  const page = new URL(row.source_url);
  const url = row.provider === 'PEERTUBE' ? await peerTubeFile(fetcher, page) : row.source_url;
  const { hold } = deps.intake;
  const ahead = hold.ahead((bytes) =>
    hold.makingRoom(row.workspace_id, () =>
      deps.events.transaction(async (tx) => {
        await hold.reserve(tx, targetOf(row), bytes);
        await run.confirm(tx);
      }),
    ),
  );
  const { state } = await download(deps, {
    url,
    key,
    signal: run.signal,
    start: await leftBy(deps, row),
    save: (progress) => {
      held.state = progress.state;
      return save(deps, run, row, progress);
    },
    cover: (bytes) => ahead.cover(bytes),
    stillOurs: () => deps.events.transaction((tx) => run.confirm(tx)),
  });
  await store.partials.complete(key, state);
  await handOver(deps, run, row, { key, sizeBytes: state.sizeBytes });
}

async function leftBy({ store }: ImportDeps, row: OpenImport): Promise<Progress | null> {
  const partial = partialOf(row);
  if (partial === null) return null;
  const state = await store.partials.inspect(keyOf(row), partial);
  return { state, total: row.bytes_total, validator: row.validator };
}

/**
 * Stores the progress of the download; the storage of the whole file is reserved as soon as its size is
 * known.
 */
function save(
  { events, intake }: ImportDeps,
  run: Run,
  row: OpenImport,
  { state, total, validator }: Progress,
): Promise<void> {
  const write = () =>
    events.transaction(async (tx) => {
      if (total !== null) await intake.hold.reserve(tx, targetOf(row), Math.max(total, 1));
      await repository.updateImport(tx, row.id, {
        bytes_total: total,
        bytes_received: state.sizeBytes,
        storage_state: state.driver,
        validator,
      });
      await run.confirm(tx);
    });
  return intake.hold.makingRoom(row.workspace_id, write);
}

/** Passes the complete file to the video, which is queued for processing; the import ends with it. */
async function handOver(
  deps: ImportDeps,
  run: Run,
  row: OpenImport,
  original: { key: string; sizeBytes: number },
): Promise<void> {
  const isWanted = await underLocks(deps, run, row, async (tx, append) => {
    await repository.updateImport(tx, row.id, {
      status: 'PROCESSING',
      bytes_total: original.sizeBytes,
      bytes_received: original.sizeBytes,
      storage_state: null,
    });
    return deps.intake.received(tx, append, targetOf(row), original);
  });
  if (!isWanted) await discardPartial(deps, original.key, null);
}

async function fail(deps: ImportDeps, run: Run, row: OpenImport, failure: ImportFailure): Promise<void> {
  const { intake, clock } = deps;
  const { code, message } = failure;
  await underLocks(deps, run, row, async (tx, append, locked) => {
    await finishImport(tx, append, locked, { at: clock.now(), error: { code, message } });
    const ofVideo = code === 'QUOTA_EXCEEDED' ? 'SIZE_EXCEEDED' : code;
    await intake.fail(tx, append, targetOf(row), { code: ofVideo, message });
  });
}

/** Runs `work` under the locks of workspace, video and import, while this worker owns the job. */
function underLocks<T>(
  { events, intake }: ImportDeps,
  run: Run,
  row: OpenImport,
  work: (tx: Tx, append: AppendEvent, row: ImportRow) => Promise<T>,
): Promise<T> {
  return events.transaction(async (tx, append) => {
    await intake.lock(tx, targetOf(row));
    const locked = await repository.lockImport(tx, row.id);
    await run.confirm(tx);
    return work(tx, append, locked);
  });
}

const describe = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Maps an error to the failure shown to the owner. */
function failureOf(error: unknown): ImportFailure {
  if (error instanceof ImportFailure) return error;
  if (error instanceof GuardError) return unreachable(`The URL cannot be used: ${error.reason}.`, false);
  if (error instanceof OutboundError) {
    return unreachable(`The server cannot be reached: ${error.message}.`, error.stage !== 'redirect');
  }
  if (error instanceof AppError && error.code === 'QUOTA_EXCEEDED') {
    return new ImportFailure('QUOTA_EXCEEDED', error.message);
  }
  return new ImportFailure('INTERNAL', INTERNAL, true);
}

function unreachable(message: string, isPassing: boolean): ImportFailure {
  return new ImportFailure('SOURCE_UNREACHABLE', message, isPassing);
}

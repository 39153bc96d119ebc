import { setTimeout as sleep } from 'node:timers/promises';
import { MAX_FILE_BYTES } from '../../../kernel/plans.ts';
import type { PartialState } from '../../../media/contract/index.ts';
import type { StreamResponse } from '../../../platform/outbound/index.ts';
import { type Body, ImportFailure, parseResponse, type ReceivedState, rangeHeaders } from './rules.ts';
import type { ImportDeps } from './service.ts';
import { TrackedBody, tooLarge } from './tracked-body.ts';

/** State of a file being downloaded, stored with the import so that another run can resume it. */
export interface Progress {
  state: PartialState;
  total: number | null;
  validator: string | null;
}

/** Progress before the store has a file; the file is created with the first write. */
type Start = Omit<Progress, 'state'> & { state: PartialState | null };

export interface DownloadRun {
  url: string;
  key: string;
  signal: AbortSignal;
  /** Progress of an earlier run, as stored; null when there is none. */
  start: Progress | null;
  /**
   * Stores the progress of the download. Throws when the download must stop: the job is lost or the storage
   * full.
   */
  save(progress: Progress): Promise<void>;
  /** Reserves storage before a file of unknown length grows to `bytes`. Throws as `save` does. */
  cover(bytes: number): Promise<void>;
  /** Throws when another worker owns the job. */
  stillOurs(): Promise<void>;
}

type Deps = Pick<ImportDeps, 'store' | 'fetcher' | 'disk'>;

const MAX_REDIRECTS = 5;
const IDLE_MS = 30_000;
const SAVE_MS = 2000;
/** Maximum duration of a run, which occupies a slot that others wait for. */
const LONGEST_MS = 12 * 3_600_000;
const PAUSE_MS = 500;
const CONTENT_TYPE = 'application/octet-stream';

/**
 * Fetches a file into the store's partial file, over as many connections as it takes: one that breaks is followed by
 * another as long as bytes come.
 *
 * @returns where it stands when all is there.
 * @throws {ImportFailure} @throws {GuardError} @throws {OutboundError} and what `save` throws.
 */
export async function download(deps: Deps, run: DownloadRun): Promise<Progress> {
  let known: Start = run.start ?? { state: null, total: null, validator: null };
  const deadline = performance.now() + LONGEST_MS;
  let most = known.state?.sizeBytes ?? 0;
  for (;;) {
    await deps.disk.admit(0);
    const { state, total } = known;
    if (state !== null && total !== null && total > 0 && state.sizeBytes === total) {
      return { ...known, state };
    }
    const { body, answer } = await ask(deps, run, known);
    if (body === null) return finished(run, { ...known, total: state?.sizeBytes ?? null });
    const progress = await openTarget(deps, run, state, body).catch((error: unknown) => {
      answer.discard();
      throw error;
    });
    const { after, watched } = await receive(deps, run, progress, { answer, deadline });
    const size = after.sizeBytes;
    if (watched.isWhole && (progress.total ?? size) === size)
      return finished(run, { ...progress, state: after, total: size });
    known = { ...progress, state: after };
    await run.save({ ...progress, state: after });
    throwIfFinal(run, watched, size > most);
    most = Math.max(most, size);
    await sleep(PAUSE_MS, undefined, { signal: run.signal });
  }
}

/**
 * Throws failures that must end this run: all except a connection that broke after making progress. A server
 * that cannot resume and breaks at the same offset would otherwise be retried forever.
 */
function throwIfFinal(run: DownloadRun, { failure, isWhole }: TrackedBody, isFurther: boolean): void {
  run.signal.throwIfAborted();
  const isBreak = isWhole || (failure instanceof Error && failure.name === 'OutboundError');
  if (!isBreak) throw failure;
  if (isFurther) return;
  throw failure ?? new ImportFailure('SOURCE_UNREACHABLE', 'The server sent less data than announced.', true);
}

async function finished(run: DownloadRun, { state, total, validator }: Start): Promise<Progress> {
  if (state === null || state.sizeBytes === 0) throw new ImportFailure('CORRUPT_INPUT', 'The file is empty.');
  const progress = { state, total, validator };
  await run.save(progress);
  return progress;
}

/** Requests the missing bytes. */
async function ask(
  { fetcher }: Deps,
  run: DownloadRun,
  { state, total, validator }: Start,
): Promise<{ answer: StreamResponse; body: Body | null }> {
  const received: ReceivedState = { bytes: state?.sizeBytes ?? 0, total, validator };
  const answer = await fetcher.stream({
    url: run.url,
    headers: rangeHeaders(received),
    maxRedirects: MAX_REDIRECTS,
    idleMs: IDLE_MS,
    signal: run.signal,
  });
  try {
    const body = parseResponse(answer.status, answer.headers, received);
    if (body === null) answer.discard();
    return { answer, body };
  } catch (error) {
    answer.discard();
    throw error;
  }
}

/** Prepares the file for the body: appends to the bytes already stored or starts a new file. */
async function openTarget(
  deps: Deps,
  run: DownloadRun,
  old: PartialState | null,
  body: Body,
): Promise<Progress> {
  const { offset, total, validator } = body;
  if (total !== null && total > MAX_FILE_BYTES) throw tooLarge();
  if (total === 0) throw new ImportFailure('CORRUPT_INPUT', 'The file is empty.');
  const state = old !== null && offset === old.sizeBytes ? old : await restart(deps, run, old);
  const next = { state, total, validator };
  await run.save(next);
  return next;
}

async function restart(
  { store }: Deps,
  { key }: DownloadRun,
  old: PartialState | null,
): Promise<PartialState> {
  if (old !== null) await store.partials.abort(key, old);
  return store.partials.create(key, CONTENT_TYPE);
}

/** Reads one answer into the store, and saves how far it is every two seconds. */
async function receive(
  { store: { partials }, disk }: Deps,
  run: DownloadRun,
  progress: Progress,
  { answer, deadline }: { answer: StreamResponse; deadline: number },
): Promise<{ after: PartialState; watched: TrackedBody }> {
  const offset = progress.state.sizeBytes;
  const watched = new TrackedBody(answer.body, {
    offset,
    total: progress.total,
    cover: progress.total === null ? run.cover : async () => {},
    admit: disk.admit,
    stillOurs: run.stillOurs,
    deadline,
    stop: () => answer.discard(),
  });
  let saving: Promise<void> | null = null;
  let savedAt = performance.now();
  const onDurable = (state: PartialState) => {
    if (saving !== null || performance.now() - savedAt < SAVE_MS) return;
    savedAt = performance.now();
    saving = run
      .save({ ...progress, state })
      .catch((error: unknown) => watched.fail(error))
      .finally(() => {
        saving = null;
      });
  };
  try {
    const after = await partials.append(run.key, progress.state, offset, watched, { onDurable });
    return { after, watched };
  } finally {
    await saving;
  }
}

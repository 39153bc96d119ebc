import { queries } from '../../../app/api.ts';
import { ApiError } from '../../../app/api-error.ts';
import { randomText } from '../../../app/idempotency-key.ts';
import { currentMode } from '../../../app/mode.ts';
import type { Shape } from '../../../app/shape.ts';
import { ownPath } from '../../../components/addresses.ts';
import { refreshVideo } from '../refresh.ts';
import { fingerprintOf, forgetUpload } from './fingerprints.ts';
import { isUnfinished, itemOf, items, removeItem, type UploadItem, updateItem } from './items.ts';
import { sessionFor } from './sessions.ts';
import { createSpeedMeter } from './speed.ts';
import type { TransferFailure } from './transfer.ts';

const AT_ONCE = 2;
const FIRST_RETRY_MS = 1000;
const LAST_RETRY_MS = 30_000;
const PROGRESS_MS = 250;
/**
 * Status codes after which the same request may succeed: another writer is active, or the server asks to
 * wait.
 */
const PASSING = new Set([408, 409, 423, 425, 429, 460]);

/** Functions that cancel an item's current attempt or its wait for the next one. */
const stops = new Map<string, () => void>();

/** Puts files into the queue; a file that is in it already is not sent twice. */
export function addFiles(files: readonly File[]): void {
  for (const file of files) add(file, {});
  pump();
}

/** Adds a file that replaces that of the video. */
export function addReplacement(videoId: string, file: File): void {
  add(file, { videoId, replaces: true });
  pump();
}

/** Resumes an existing upload session with its file. */
export function resumeUpload(upload: Shape<'Upload'>, file: File): void {
  add(file, { uploadId: upload.id, videoId: upload.videoId, replaces: upload.replaces });
  pump();
}

type UploadItemOptions = Partial<Pick<UploadItem, 'uploadId' | 'videoId' | 'replaces'>>;

function add(file: File, { uploadId = null, videoId = null, replaces = false }: UploadItemOptions): void {
  const fingerprint = fingerprintOf(file);
  const isThere = items.get().some((item) => item.fingerprint === fingerprint && item.state !== 'done');
  if (isThere) return;
  const item: UploadItem = {
    ...{ key: randomText(), file, fingerprint, uploadId, mode: currentMode(), state: 'queued' },
    ...{ videoId, replaces, uploadUrl: null, chunkSize: Number.POSITIVE_INFINITY, sentBytes: 0, speed: null },
    ...{ retries: 0, retryAt: null, failure: null },
  };
  items.set([...items.get(), item]);
}

/**
 * Starts queued uploads up to the limit. A draft is created in the current workspace, so files of the other
 * one wait.
 */
export function pump(): void {
  const all = items.get();
  const busy = all.filter(({ state }) => state === 'preparing' || state === 'sending').length;
  const ready = all.filter(({ state, mode }) => state === 'queued' && mode === currentMode());
  for (const { key } of ready.slice(0, Math.max(0, AT_ONCE - busy))) void begin(key);
}

export function pauseUpload(key: string): void {
  stop(key);
  updateItem(key, { state: 'paused', speed: null, retryAt: null });
  pump();
}

/** Continues a paused, failed or waiting upload. */
export function continueUpload(key: string): void {
  stop(key);
  updateItem(key, { state: 'queued', retries: 0, retryAt: null, failure: null });
  pump();
}

/** Removes an upload from the queue; its session remains and can be resumed. */
export function dismissUpload(key: string): void {
  stop(key);
  removeItem(key);
  pump();
}

function stop(key: string): void {
  stops.get(key)?.();
  stops.delete(key);
}

async function begin(key: string): Promise<void> {
  const item = itemOf(key);
  if (item === undefined) return;
  updateItem(key, { state: 'preparing' });
  try {
    if (item.uploadUrl === null) {
      const session = await sessionFor(item);
      const isNew = item.uploadId !== session.id;
      updateItem(key, factsOf(session));
      if (isNew) refreshVideos();
      if (session.status === 'COMPLETED') return finish(key);
    }
    const { startTransfer } = await import('./transfer.ts');
    const ready = itemOf(key);
    // Paused or dismissed in the meantime.
    if (ready?.state !== 'preparing' || ready.uploadUrl === null) return;
    updateItem(key, { state: 'sending' });
    const target = { uploadUrl: ready.uploadUrl, chunkSize: ready.chunkSize };
    stops.set(key, startTransfer(ready.file, target, reporter(key)));
  } catch (error) {
    const failure = error instanceof ApiError ? error : new ApiError({ status: 0, code: '', message: '' });
    fail(key, failure);
  }
}

function factsOf({ id, videoId, uploadUrl, chunkSizeBytes, receivedBytes }: Shape<'Upload'>) {
  return {
    uploadId: id,
    videoId,
    uploadUrl: uploadUrl === null ? null : ownPath(uploadUrl),
    chunkSize: chunkSizeBytes,
    sentBytes: receivedBytes,
  };
}

function reporter(key: string) {
  const meter = createSpeedMeter();
  let shownMs = 0;
  return {
    progress(sentBytes: number) {
      const now = performance.now();
      if (now - shownMs < PROGRESS_MS) return;
      shownMs = now;
      updateItem(key, { sentBytes, speed: meter.add(sentBytes, now), retries: 0, failure: null });
    },
    done: () => finish(key),
    failed: ({ status, code, message }: TransferFailure) =>
      fail(key, new ApiError({ status: status ?? 0, code: code ?? 'API_UNREACHABLE', message })),
  };
}

function finish(key: string): void {
  stops.delete(key);
  const item = itemOf(key);
  if (item === undefined) return;
  if (item.uploadId !== null) forgetUpload(item.uploadId);
  updateItem(key, { state: 'done', sentBytes: item.file.size, speed: null, failure: null });
  refreshVideos();
  pump();
}

/** Tries again by itself where that may help, with growing pauses; the rest is for the user to decide. */
function fail(key: string, failure: ApiError): void {
  stops.delete(key);
  const item = itemOf(key);
  if (item === undefined || item.state === 'paused') return;
  const { status } = failure;
  const mayPass = status === 0 || status >= 500 || PASSING.has(status);
  if (!mayPass) {
    updateItem(key, { state: 'failed', speed: null, failure });
  } else {
    const pauseMs = Math.min(LAST_RETRY_MS, FIRST_RETRY_MS * 2 ** item.retries);
    const timer = setTimeout(() => wake(key), pauseMs);
    stops.set(key, () => clearTimeout(timer));
    const retryAt = Date.now() + pauseMs;
    updateItem(key, { state: 'waiting', speed: null, retries: item.retries + 1, retryAt, failure });
  }
  pump();
}

/** Retries an upload whose delay has passed, or after the network is back. */
function wake(key: string): void {
  if (itemOf(key)?.state !== 'waiting') return;
  stop(key);
  updateItem(key, { state: 'queued', retryAt: null });
  pump();
}

function refreshVideos(): void {
  void refreshVideo();
  void queries.invalidateQueries({ queryKey: ['get', '/upload'] });
}

window.addEventListener('online', () => {
  for (const { key } of items.get()) wake(key);
});

window.addEventListener('beforeunload', (event) => {
  if (items.get().some(isUnfinished)) event.preventDefault();
});

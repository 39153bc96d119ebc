import type { ApiError } from '../../../app/api-error.ts';
import type { Mode } from '../../../app/mode.ts';
import { Store } from '../../../app/store.ts';

/**
 * `queued` waits for its turn, `preparing` for its session, `waiting` for the next try; `paused` and `failed` wait for
 * the user.
 */
export type UploadState = 'queued' | 'preparing' | 'sending' | 'waiting' | 'paused' | 'failed' | 'done';

/** One file of the queue. */
export interface UploadItem {
  key: string;
  file: File;
  fingerprint: string;
  /** Mode of the workspace that the video is created in. */
  mode: Mode;
  state: UploadState;
  /** Null before the session is known. */
  uploadId: string | null;
  videoId: string | null;
  /** The file replaces that of its video, which is unchanged if the upload is canceled. */
  replaces: boolean;
  uploadUrl: string | null;
  chunkSize: number;
  sentBytes: number;
  /** Bytes a second; null before it is known. */
  speed: number | null;
  /** Tries since the last byte that went through. */
  retries: number;
  /** Time of the next retry, in milliseconds; null unless it is waiting. */
  retryAt: number | null;
  /** Error of the last attempt. Cleared when the upload continues or is dismissed. */
  failure: ApiError | null;
}

/** Upload queue. It outlives the pages, so uploads continue during navigation. */
export const items = new Store<readonly UploadItem[]>([]);

export function itemOf(key: string): UploadItem | undefined {
  return items.get().find((item) => item.key === key);
}

export function updateItem(key: string, changes: Partial<UploadItem>): void {
  items.set(items.get().map((item) => (item.key === key ? { ...item, ...changes } : item)));
}

export function removeItem(key: string): void {
  items.set(items.get().filter((item) => item.key !== key));
}

/** Reports whether leaving the page would interrupt the upload. */
export function isUnfinished({ state }: UploadItem): boolean {
  return state !== 'done' && state !== 'failed';
}

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
  /** Of the workspace that the video is made in. */
  mode: Mode;
  state: UploadState;
  /** Null before the session is known. */
  uploadId: string | null;
  videoId: string | null;
  /** The file is to replace that of its video, which stays as it is when the upload is given up. */
  replaces: boolean;
  uploadUrl: string | null;
  chunkSize: number;
  sentBytes: number;
  /** Bytes a second; null before it is known. */
  speed: number | null;
  /** Tries since the last byte that went through. */
  retries: number;
  /** Of the next try, in milliseconds; null unless it waits. */
  retryAt: number | null;
  /** Why it failed, or why it is tried again. It stays until it goes on or is dismissed. */
  failure: ApiError | null;
}

/** The queue outlives the pages: who looks at another one goes on uploading. */
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

/** Whether leaving the page would interrupt it. */
export function isUnfinished({ state }: UploadItem): boolean {
  return state !== 'done' && state !== 'failed';
}

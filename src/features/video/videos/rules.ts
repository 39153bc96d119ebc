import type { Visibility } from '../../../kernel/visibility.ts';
import type { VideoStatus } from '../../../platform/db/tables.generated.ts';

/**
 * Step of a video: its file has arrived, a worker picks it, every rung is ready, an error, a retry; it is
 * fetched again.
 */
export type VideoStep = 'received' | 'picked' | 'completed' | 'failed' | 'retry' | 'awaited';

const STEPS: Readonly<Record<VideoStep, { from: readonly VideoStatus[]; to: VideoStatus }>> = {
  received: { from: ['UPLOADING'], to: 'QUEUED' },
  picked: { from: ['QUEUED'], to: 'PROCESSING' },
  completed: { from: ['PROCESSING'], to: 'READY' },
  failed: { from: ['UPLOADING', 'QUEUED', 'PROCESSING'], to: 'FAILED' },
  retry: { from: ['FAILED'], to: 'QUEUED' },
  awaited: { from: ['FAILED'], to: 'UPLOADING' },
};

/** @returns where the step leads, or null when it does not apply and changes nothing. */
export function nextStatus(status: VideoStatus, step: VideoStep): VideoStatus | null {
  const { from, to } = STEPS[step];
  return from.includes(status) ? to : null;
}

/** `attempt` counts processings that were announced; `revision` counts retries, each with files of its own. */
export interface Attempts {
  revision: number;
  attempt: number;
}

/**
 * Determines the attempt when a worker picks the video.
 *
 * @returns whether `video.processing.started` is due: a retry has already emitted it.
 */
export function pickAttempt({ revision, attempt }: Attempts): { attempt: number; isNews: boolean } {
  return attempt > revision ? { attempt, isNews: false } : { attempt: revision + 1, isNews: true };
}

/** A retry writes into a new revision, so that no two runs share a file, and announces it. */
export function retryAttempt({ revision }: Attempts): Attempts {
  return { revision: revision + 1, attempt: revision + 2 };
}

export interface Publication {
  status: VideoStatus;
  visibility: Visibility;
  /** When it was first shown; never taken back. */
  publishedAt: Date | null;
}

export interface Published {
  publishedAt: Date | null;
  event: 'video.published' | 'video.unpublished' | null;
}

/**
 * The visibility changes: a READY video that leaves PRIVATE for the first time is published
 * (docs/concepts/videos.md#states).
 */
export function changeVisibility(before: Publication, to: Visibility, now: Date): Published {
  const { status, visibility: from, publishedAt } = before;
  if (status !== 'READY' || from === to) return { publishedAt, event: null };
  if (to === 'PRIVATE') return { publishedAt, event: 'video.unpublished' };
  return publishedAt === null ? { publishedAt: now, event: 'video.published' } : { publishedAt, event: null };
}

/** A video that becomes READY while it is not PRIVATE is published then, without an event of its own. */
export function publishedAtReady({ visibility, publishedAt }: Omit<Publication, 'status'>, now: Date) {
  return visibility === 'PRIVATE' ? publishedAt : (publishedAt ?? now);
}

const COUNTED_SEC = 10;
const COUNTED_SHARE = 0.25;

/** Reports whether a viewer has watched enough to be counted: 10 seconds, or a quarter of a shorter video. */
export function isView(positionSec: number, durationSec: number | null): boolean {
  return positionSec >= Math.min(COUNTED_SEC, (durationSec ?? Number.POSITIVE_INFINITY) * COUNTED_SHARE);
}

/** `16:9`; null while the size is not known. */
export function aspectRatio(width: number | null, height: number | null): string | null {
  if (width === null || height === null || width < 1 || height < 1) return null;
  const divisor = gcd(width, height);
  return `${width / divisor}:${height / divisor}`;
}

function gcd(a: number, b: number): number {
  return b === 0 ? a : gcd(b, a % b);
}

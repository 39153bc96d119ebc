import type { Logger } from '../../../../platform/logger.ts';

const EVERY_MS = 2000;

/**
 * Passes on how far a run is, at most every two seconds and one write at a time
 * (docs/decisions/transcoding.md#progress).
 */
export interface ProgressWriter {
  /** 0 to 1. */
  report(fraction: number): void;
  /** Resolves after the last write; later reports are ignored. */
  end(): Promise<void>;
}

export function createProgressWriter(
  write: (percent: number) => Promise<void>,
  log: Pick<Logger, 'warn'>,
): ProgressWriter {
  let lastMs = Number.NEGATIVE_INFINITY;
  let writing: Promise<void> | null = null;
  let ended = false;
  return {
    report(fraction) {
      const nowMs = performance.now();
      if (ended || writing !== null || nowMs - lastMs < EVERY_MS) return;
      lastMs = nowMs;
      writing = write(Math.min(1, Math.max(0, fraction)) * 100)
        .catch((error: unknown) => log.warn({ err: error }, 'the progress of a video could not be stored'))
        .finally(() => {
          writing = null;
        });
    },
    async end() {
      ended = true;
      await writing;
    },
  };
}

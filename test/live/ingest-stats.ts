import { systemClock } from '../../src/kernel/clock.ts';
import type { IngestStats } from '../../src/media/contract/index.ts';

/** Returns the statistics of a good signal. */
export function ingestStats(changes: Partial<IngestStats> = {}): IngestStats {
  return {
    sessionId: 'a',
    bytes: 1000,
    bitrateKbps: 512,
    fps: 30,
    keyframeIntervalMs: 1000,
    lastMediaAtMs: systemClock.ms(),
    droppedFrames: 0,
    lateFrames: 0,
    avDriftMs: 20,
    mediaMs: 1000,
    issues: [],
    ...changes,
  };
}

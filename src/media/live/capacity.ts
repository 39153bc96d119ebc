import { availableParallelism } from 'node:os';
import type { Hardware } from '../ffmpeg/hardware.ts';
import { encodesInHardware, type LadderPlan } from './ladder.ts';

/** What encodes for the processor. */
export interface LiveHardware {
  hardware: Hardware;
  /** Rungs at once. */
  sessions: number;
}

/** What live transcodes may use of the node. */
interface Capacity {
  /** CPU cores; three quarters of those of the machine unless told otherwise. */
  cores?: number;
  hardware?: () => LiveHardware | null;
}

/** The rest is for ingest, the API and the database: a transcode that falls behind is worse than none. */
const TRANSCODE_SHARE = 0.75;

/** What the plans that run have left of it. */
export function remainingCapacity(
  { cores = availableParallelism() * TRANSCODE_SHARE, hardware }: Capacity,
  running: readonly LadderPlan[],
): { coresLeft: number; sessionsLeft: number } {
  const taken = running.flatMap(({ rungs }) => rungs.filter(encodesInHardware)).length;
  const found = hardware?.() ?? null;
  const sessions = found?.hardware.can.includes('LIVE') ? found.sessions : 0;
  return {
    coresLeft: running.reduce((left, plan) => left - plan.cores, cores),
    sessionsLeft: Math.max(0, sessions - taken),
  };
}

import { availableParallelism } from 'node:os';
import type { Hardware } from '../ffmpeg/hardware.ts';
import { encodesInHardware, type LadderPlan } from './ladder.ts';

/** Hardware encoder of the node. */
export interface LiveHardware {
  hardware: Hardware;
  /** Maximum rungs encoded concurrently. */
  sessions: number;
}

/** Capacity of the node for live transcodes. */
interface Capacity {
  /** CPU cores; three quarters of the machine's by default. */
  cores?: number;
  /** Number of media processes that share them; default 1. */
  processes?: number;
  hardware?: () => LiveHardware | null;
}

/**
 * Share of the cores for transcodes. The rest is for ingest, the API and the database: a transcode that falls
 * behind is worse than none.
 */
const TRANSCODE_SHARE = 0.75;

/** Returns the capacity that the running plans leave of this process's share. */
export function remainingCapacity(
  { cores = availableParallelism() * TRANSCODE_SHARE, processes = 1, hardware }: Capacity,
  running: readonly LadderPlan[],
): { coresLeft: number; sessionsLeft: number } {
  const taken = running.flatMap(({ rungs }) => rungs.filter(encodesInHardware)).length;
  const found = hardware?.() ?? null;
  const sessions = found?.hardware.can.includes('LIVE') ? Math.floor(found.sessions / processes) : 0;
  return {
    coresLeft: running.reduce((left, plan) => left - plan.cores, cores / processes),
    sessionsLeft: Math.max(0, sessions - taken),
  };
}

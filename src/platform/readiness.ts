/** Period of the timer that measures the event loop. */
const TICK_MS = 1000;
/** Lateness of that timer beyond which the process counts as stuck. */
const MAX_LATE_MS = 2000;

type ReadinessStatus = 'STARTING' | 'OK' | 'STUCK' | 'DRAINING';

/**
 * State of a process that load balancers read from `/readyz`: only `OK` is ready. It does not depend on the
 * database, because a balancer that removes all nodes makes an outage of the database worse.
 */
export interface ProcessReadiness {
  status(): ReadinessStatus;
  /** Marks the process as started. */
  start(): void;
  /** Marks the process as draining; final. */
  drain(): void;
}

export function createProcessReadiness(): ProcessReadiness {
  let state: 'STARTING' | 'OK' | 'DRAINING' = 'STARTING';
  let timer: NodeJS.Timeout | undefined;
  let tickedAt = 0;
  let lateMs = 0;

  const tick = () => {
    const now = performance.now();
    lateMs = now - tickedAt - TICK_MS;
    tickedAt = now;
  };
  return {
    status() {
      if (state !== 'OK') return state;
      const dueMs = performance.now() - tickedAt - TICK_MS;
      return Math.max(lateMs, dueMs) > MAX_LATE_MS ? 'STUCK' : 'OK';
    },
    start() {
      if (state !== 'STARTING') return;
      state = 'OK';
      tickedAt = performance.now();
      timer = setInterval(tick, TICK_MS).unref();
    },
    drain() {
      state = 'DRAINING';
      clearInterval(timer);
    },
  };
}

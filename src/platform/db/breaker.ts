import { setTimeout as sleep } from 'node:timers/promises';

/** Pause between probes of an unavailable server. */
const PROBE_PAUSE_MS = 250;

/** Knows whether the database server is available, so that nothing waits for one that is not. */
export interface Breaker {
  /** Whether new statements fail immediately. */
  readonly isOpen: boolean;
  /** Probes the server and opens the breaker if that fails. Probes then repeat until one succeeds. */
  check(): Promise<boolean>;
  /** Opens the breaker before the probe, for a server that refuses connections. */
  trip(): void;
  close(): void;
}

interface Options {
  /** Reports whether the server responds and accepts writes. */
  probe(): Promise<boolean>;
  /** Called when a probe has failed. */
  onOutage(): void;
  onRecovery(outageMs: number): void;
}

export function createBreaker({ probe, onOutage, onRecovery }: Options): Breaker {
  let isOpen = false;
  let isOutage = false;
  let isClosed = false;
  let checking: Promise<boolean> | null = null;

  const waitForServer = async () => {
    const startMs = performance.now();
    do await sleep(PROBE_PAUSE_MS, undefined, { ref: false });
    while (!isClosed && !(await probe()));
    isOutage = false;
    isOpen = false;
    if (!isClosed) onRecovery(performance.now() - startMs);
  };
  const checkNow = async () => {
    const isAvailable = await probe();
    isOpen = !isAvailable;
    if (isAvailable || isClosed) return isAvailable;
    isOutage = true;
    onOutage();
    void waitForServer();
    return false;
  };
  const check = async () => {
    if (isOutage) return false;
    checking ??= checkNow().finally(() => {
      checking = null;
    });
    return checking;
  };
  return {
    get isOpen() {
      return isOpen;
    },
    check,
    trip() {
      if (isClosed) return;
      isOpen = true;
      void check();
    },
    close() {
      isClosed = true;
    },
  };
}

/** Watches the account of a download, which may wait for its source for half a minute. */
export interface SuspensionWatch {
  /** Aborted once the account is suspended. */
  signal: AbortSignal;
  end(): void;
}

const LOOK_MS = 1000;

/** @param isSuspended a failure is retried at the next check. */
export function watchSuspension(isSuspended: () => Promise<boolean>): SuspensionWatch {
  const controller = new AbortController();
  const look = async () => {
    if (await isSuspended().catch(() => false)) controller.abort();
  };
  const timer = setInterval(() => void look(), LOOK_MS);
  return { signal: controller.signal, end: () => clearInterval(timer) };
}

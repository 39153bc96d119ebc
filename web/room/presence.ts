/** Keeps the screen on and guards against closing the tab by mistake while in a room. */
export class Presence {
  readonly #stop = new AbortController();
  #lock: WakeLockSentinel | null = null;

  start(): void {
    const { signal } = this.#stop;
    window.addEventListener('beforeunload', (event) => event.preventDefault(), { signal });
    // The lock is lost with every change of tabs.
    document.addEventListener('visibilitychange', () => void this.#hold(), { signal });
    void this.#hold();
  }

  end(): void {
    this.#stop.abort();
    void this.#lock?.release();
    this.#lock = null;
  }

  async #hold(): Promise<void> {
    if (document.hidden || !('wakeLock' in navigator)) return;
    // Rejected on a low battery: the screen then turns off.
    const lock = await navigator.wakeLock.request('screen').catch(() => null);
    if (this.#stop.signal.aborted) void lock?.release();
    else this.#lock = lock;
  }
}

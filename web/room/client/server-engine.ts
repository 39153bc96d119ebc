import type { EngineHost, LocalTrack, MediaEngine, TrackSource } from './media-engine.ts';
import type { Signal } from './protocol.ts';

/** Base of engines with a media server: tracks to send, mutes, and a queue of operations. */
export abstract class ServerEngine implements MediaEngine {
  protected readonly host: EngineHost;
  /** Tracks to send, by source and kind. */
  protected readonly tracks = new Map<string, LocalTrack>();
  protected readonly muted = new Set<TrackSource>();
  protected isClosed = false;
  #isUp = true;
  #work: Promise<void> = Promise.resolve();

  constructor(host: EngineHost) {
    this.host = host;
  }

  publish(tracks: LocalTrack[]): Promise<void> {
    for (const local of tracks) this.tracks.set(`${local.source} ${local.track.kind}`, local);
    return this.sync();
  }

  unpublish(source: TrackSource): Promise<void> {
    for (const [key, local] of this.tracks) if (local.source === source) this.tracks.delete(key);
    return this.sync();
  }

  async setMuted(source: TrackSource, muted: boolean): Promise<void> {
    if (muted) this.muted.add(source);
    else this.muted.delete(source);
    for (const local of this.tracks.values()) if (local.source === source) local.track.enabled = !muted;
  }

  /**
   * `{op: 'open'}` announces a session for this participant; it comes with each connection to the gateway.
   */
  abstract signal(data: Signal): void;
  abstract setPeers(identities: readonly string[]): void;
  abstract close(): void;
  /** Sends exactly these tracks, once there is a server; no-op before. */
  protected abstract sync(): Promise<void>;

  /** The server sends `open` when it is available again. */
  restart(): void {}

  /** Queues an operation. A failure is logged to the console and does not block the queue. */
  protected enqueue(work: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.isClosed) return;
      await work().catch((error: unknown) => {
        if (!this.isClosed) console.warn('media', error);
      });
    });
    return this.#work;
  }

  protected tell(isUp: boolean): void {
    if (isUp === this.#isUp || this.isClosed) return;
    this.#isUp = isUp;
    this.host.onState(isUp ? 'up' : 'down');
  }
}

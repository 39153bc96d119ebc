/** Limits on what one reader of untrusted input accepts: `items` and `bytes` in every `ms` milliseconds. */
export interface ReadBudget {
  readonly items: number;
  readonly bytes: number;
  readonly ms: number;
}

const MIB = 2 ** 20;

/**
 * Budgets of the readers of untrusted input in `media/`, by reader. docs/decisions/hostile-input.md lists each with its
 * three numbers and the reason.
 */
export const READ_BUDGETS = {
  /** Messages of a bridge that wait until its publish is open. */
  bridgePublish: { items: 2000, bytes: 32 * MIB, ms: 30_000 },
  /** Files of an HLS source: playlists, keys, headers, segments. */
  hlsFetch: { items: 100, bytes: 600_000_000, ms: 10_000 },
  /** Segments of one HLS playlist, and the time to fetch it. */
  hlsPlaylist: { items: 2000, bytes: 1_000_000, ms: 10_000 },
  /** Messages of a bridge that wait for their time. */
  playoutQueue: { items: 32_768, bytes: 128 * MIB, ms: 300_000 },
  /** Frames of one track of a bridge. */
  playoutTrack: { items: 20_000, bytes: 1_200_000_000, ms: 20_000 },
  /** Messages of one publish, for every protocol. */
  publish: { items: 4000, bytes: 64 * MIB, ms: 2000 },
  /** RTP packets of one track of a room that is broadcast. */
  roomTrack: { items: 4000, bytes: 8 * MIB, ms: 2000 },
  /** Messages of an RTMP client before its publish is accepted. */
  rtmpCommands: { items: 256, bytes: MIB, ms: 10_000 },
  /** Messages of an RTMP server that a stream is pulled from. */
  rtmpPull: { items: 4000, bytes: 128 * MIB, ms: 2000 },
  /** Messages of an RTMP server that a stream is sent to. */
  rtmpReplies: { items: 65_536, bytes: 4 * MIB, ms: 256_000 },
  /** Packets, responses and reads of an RTSP source. */
  rtspConnection: { items: 100_000, bytes: 600_000_000, ms: 10_000 },
  /** Lines of the session description of an RTSP source, and the time for a response. */
  rtspDescription: { items: 2000, bytes: 128 * 1024, ms: 8000 },
  /** Control packets of an SRT peer: acknowledgements, loss reports, drop requests. */
  srtControl: { items: 2000, bytes: 4 * MIB, ms: 2000 },
  /** Data packets of an SRT source. */
  srtData: { items: 100_000, bytes: 128 * MIB, ms: 2000 },
  /** Opus packets of a WHIP client. */
  whipAudio: { items: 1000, bytes: MIB, ms: 2000 },
  /** H.264 packets of a WHIP client. */
  whipVideo: { items: 80_000, bytes: 64 * MIB, ms: 2000 },
} satisfies Record<string, ReadBudget>;

/**
 * Token bucket over a budget: limits the average over `ms` milliseconds, so a burst of a whole budget is
 * accepted.
 */
export class ReadMeter {
  readonly #itemsPerMs: number;
  readonly #bytesPerMs: number;
  readonly #windowMs: number;
  readonly #now: () => number;
  #items = 0;
  #bytes = 0;
  #atMs: number;

  /** @param now milliseconds of a monotonic clock. */
  constructor({ items, bytes, ms }: ReadBudget, now = () => performance.now()) {
    this.#itemsPerMs = items / ms;
    this.#bytesPerMs = bytes / ms;
    this.#windowMs = ms;
    this.#now = now;
    this.#atMs = now();
  }

  /** Counts input. @returns milliseconds until the budget holds again: 0 while it does. */
  add(items: number, bytes: number): number {
    const nowMs = this.#now();
    const elapsedMs = nowMs - this.#atMs;
    this.#atMs = nowMs;
    this.#items = Math.max(0, this.#items - elapsedMs * this.#itemsPerMs) + items;
    this.#bytes = Math.max(0, this.#bytes - elapsedMs * this.#bytesPerMs) + bytes;
    return Math.max(
      0,
      Math.max(this.#items / this.#itemsPerMs, this.#bytes / this.#bytesPerMs) - this.#windowMs,
    );
  }
}

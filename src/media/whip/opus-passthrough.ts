/** A packet of Opus as its client has sent it. */
export interface OpusPacket {
  /** Time on the timeline of the video published with it. */
  ms: number;
  /** Ticks of the client at 48 kHz; they begin at any value, and never start over. */
  ticks: number;
  /** Data in memory of its own. */
  data: Buffer;
}

type Listener = (packet: OpusPacket) => void;

/** Opus of WHIP publishes, for consumers of Opus: the publish itself contains AAC instead. */
export class OpusPassthrough {
  readonly #listeners = new Map<string, Listener>();

  /** @param sessionId of the publish. */
  tell(sessionId: string, packet: OpusPacket): void {
    this.#listeners.get(sessionId)?.(packet);
  }

  /** One for each publish. @returns ends it. */
  listen(sessionId: string, listener: Listener): () => void {
    this.#listeners.set(sessionId, listener);
    return () => {
      if (this.#listeners.get(sessionId) === listener) this.#listeners.delete(sessionId);
    };
  }
}

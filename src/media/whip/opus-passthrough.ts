/** A packet of Opus as its client has sent it. */
export interface OpusPacket {
  /** On the line of the pictures that are published with it. */
  ms: number;
  /** As the client counts, at 48 kHz; they begin anywhere, and never anew. */
  ticks: number;
  /** In memory of its own. */
  data: Buffer;
}

type Listener = (packet: OpusPacket) => void;

/** The Opus of publishes by WHIP, for those who take just that: what is published has AAC in its place. */
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

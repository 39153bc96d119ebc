import type { JanusClient, JanusHandle, PluginEvent } from './client.ts';
import { readDescription } from './sources.ts';

type Json = Record<string, unknown>;

/** Stream published in the room. */
interface PublishedStream {
  feed: string;
  mid: string;
}

interface Options {
  client: JanusClient;
  room: string;
  /** Links it to the participant, so that a kick ends it too. */
  privateId: number;
  /** To the browser. */
  send(signal: Json): void;
  onError(error: unknown): void;
}

type Request = 'again' | 'restart' | 'candidates';

/**
 * Receiving side of one browser, in one peer connection that is renegotiated when published streams change.
 * Janus offers, and delays a further offer until the last one was answered.
 */
export class Receiver {
  readonly #options: Options;
  readonly #published = new Map<string, Set<string>>();
  readonly #subscribed = new Set<string>();
  #handle: Promise<JanusHandle> | null = null;
  #work: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #isWanted = false;
  /** Pending requests of the browser: one of each kind, however often it asks. */
  readonly #waiting = new Set<Request>();
  /** Number of offers that the browser has not answered. */
  #answersDue = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /**
   * Updates the streams that a feed publishes. Subscribes only after the browser has requested it ({@link
   * again}).
   */
  published(feed: string, mids: readonly string[]): void {
    this.#published.set(feed, new Set(mids));
    if (this.#isWanted) this.#enqueue(() => this.#follow());
  }

  /** Forgets a feed whose streams Janus removes by itself. */
  gone(feed: string): void {
    this.#published.delete(feed);
    for (const key of [...this.#subscribed]) if (feedOf(key) === feed) this.#subscribed.delete(key);
  }

  /** Handles an answer of the browser; dropped when there is no pending offer. */
  answer(sdp: string): void {
    if (this.#answersDue === 0) return;
    this.#answersDue -= 1;
    this.#enqueue(async () => (await this.#handle)?.send({ request: 'start' }, { type: 'answer', sdp }));
  }

  /** Handles the end of the browser's candidates. */
  endCandidates(): void {
    this.#once('candidates', async () => (await this.#handle)?.trickle(null));
  }

  /** Sends an offer with new ICE credentials, for a browser that has changed its network. */
  restart(): void {
    this.#once('restart', async () => {
      const handle = await this.#handle;
      if (handle !== null) this.#offer(await handle.send({ request: 'configure', restart: true }));
    });
  }

  /** Starts over in a new peer connection, for a browser that has lost its own. */
  again(): void {
    this.#isWanted = true;
    this.#once('again', async () => {
      await this.#drop();
      await this.#follow();
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#drop();
  }

  #once(request: Request, work: () => Promise<unknown>): void {
    if (this.#waiting.has(request)) return;
    this.#waiting.add(request);
    this.#enqueue(() => {
      this.#waiting.delete(request);
      return work();
    });
  }

  #enqueue(work: () => Promise<unknown>): void {
    this.#work = this.#work
      .then(async () => {
        if (!this.#isClosed) await work();
      })
      .catch(this.#options.onError);
  }

  async #drop(): Promise<void> {
    const handle = this.#handle;
    this.#handle = null;
    this.#answersDue = 0;
    this.#subscribed.clear();
    await (await handle?.catch(() => null))?.detach();
  }

  /** Subscribes to new streams and unsubscribes from those no longer published. */
  async #follow(): Promise<void> {
    const published = [...this.#published].flatMap(([feed, mids]) =>
      [...mids].map((mid) => keyOf(feed, mid)),
    );
    const former = [...this.#subscribed].filter((key) => !published.includes(key));
    const fresh = published.filter((key) => !this.#subscribed.has(key));
    for (const key of former) this.#subscribed.delete(key);
    if (former.length > 0 && this.#handle !== null) {
      const handle = await this.#handle;
      this.#offer(await handle.send({ request: 'unsubscribe', streams: former.map(streamOf) }));
    }
    if (fresh.length === 0) return;
    for (const key of fresh) this.#subscribed.add(key);
    try {
      this.#offer(await this.#ask(fresh.map(streamOf)));
    } catch (error) {
      // One of the streams may just have ended: the others are subscribed with the next update.
      for (const key of fresh) this.#subscribed.delete(key);
      throw error;
    }
  }

  async #ask(streams: readonly PublishedStream[]): Promise<PluginEvent> {
    if (this.#handle !== null) {
      const handle = await this.#handle;
      return handle.send({ request: 'subscribe', streams });
    }
    const { client, room, privateId } = this.#options;
    const attached = client.attach({
      onEvent: (event) => this.#offer(event),
      onTrickle: (candidate) => this.#options.send({ op: 'candidate', pc: 'receive', candidate }),
      onPeer: (state) => {
        if (state === 'hangup' && this.#handle === attached)
          this.#options.send({ op: 'lost', pc: 'receive' });
      },
      onDetached: () => {},
    });
    this.#handle = attached;
    try {
      const handle = await attached;
      return await handle.send({
        request: 'join',
        ptype: 'subscriber',
        room,
        private_id: privateId,
        use_msid: false,
        streams,
      });
    } catch (error) {
      await this.#drop();
      throw error;
    }
  }

  #offer({ data, jsep }: PluginEvent): void {
    if (jsep?.type !== 'offer') return;
    const streams = Array.isArray(data.streams) ? data.streams : [];
    this.#answersDue += 1;
    this.#options.send({ op: 'offer', sdp: jsep.sdp, streams: streams.flatMap(toStream) });
  }
}

const keyOf = (feed: string, mid: string) => `${feed} ${mid}`;
const feedOf = (key: string) => key.slice(0, key.indexOf(' '));

function streamOf(key: string): PublishedStream {
  const feed = feedOf(key);
  return { feed, mid: key.slice(feed.length + 1) };
}

/** Returns `{mid, identity, source}` of a stream for the browser. */
function toStream(stream: Json): Json[] {
  const known = readDescription(stream.feed_description);
  if (known === null || stream.active !== true) return [];
  return [{ mid: stream.mid, ...known }];
}

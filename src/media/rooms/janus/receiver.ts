import type { JanusClient, JanusHandle, PluginEvent } from './client.ts';
import { readDescription } from './sources.ts';

type Json = Record<string, unknown>;

/** A stream that somebody publishes in the room. */
interface PublishedStream {
  feed: string;
  mid: string;
}

interface Options {
  client: JanusClient;
  room: string;
  /** Ties it to the participant, so that a kick ends it too. */
  privateId: number;
  /** To the browser. */
  send(signal: Json): void;
  onError(error: unknown): void;
}

type Request = 'again' | 'restart' | 'candidates';

/**
 * All that one browser receives, in one peer connection, which grows and is negotiated anew with what is published.
 * Janus offers, and keeps a further offer back until the last one was answered.
 */
export class Receiver {
  readonly #options: Options;
  readonly #published = new Map<string, Set<string>>();
  readonly #subscribed = new Set<string>();
  #handle: Promise<JanusHandle> | null = null;
  #work: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  #isWanted = false;
  /** Requests of the browser that wait: one of each kind, however often it asks. */
  readonly #waiting = new Set<Request>();
  /** Offers that the browser has not answered. */
  #answersDue = 0;

  constructor(options: Options) {
    this.#options = options;
  }

  /** What a feed publishes now. Nothing is asked for before the browser has said that it is there ({@link again}). */
  published(feed: string, mids: readonly string[]): void {
    this.#published.set(feed, new Set(mids));
    if (this.#isWanted) this.#enqueue(() => this.#follow());
  }

  /** Janus takes its streams out by itself. */
  gone(feed: string): void {
    this.#published.delete(feed);
    for (const key of [...this.#subscribed]) if (feedOf(key) === feed) this.#subscribed.delete(key);
  }

  /** An answer to no offer is dropped. */
  answer(sdp: string): void {
    if (this.#answersDue === 0) return;
    this.#answersDue -= 1;
    this.#enqueue(async () => (await this.#handle)?.send({ request: 'start' }, { type: 'answer', sdp }));
  }

  /** The browser has no further candidates. */
  endCandidates(): void {
    this.#once('candidates', async () => (await this.#handle)?.trickle(null));
  }

  /** A new offer with new ICE credentials, for a browser that has changed its network. */
  restart(): void {
    this.#once('restart', async () => {
      const handle = await this.#handle;
      if (handle !== null) this.#offer(await handle.send({ request: 'configure', restart: true }));
    });
  }

  /** For a browser that has lost its peer connection: all over again, in a new one. */
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

  /** Asks for what is published, and gives back what is so no longer. */
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
      // It may have been one that has just gone: what is still there is asked for with the next one.
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

/** As `{mid, identity, source}` in the browser's terms. */
function toStream(stream: Json): Json[] {
  const known = readDescription(stream.feed_description);
  if (known === null || stream.active !== true) return [];
  return [{ mid: stream.mid, ...known }];
}

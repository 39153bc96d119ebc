import type { Writable } from 'node:stream';
import type { PushUrl } from '../../kernel/push-url.ts';
import type { Dialer } from '../../platform/outbound/dialer.ts';
import { flvHeader, flvTag } from '../protocols/flv/tags.ts';
import { SrtClient } from '../protocols/srt/client.ts';
import { createSrtKey, type SrtKeyLength } from '../protocols/srt/crypto.ts';
import { PushError, toPushError } from './failure.ts';
import type { Feed } from './feed.ts';
import type { FeedItem } from './feed-item.ts';
import type { PushSession } from './push-session.ts';

/** Program that remuxes FLV to MPEG-TS as it arrives. */
export interface Mux {
  stdin: Writable;
  /** Why it has ended, in one line. */
  ended: Promise<string>;
  stop(): Promise<void>;
}
export type Muxer = (onBytes: (bytes: Buffer) => void) => Promise<Mux>;

export interface SrtPushOptions {
  outbound: Pick<Dialer, 'datagrams'>;
  feed: Feed;
  address: PushUrl;
  streamKey: string | null;
  passphrase: string | null;
  muxer: Muxer;
}

const RESOLVE_MS = 5000;
const DEFAULT_LATENCY_MS = 200;
/** Limit of bytes waiting for the program, which reads as fast as data arrives unless it is stuck. */
const MAX_QUEUED_BYTES = 16 * 2 ** 20;

/** @returns when the destination has accepted. @throws {PushError} */
export async function pushSrt(options: SrtPushOptions): Promise<PushSession> {
  const { outbound, address, streamKey, passphrase, muxer, feed } = options;
  const { guarded: url, port, query } = address;
  const key = passphrase === null ? null : await createSrtKey(passphrase, keyLengthOf(query));
  const socket = await outbound
    .datagrams({ url, port, timeoutMs: RESOLVE_MS })
    .catch((error: unknown) => Promise.reject(toPushError(error)));
  const latencyMs = Number(query.get('latency') ?? DEFAULT_LATENCY_MS);
  const client = new SrtClient({ socket, streamId: streamKey, latencyMs, key });
  await client.accepted;
  try {
    const mux = await muxer((bytes) => client.write(bytes));
    return new SrtPush(client, mux, feed);
  } catch (error) {
    client.end();
    throw toPushError(error);
  }
}

function keyLengthOf(query: URLSearchParams): SrtKeyLength {
  const length = query.get('pbkeylen');
  if (length === '24') return 24;
  return length === '32' ? 32 : 16;
}

class SrtPush implements PushSession {
  readonly closed: Promise<PushError | null>;
  readonly #client: SrtClient;
  readonly #mux: Mux;
  readonly #detach: () => void;

  constructor(client: SrtClient, mux: Mux, feed: Feed) {
    this.#client = client;
    this.#mux = mux;
    const wrong = Promise.withResolvers<PushError>();
    const writer = new FlvWriter(mux.stdin, feed, wrong.resolve);
    this.#detach = feed.attach(writer);
    const muxed = mux.ended.then(
      (why) => new PushError('normal', `The broadcast could not be converted to MPEG-TS: ${why}.`),
    );
    this.closed = Promise.race([client.closed, muxed, wrong.promise]).then(async (failure) => {
      this.#detach();
      client.end();
      await mux.stop();
      return failure;
    });
  }

  sentBytes(): number {
    return this.#client.sentBytes;
  }

  async end(): Promise<void> {
    this.#detach();
    this.#client.end();
    await this.#mux.stop();
  }
}

/** The feed as one FLV file. */
class FlvWriter {
  readonly #out: Writable;
  readonly #fail: (failure: PushError) => void;
  readonly #headers = new Map<number, Buffer>();
  #isCorked = false;

  constructor(out: Writable, { codecs }: Feed, fail: (failure: PushError) => void) {
    this.#out = out;
    this.#fail = fail;
    out.write(flvHeader({ video: codecs.video !== null, audio: codecs.audio !== null }));
  }

  item({ type, timestamp, payload, kind }: FeedItem): void {
    if (kind === 'header') {
      const known = this.#headers.get(type);
      // MPEG-TS has no place for another one: it takes a program that begins with it.
      if (known && !known.equals(payload)) {
        this.#fail(new PushError('normal', 'The encoder settings changed; reconnecting.'));
      }
      if (known) return;
      this.#headers.set(type, Buffer.from(payload));
    }
    if (!this.#isCorked) this.#out.cork();
    this.#isCorked = true;
    this.#out.write(flvTag(type, timestamp, payload));
  }

  flush(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    this.#out.uncork();
    if (this.#out.writableLength > MAX_QUEUED_BYTES) {
      this.#fail(new PushError('normal', 'Converting the broadcast to MPEG-TS timed out.'));
    }
  }
}

import type { Socket } from 'node:net';
import type { PushAddress } from '../../kernel/push-address.ts';
import type { Dialer } from '../../platform/outbound/dialer.ts';
import { FlvTagType } from '../ingest/flv.ts';
import { failureOf, PushFailure } from './failure.ts';
import type { Feed } from './feed.ts';
import type { FeedItem } from './feed-item.ts';
import type { PushSession } from './push-session.ts';
import { CHUNK_BYTES, RtmpClient, SET_DATA_FRAME } from './rtmp-client.ts';

export interface PushOptions {
  outbound: Dialer;
  feed: Feed;
  address: PushAddress;
  streamKey: string;
}

const CONNECT_MS = 8000;
/** From the connection to the accepted publish. */
const ACCEPT_MS = 8000;
/** A destination that takes less than is sent is let go before it costs memory: docs/decisions/restreams.md#bounds. */
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
const MAX_BEHIND_MS = 10_000;
const CHECK_MS = 1000;
const LEAVE_MS = 500;
const NO_BYTES = Buffer.alloc(0);

/** @returns when the destination has accepted. @throws {PushFailure} */
export async function pushRtmp(options: PushOptions): Promise<PushSession> {
  const { outbound, address } = options;
  const { guarded: url, port, scheme } = address;
  const socket = await outbound
    .connect({ url, port, tls: scheme === 'rtmps', timeoutMs: CONNECT_MS })
    .catch((error: unknown) => Promise.reject(failureOf(error)));
  const push = new RtmpPush(socket, options);
  await push.accepted;
  return push;
}

class RtmpPush implements PushSession {
  readonly accepted: Promise<void>;
  readonly closed: Promise<PushFailure | null>;
  readonly #socket: Socket;
  readonly #client: RtmpClient;
  readonly #writer: RtmpWriter;
  readonly #close: (failure: PushFailure | null) => void;
  #detach = () => {};
  #isOver = false;

  constructor(socket: Socket, { feed, address, streamKey }: PushOptions) {
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<PushFailure | null>();
    this.accepted = accepted.promise;
    this.closed = closed.promise;
    this.#socket = socket;
    this.#writer = new RtmpWriter(socket, (failure) => this.#over(failure));
    const late = setTimeout(
      () => this.#over(new PushFailure('normal', 'The destination does not accept the publish in time.')),
      ACCEPT_MS,
    );
    this.#close = (failure) => {
      clearTimeout(late);
      if (failure !== null) accepted.reject(failure);
      closed.resolve(failure);
    };
    socket.setKeepAlive(true, 15_000);
    socket.on('error', (error) => this.#over(this.#client.isAsking ? dropped() : failureOf(error)));
    socket.on('close', () => this.#over(this.#client.isAsking ? dropped() : hungUp()));
    this.#client = new RtmpClient({
      socket,
      address,
      streamKey,
      onAccepted: () => {
        clearTimeout(late);
        this.#writer.begin(this.#client.messageStream);
        this.#detach = feed.attach(this.#writer);
        accepted.resolve();
      },
      onFailure: (failure) => this.#over(failure),
    });
  }

  sentBytes(): number {
    return this.#writer.sentBytes;
  }

  async end(): Promise<void> {
    if (this.#isOver) return;
    this.#stop();
    this.#client.leave();
    const gone = new Promise<void>((resolve) => this.#socket.once('close', () => resolve()));
    this.#socket.end();
    // What is queued is not waited for: the end is now.
    const force = setTimeout(() => this.#socket.destroy(), LEAVE_MS);
    await gone;
    clearTimeout(force);
    this.#close(null);
  }

  #over(failure: PushFailure): void {
    if (this.#isOver) return;
    this.#stop();
    this.#socket.destroy();
    this.#close(failure);
  }

  #stop(): void {
    this.#isOver = true;
    this.#detach();
    this.#writer.stop();
  }
}

const hungUp = () => new PushFailure('normal', 'The destination has closed the connection.');
const dropped = () =>
  new PushFailure('dropped', 'The destination hangs up instead of accepting the stream key. Check the key.');

/** Chunk streams as encoders use them. */
const CHUNK_STREAMS: Readonly<Record<number, number>> = {
  [FlvTagType.audio]: 4,
  [FlvTagType.video]: 6,
  [FlvTagType.script]: 5,
};

/** Frames as messages: the bytes are those of the feed, shared by all destinations; a message's own is its header. */
class RtmpWriter {
  readonly #socket: Socket;
  readonly #fail: (failure: PushFailure) => void;
  /** The time of the last message, by chunk stream. */
  readonly #times = new Map<number, number>();
  /** When what the network has not taken yet was written, oldest first. */
  readonly #pending: number[] = [];
  readonly #timer: NodeJS.Timeout;
  #messageStream = 0;
  #origin: number | null = null;
  #batchBytes = 0;
  #isCorked = false;
  sentBytes = 0;

  constructor(socket: Socket, fail: (failure: PushFailure) => void) {
    this.#socket = socket;
    this.#fail = fail;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
  }

  begin(messageStream: number): void {
    this.#messageStream = messageStream;
  }

  stop(): void {
    clearInterval(this.#timer);
    if (this.#isCorked) this.#socket.uncork();
    this.#isCorked = false;
  }

  item(item: FeedItem): void {
    const chunkStream = CHUNK_STREAMS[item.type];
    if (chunkStream === undefined) return;
    if (!this.#isCorked) {
      this.#isCorked = true;
      this.#socket.cork();
    }
    // A destination sees a broadcast that begins when it comes.
    this.#origin ??= item.timestamp;
    const payload = item.kind === 'data' ? Buffer.concat([SET_DATA_FRAME, item.payload]) : item.payload;
    const time = Math.max(0, item.timestamp - this.#origin);
    this.#socket.write(this.#header(chunkStream, item.type, time, payload.length));
    this.#socket.write(chunked(payload, chunkStream));
    this.#batchBytes += payload.length;
  }

  flush(): void {
    if (!this.#isCorked) return;
    this.#isCorked = false;
    const bytes = this.#batchBytes;
    this.#batchBytes = 0;
    this.#pending.push(performance.now());
    this.#socket.write(NO_BYTES, (error) => {
      this.#pending.shift();
      if (!error) this.sentBytes += bytes;
    });
    this.#socket.uncork();
    this.#check();
  }

  #check(): void {
    const oldest = this.#pending[0];
    const isBehind = oldest !== undefined && performance.now() - oldest > MAX_BEHIND_MS;
    if (isBehind || this.#socket.writableLength > MAX_QUEUED_BYTES) {
      this.#fail(
        new PushFailure('normal', 'The destination takes less than is sent; the connection was given up.'),
      );
    }
  }

  /** The first of a chunk stream says all; those behind it how much later they are (sections 5.3.1.2.1, 5.3.1.2.2). */
  #header(chunkStream: number, type: number, time: number, length: number): Buffer {
    const last = this.#times.get(chunkStream);
    const now = last === undefined ? time : Math.max(last, time);
    this.#times.set(chunkStream, now);
    const isFirst = last === undefined;
    const header = Buffer.allocUnsafe(isFirst ? 12 : 8);
    header[0] = isFirst ? chunkStream : 0x40 | chunkStream;
    header.writeUIntBE(isFirst ? now : now - last, 1, 3);
    header.writeUIntBE(length, 4, 3);
    header[7] = type;
    if (isFirst) header.writeUInt32LE(this.#messageStream, 8);
    return header;
  }
}

/** The last one that was cut: all destinations of a broadcast ask for the same, one after the other. */
let lastCut: { payload: Buffer; chunks: Buffer } | null = null;

/** The payload with a header of one byte between its chunks. */
function chunked(payload: Buffer, chunkStream: number): Buffer {
  if (payload.length <= CHUNK_BYTES) return payload;
  if (lastCut?.payload === payload) return lastCut.chunks;
  const count = Math.ceil(payload.length / CHUNK_BYTES) - 1;
  const chunks = Buffer.allocUnsafeSlow(payload.length + count);
  for (let at = 0, to = 0; at < payload.length; at += CHUNK_BYTES) {
    if (at > 0) chunks[to++] = 0xc0 | chunkStream;
    to += payload.copy(chunks, to, at, at + CHUNK_BYTES);
  }
  lastCut = { payload, chunks };
  return chunks;
}

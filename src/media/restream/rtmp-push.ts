import type { Socket } from 'node:net';
import type { PushUrl } from '../../kernel/push-url.ts';
import type { Dialer } from '../../platform/outbound/dialer.ts';
import { FlvTagType } from '../protocols/flv/tags.ts';
import { CHUNK_BYTES, RtmpClient, SET_DATA_FRAME } from '../protocols/rtmp/client.ts';
import { PushError, toPushError } from './failure.ts';
import type { Feed } from './feed.ts';
import type { FeedItem } from './feed-item.ts';
import type { PushSession } from './push-session.ts';

export interface PushOptions {
  outbound: Dialer;
  feed: Feed;
  address: PushUrl;
  streamKey: string;
}

const CONNECT_MS = 8000;
/** Timeout from the connection to the accepted publish. */
const ACCEPT_MS = 8000;
/**
 * Limit of queued bytes: a destination slower than the broadcast is disconnected before it costs memory
 * (docs/decisions/restreams.md#limits).
 */
const MAX_QUEUED_BYTES = 16 * 2 ** 20;
const MAX_BEHIND_MS = 10_000;
const CHECK_MS = 1000;
const LEAVE_MS = 500;

/** @returns when the destination has accepted. @throws {PushError} */
export async function pushRtmp(options: PushOptions): Promise<PushSession> {
  const { outbound, address } = options;
  const { guarded: url, port, scheme } = address;
  const socket = await outbound
    .connect({ url, port, tls: scheme === 'rtmps', timeoutMs: CONNECT_MS })
    .catch((error: unknown) => Promise.reject(toPushError(error)));
  const push = new RtmpPush(socket, options);
  await push.accepted;
  return push;
}

class RtmpPush implements PushSession {
  readonly accepted: Promise<void>;
  readonly closed: Promise<PushError | null>;
  readonly #socket: Socket;
  readonly #client: RtmpClient;
  readonly #writer: RtmpWriter;
  readonly #close: (failure: PushError | null) => void;
  #detach = () => {};
  #isOver = false;

  constructor(socket: Socket, { feed, address, streamKey }: PushOptions) {
    const accepted = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<PushError | null>();
    this.accepted = accepted.promise;
    this.closed = closed.promise;
    this.#socket = socket;
    this.#writer = new RtmpWriter(socket, (failure) => this.#over(failure));
    const late = setTimeout(
      () => this.#over(new PushError('normal', 'The destination did not accept the stream in time.')),
      ACCEPT_MS,
    );
    this.#close = (failure) => {
      clearTimeout(late);
      if (failure !== null) accepted.reject(failure);
      closed.resolve(failure);
    };
    socket.setKeepAlive(true, 15_000);
    socket.on('error', (error) => this.#over(this.#client.isAsking ? dropped() : toPushError(error)));
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
    // Queued data is not waited for, because the end is immediate.
    const force = setTimeout(() => this.#socket.destroy(), LEAVE_MS);
    await gone;
    clearTimeout(force);
    this.#close(null);
  }

  #over(failure: PushError): void {
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

const hungUp = () => new PushError('normal', 'The destination closed the connection.');
const dropped = () =>
  new PushError(
    'dropped',
    'The destination closed the connection instead of accepting the stream key. Check the key.',
  );

/** Chunk streams as encoders use them. */
const CHUNK_STREAMS: Readonly<Record<number, number>> = {
  [FlvTagType.audio]: 4,
  [FlvTagType.video]: 6,
  [FlvTagType.script]: 5,
};

/** A frame that is yet to be sent, and the time in the header of its message. */
interface Outgoing {
  chunkStream: number;
  type: number;
  isFirst: boolean;
  /** The time of the first message of a chunk stream, else how much later than the last one it is. */
  time: number;
  payload: Buffer;
}

const FIRST_HEADER_BYTES = 12;
const NEXT_HEADER_BYTES = 8;
/** A batch of more than this is not kept to be used again. */
const MAX_REUSED_BYTES = 256 * 1024;

/**
 * Writer of frames as messages: frames that arrive together become one write, in memory reused once the
 * network has sent it.
 */
class RtmpWriter {
  readonly #socket: Socket;
  readonly #fail: (failure: PushError) => void;
  /** The time of the last message, by chunk stream. */
  readonly #times = new Map<number, number>();
  /** When what the network has not taken yet was written, oldest first. */
  readonly #pending: number[] = [];
  readonly #timer: NodeJS.Timeout;
  readonly #outgoing: Outgoing[] = [];
  #bytes = 0;
  #spare: Buffer | null = null;
  #messageStream = 0;
  #origin: number | null = null;
  sentBytes = 0;

  constructor(socket: Socket, fail: (failure: PushError) => void) {
    this.#socket = socket;
    this.#fail = fail;
    this.#timer = setInterval(() => this.#check(), CHECK_MS);
  }

  begin(messageStream: number): void {
    this.#messageStream = messageStream;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /**
   * Writes an item. The first of a chunk stream has its timestamp; later ones have deltas (sections
   * 5.3.1.2.1, 5.3.1.2.2).
   */
  item({ type, timestamp, kind, payload: given }: FeedItem): void {
    const chunkStream = CHUNK_STREAMS[type];
    if (chunkStream === undefined) return;
    // Timestamps of a destination begin when it connects.
    this.#origin ??= timestamp;
    const payload = kind === 'data' ? Buffer.concat([SET_DATA_FRAME, given]) : given;
    const last = this.#times.get(chunkStream);
    const now = Math.max(last ?? 0, timestamp - this.#origin);
    this.#times.set(chunkStream, now);
    const isFirst = last === undefined;
    this.#outgoing.push({ chunkStream, type, isFirst, time: now - (last ?? 0), payload });
    const cuts = Math.max(0, Math.ceil(payload.length / CHUNK_BYTES) - 1);
    this.#bytes += (isFirst ? FIRST_HEADER_BYTES : NEXT_HEADER_BYTES) + payload.length + cuts;
  }

  flush(): void {
    const size = this.#bytes;
    if (size === 0) return;
    const memory =
      this.#spare !== null && this.#spare.length >= size
        ? this.#spare
        : Buffer.allocUnsafeSlow(Math.max(size, MAX_REUSED_BYTES / 2));
    this.#spare = null;
    let at = 0;
    for (const message of this.#outgoing) at = this.#put(memory, at, message);
    this.#outgoing.length = 0;
    this.#bytes = 0;
    this.#pending.push(performance.now());
    this.#socket.write(memory.subarray(0, size), (error) => {
      this.#pending.shift();
      if (memory.length <= MAX_REUSED_BYTES) this.#spare = memory;
      if (!error) this.sentBytes += size;
    });
    this.#check();
  }

  #check(): void {
    const oldest = this.#pending[0];
    const isBehind = oldest !== undefined && performance.now() - oldest > MAX_BEHIND_MS;
    if (isBehind || this.#socket.writableLength > MAX_QUEUED_BYTES) {
      this.#fail(
        new PushError('normal', 'The destination receives data too slowly; the connection was closed.'),
      );
    }
  }

  /** A header, and the payload with a header of one byte between its chunks. @returns where it ends. */
  #put(memory: Buffer, start: number, { chunkStream, type, isFirst, time, payload }: Outgoing): number {
    memory[start] = isFirst ? chunkStream : 0x40 | chunkStream;
    memory.writeUIntBE(time, start + 1, 3);
    memory.writeUIntBE(payload.length, start + 4, 3);
    memory[start + 7] = type;
    if (isFirst) memory.writeUInt32LE(this.#messageStream, start + 8);
    let to = start + (isFirst ? FIRST_HEADER_BYTES : NEXT_HEADER_BYTES);
    for (let at = 0; at < payload.length; at += CHUNK_BYTES) {
      if (at > 0) memory[to++] = 0xc0 | chunkStream;
      to += payload.copy(memory, to, at, at + CHUNK_BYTES);
    }
    return to;
  }
}

import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { type AmfValue, decodeAmf0, isAmfObject } from '../../src/media/protocols/rtmp/amf0.ts';
import { ChunkReader, PUBLISHING_LIMITS } from '../../src/media/protocols/rtmp/chunk-reader.ts';
import {
  command,
  encodeMessage,
  MessageType,
  type RtmpMessage,
  setChunkSize,
} from '../../src/media/protocols/rtmp/messages.ts';

const HANDSHAKE_BYTES = 1 + 2 * 1536;

/** A reply that is a command; `info` is the last argument when it is an object. */
export interface Reply {
  name: string;
  args: AmfValue[];
  code: string;
}

/** Raw RTMP peer for tests, which sends valid or invalid bytes as instructed. */
export class RtmpClient {
  readonly socket: Socket;
  /** Every message the server sent after the handshake. */
  readonly received: RtmpMessage[] = [];
  readonly closed: Promise<void>;
  isClosed = false;
  #reader = new ChunkReader(PUBLISHING_LIMITS);
  #chunkBytes = 128;
  #handshake: Buffer | null = Buffer.alloc(0);
  #changed: (() => void)[] = [];

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on('error', () => {});
    socket.on('data', (data: Buffer) => this.#onData(data));
    this.closed = new Promise((resolve) => {
      socket.on('close', () => {
        this.isClosed = true;
        this.#wake();
        resolve();
      });
    });
  }

  /** Opens a TCP connection without sending anything. */
  static async open(port: number, options: { tls?: boolean } = {}): Promise<RtmpClient> {
    const socket = options.tls
      ? connectTls({ host: '127.0.0.1', port, rejectUnauthorized: false })
      : connect({ host: '127.0.0.1', port });
    const client = new RtmpClient(socket);
    // The caller sees an immediate disconnect in `closed`.
    const ready = once(socket, options.tls ? 'secureConnect' : 'connect').catch(() => {});
    await Promise.race([ready, client.closed]);
    return client;
  }

  /** Connected and past the handshake. */
  static async handshaken(port: number, options: { tls?: boolean } = {}): Promise<RtmpClient> {
    const client = await RtmpClient.open(port, options);
    client.write(Buffer.concat([Buffer.of(3), Buffer.alloc(8), randomBytes(1528), Buffer.alloc(1536)]));
    await client.until(() => client.#handshake === null);
    return client;
  }

  /** Past a `connect` that the server accepted. */
  static async connected(port: number, options: { tls?: boolean } = {}): Promise<RtmpClient> {
    const client = await RtmpClient.handshaken(port, options);
    client.command(0, 'connect', 1, [{ app: 'live', tcUrl: `rtmp://127.0.0.1:${port}/live` }]);
    await client.reply((reply) => reply.code === 'NetConnection.Connect.Success');
    return client;
  }

  write(bytes: Buffer): void {
    if (!this.socket.destroyed) this.socket.write(bytes);
  }

  send(message: RtmpMessage, chunkStreamId?: number): void {
    this.write(encodeMessage(message, this.#chunkBytes, chunkStreamId));
  }

  setChunkSize(bytes: number): void {
    this.send(setChunkSize(bytes));
    this.#chunkBytes = bytes;
  }

  command(streamId: number, name: string, transaction: number, args: AmfValue[]): void {
    this.send(command(streamId, name, transaction, args));
  }

  /** createStream and publish; the code of the server's onStatus, or `closed`. */
  async publish(key: string): Promise<string> {
    this.command(0, 'releaseStream', 2, [null, key]);
    this.command(0, 'FCPublish', 3, [null, key]);
    this.command(0, 'createStream', 4, [null]);
    this.command(1, 'publish', 5, [null, key, 'live']);
    const reply = await this.reply((candidate) => candidate.name === 'onStatus');
    return reply?.code ?? 'closed';
  }

  media(type: 'audio' | 'video' | 'data', timestamp: number, payload: Buffer): void {
    this.send({ type: MessageType[type], streamId: 1, timestamp, payload }, type === 'audio' ? 4 : 6);
  }

  replies(): Reply[] {
    return this.received.filter((message) => message.type === MessageType.command).map(toReply);
  }

  /** The first reply that matches, waiting for it; null when the connection closes before. */
  async reply(matches: (reply: Reply) => boolean): Promise<Reply | null> {
    await this.until(() => this.isClosed || this.replies().some(matches));
    return this.replies().find(matches) ?? null;
  }

  /** Waits until the condition holds; it is checked after everything the server sends. */
  async until(condition: () => boolean, ms = 5000): Promise<void> {
    const deadline = performance.now() + ms;
    while (!condition()) {
      if (this.isClosed) throw new Error('connection closed while waiting');
      if (performance.now() > deadline) throw new Error('timed out waiting for the server');
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, 50);
        this.#changed.push(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  /** Waits for the server to hang up. @throws when it has not within a second, far below its time limits. */
  async closedSoon(): Promise<void> {
    const timer = Promise.withResolvers<void>();
    const timeout = setTimeout(() => timer.reject(new Error('the connection stays open')), 1000);
    try {
      await Promise.race([this.closed, timer.promise]);
    } finally {
      clearTimeout(timeout);
    }
  }

  /** RST, as a broken network leaves it. */
  reset(): void {
    this.socket.resetAndDestroy();
  }

  destroy(): void {
    this.socket.destroy();
  }

  #onData(data: Buffer): void {
    let rest = data;
    if (this.#handshake !== null) {
      this.#handshake = Buffer.concat([this.#handshake, data]);
      if (this.#handshake.length < HANDSHAKE_BYTES) return;
      rest = this.#handshake.subarray(HANDSHAKE_BYTES);
      this.#handshake = null;
    }
    this.#reader.push(rest);
    for (let message = this.#reader.next(); message !== null; message = this.#reader.next()) {
      this.received.push({ ...message, payload: Buffer.from(message.payload) });
    }
    this.#wake();
  }

  #wake(): void {
    for (const resolve of this.#changed.splice(0)) resolve();
  }
}

function toReply(message: RtmpMessage): Reply {
  const [name, , ...args] = decodeAmf0(message.payload);
  const info = args.at(-1);
  const code = info !== undefined && isAmfObject(info) && typeof info.code === 'string' ? info.code : '';
  return { name: typeof name === 'string' ? name : '', args, code };
}

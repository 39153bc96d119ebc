import type { RawData, WebSocket } from 'ws';
import { newUuid } from '../../kernel/ids.ts';
import type { EngineConnection } from '../../media/contract/index.ts';
import { CLOSE, type CloseReason, type Incoming, readMessage } from './gateway-messages.ts';
import type { ParticipantRow } from './participants.repository.ts';

/** Maximum bytes queued for a browser that is too slow. */
const MAX_WAITING_BYTES = 1_000_000;
/** Limits of what a client sends, applied before parsing. */
const PER_SECOND = { messages: 30, bytes: 512 * 1024 };
const BURST = { messages: 120, bytes: 2 * 1024 * 1024 };
/** Size of a message before admission: `ping` or `leave`. */
const MAX_OUTSIDE_BYTES = 4096;
/** Maximum messages queued while one is processed. */
const MAX_QUEUED = 200;
const SILENCE_MS = 30_000;
const CLOSE_MS = 10_000;

/** WebSocket of a browser, with its limits and serialized messages. */
export class Connection {
  readonly id = newUuid();
  /** Stay of the connection, as last read. */
  row: ParticipantRow | null = null;
  /** State that the client was notified of. */
  shown: 'NOTHING' | 'WAITING' | 'IN' = 'NOTHING';
  engine: EngineConnection | null = null;
  /** The client was notified that the engine is down, and must be notified when it recovers. */
  isEngineDown = false;
  /** Reads of the room that began before this connection do not include it. */
  sinceReading = 0;
  /** The client sent `leave`; this holds even when the socket was closed before the message was processed. */
  hasLeft = false;
  /** Resolves when the socket is closed. */
  readonly over: Promise<void>;
  /** The socket is closed or closing: what the client still sends is ignored. */
  isOver = false;
  readonly #socket: WebSocket;
  #work: Promise<void> = Promise.resolve();
  #moderation: Promise<void> = Promise.resolve();
  #queued = 0;
  readonly #budget = { ...BURST };
  #lastAt = performance.now();
  #heardAt = performance.now();

  constructor(socket: WebSocket, onMessage: (connection: Connection, message: Incoming) => Promise<void>) {
    this.#socket = socket;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    socket.on('close', () => {
      this.isOver = true;
      resolve();
    });
    // It is followed by `close`.
    socket.on('error', () => {});
    socket.on('pong', () => this.#heard());
    socket.on('message', (data, isBinary) => this.#take(data, isBinary, onMessage));
  }

  send(message: object): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return;
    if (this.#socket.bufferedAmount > MAX_WAITING_BYTES) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message));
  }

  close(reason: CloseReason): void {
    const [code, words] = CLOSE[reason];
    this.isOver = true;
    this.#socket.close(code, words);
    // An unresponsive browser must not hold resources.
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }

  /** Closes the socket immediately, without a close frame. */
  drop(): void {
    this.isOver = true;
    this.#socket.terminate();
  }

  /** Sends a ping, and closes a connection that was silent for too long. */
  beat(): void {
    if (performance.now() - this.#heardAt > SILENCE_MS) this.#socket.terminate();
    else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  /** Queues work after all received messages. @param work that never throws. */
  enqueue(work: () => Promise<void>): void {
    this.#queued += 1;
    this.#work = this.#work.then(work).finally(() => {
      this.#queued -= 1;
    });
  }

  /** Runs moderation work, which client messages do not delay. @param work that never throws. */
  moderate(work: () => Promise<void>): void {
    this.#moderation = this.#moderation.then(work);
  }

  #heard(): void {
    this.#heardAt = performance.now();
  }

  #take(
    data: RawData,
    isBinary: boolean,
    onMessage: (connection: Connection, message: Incoming) => Promise<void>,
  ): void {
    if (this.isOver) return;
    this.#heard();
    const bytes = bytesIn(data);
    if (!this.#isWithinBudget(bytes)) {
      this.close('TOO_FAST');
      return;
    }
    const isTooLong = this.shown !== 'IN' && bytes > MAX_OUTSIDE_BYTES;
    const message = isBinary || isTooLong ? null : readMessage(String(data));
    if (message?.type === 'leave') this.hasLeft = true;
    if (message === null) this.close('BAD_MESSAGE');
    else this.enqueue(() => onMessage(this, message));
  }

  /** Counts a message against the token buckets. */
  #isWithinBudget(bytes: number): boolean {
    const now = performance.now();
    const seconds = (now - this.#lastAt) / 1000;
    this.#lastAt = now;
    const left = this.#budget;
    left.messages = Math.min(BURST.messages, left.messages + seconds * PER_SECOND.messages) - 1;
    left.bytes = Math.min(BURST.bytes, left.bytes + seconds * PER_SECOND.bytes) - bytes;
    return left.messages >= 0 && left.bytes >= 0 && this.#queued < MAX_QUEUED;
  }
}

function bytesIn(data: RawData): number {
  return Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength;
}

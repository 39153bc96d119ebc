import type { RawData, WebSocket } from 'ws';
import { newUuid } from '../../kernel/ids.ts';
import type { EngineConnection } from '../../media/contract/index.ts';
import { CLOSE, type CloseReason, type Incoming, readMessage } from './gateway-messages.ts';
import type { ParticipantRow } from './participants.repository.ts';

/** What waits for a browser that is too slow. */
const MAX_WAITING_BYTES = 1_000_000;
const PER_SECOND = 30;
const BURST = 120;
/** Messages that wait while one is worked on. */
const MAX_QUEUED = 200;
const SILENCE_MS = 30_000;
const CLOSE_MS = 10_000;

/** One browser's WebSocket: its bounds, and its messages one after the other. */
export class Connection {
  readonly id = newUuid();
  /** The stay that it is of, as it was last read. */
  row: ParticipantRow | null = null;
  /** What it was told it is. */
  shown: 'NOTHING' | 'WAITING' | 'IN' = 'NOTHING';
  engine: EngineConnection | null = null;
  /** It was told so, and is to be told when that is over. */
  isEngineDown = false;
  /** Readings of its room that began before it came do not have it. */
  sinceReading = 0;
  /** They said that they leave; it holds also when the socket was closed before that was worked on. */
  hasLeft = false;
  /** Resolves when the socket is closed. */
  readonly over: Promise<void>;
  isOver = false;
  readonly #socket: WebSocket;
  #work: Promise<void> = Promise.resolve();
  #queued = 0;
  #budget = BURST;
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
    this.#socket.close(code, words);
    // A browser that does not answer keeps nothing.
    setTimeout(() => this.#socket.terminate(), CLOSE_MS).unref();
  }

  /** At once, without a word. */
  drop(): void {
    this.#socket.terminate();
  }

  /** Asks whether it is still there; one that was silent for too long is not. */
  beat(): void {
    if (performance.now() - this.#heardAt > SILENCE_MS) this.#socket.terminate();
    else if (this.#socket.readyState === this.#socket.OPEN) this.#socket.ping();
  }

  /** Behind all that it has sent so far. @param work that never throws. */
  enqueue(work: () => Promise<void>): void {
    this.#queued += 1;
    this.#work = this.#work.then(work).finally(() => {
      this.#queued -= 1;
    });
  }

  #heard(): void {
    this.#heardAt = performance.now();
  }

  #take(
    data: RawData,
    isBinary: boolean,
    onMessage: (connection: Connection, message: Incoming) => Promise<void>,
  ): void {
    this.#heard();
    if (!this.#mayGoOn()) {
      this.close('TOO_FAST');
      return;
    }
    const message = isBinary ? null : readMessage(String(data));
    if (message?.type === 'leave') this.hasLeft = true;
    if (message === null) this.close('BAD_MESSAGE');
    else this.enqueue(() => onMessage(this, message));
  }

  #mayGoOn(): boolean {
    const now = performance.now();
    this.#budget = Math.min(BURST, this.#budget + ((now - this.#lastAt) / 1000) * PER_SECOND) - 1;
    this.#lastAt = now;
    return this.#budget >= 0 && this.#queued < MAX_QUEUED;
  }
}

import type { Socket } from 'node:net';
import { plainAddress } from '../../kernel/ip-block.ts';
import { ConnectionLimit, type ConnectionLimits } from '../../media/ingest/connection-limit.ts';
import type { Logger } from '../../platform/logger.ts';

export type EncoderProtocol = 'rtmp' | 'rtmps';

/** Process that takes connections of encoders. */
export interface ConnectionTaker {
  isReady(): boolean;
  /** Asks it to call `accept` for a connection. */
  offer(id: number): void;
  /** Hands the socket over. @param onLost called when it did not arrive. */
  give(connection: { id: number; protocol: EncoderProtocol }, socket: Socket, onLost: () => void): void;
}

interface Options {
  takers: readonly ConnectionTaker[];
  limits: ConnectionLimits;
  log: Logger;
}

interface Connection {
  id: number;
  /** Null once it has been handed over. */
  socket: Socket | null;
  protocol: EncoderProtocol;
  address: string;
  acceptedAtMs: number;
  /** Process that has it, or was the last to be offered it. */
  taker: TakerState | null;
  offeredTo: Set<TakerState>;
}

interface TakerState {
  taker: ConnectionTaker;
  /** Connections that it has or was offered last. */
  connections: number;
  /** Publishes without a connection of an encoder, such as bridges. */
  otherPublishes: number;
  /** Time since which it owes an answer; null if it owes none. `performance.now()` */
  silentSinceMs: number | null;
}

/** Time after which a connection is offered to the next process, too. */
const ANSWER_MS = 250;
/** Time that a connection waits for a process; as long as an encoder may take for its handshake. */
const MAX_WAIT_MS = 10_000;

/**
 * Distributor of encoder connections, none of whose bytes have been read. Each is offered to the process with
 * the fewest publishes and given to the first one that answers, so a stalled process gets none
 * (docs/decisions/processes.md#media-processes).
 */
export class SocketDistributor {
  readonly #states: readonly TakerState[];
  readonly #limit: ConnectionLimit;
  readonly #log: Logger;
  readonly #connections = new Map<number, Connection>();
  readonly #waiting = new Set<Connection>();
  #timer: NodeJS.Timeout | null = null;
  #lastId = 0;

  constructor({ takers, limits, log }: Options) {
    this.#states = takers.map((taker) => ({ taker, ...IDLE }));
    this.#limit = new ConnectionLimit(limits);
    this.#log = log;
  }

  /** Distributes a paused socket. */
  add(socket: Socket, protocol: EncoderProtocol): void {
    const address = plainAddress(socket.remoteAddress ?? '');
    if (!this.#limit.admit(address)) {
      this.#log.info({ ip: address, connections: this.#limit.count(address) }, 'rtmp: too many connections');
      socket.destroy();
      return;
    }
    this.#lastId += 1;
    const acceptedAtMs = performance.now();
    const id = this.#lastId;
    const offeredTo = new Set<TakerState>();
    const connection = { id, socket, protocol, address, acceptedAtMs, taker: null, offeredTo };
    this.#connections.set(id, connection);
    this.#waiting.add(connection);
    this.#offer(connection);
    this.#timer ??= setInterval(() => this.#tick(), ANSWER_MS);
  }

  /** Handles the answer of a process to an offer. @param index of the process in `takers`. */
  accept(index: number, id: number): void {
    const state = this.#responded(index);
    const connection = this.#connections.get(id);
    if (state === undefined || connection === undefined || connection.socket === null) return;
    const { socket, protocol } = connection;
    this.#assign(connection, state);
    this.#waiting.delete(connection);
    connection.socket = null;
    state.taker.give({ id, protocol }, socket, () => this.end(id));
  }

  /** Handles the end of a connection. */
  end(id: number): void {
    const connection = this.#connections.get(id);
    if (connection === undefined) return;
    connection.socket?.destroy();
    this.#assign(connection, null);
    this.#waiting.delete(connection);
    this.#connections.delete(id);
    this.#limit.release(connection.address);
  }

  /** Handles a report of a process. */
  report(index: number, publishers: number): void {
    const state = this.#responded(index);
    if (state !== undefined) state.otherPublishes = Math.max(0, publishers - state.connections);
  }

  /** Handles the end of a process and with it of its connections; those it was only offered go to others. */
  lose(index: number): void {
    const state = this.#states[index];
    if (state === undefined) return;
    for (const connection of [...this.#connections.values()]) {
      connection.offeredTo.delete(state);
      if (connection.taker !== state) continue;
      if (connection.socket === null) this.end(connection.id);
      else this.#assign(connection, null);
    }
    Object.assign(state, IDLE);
  }

  /** Closes the connections that wait. */
  close(): void {
    for (const { id } of [...this.#waiting]) this.end(id);
    this.#stopTimer();
  }

  #responded(index: number): TakerState | undefined {
    const state = this.#states[index];
    if (state !== undefined) state.silentSinceMs = null;
    return state;
  }

  #tick(): void {
    for (const connection of [...this.#waiting]) {
      if (performance.now() - connection.acceptedAtMs < MAX_WAIT_MS) this.#offer(connection);
      else {
        this.#log.warn({ ip: connection.address }, 'rtmp: no media process takes connections');
        this.end(connection.id);
      }
    }
    if (this.#waiting.size === 0) this.#stopTimer();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  /** Offers the connection to the best process that has no offer of it. */
  #offer(connection: Connection): void {
    const now = performance.now();
    const rank = ({ silentSinceMs, connections, otherPublishes }: TakerState) => {
      const isStalled = silentSinceMs !== null && now - silentSinceMs > ANSWER_MS;
      return connections + otherPublishes + (isStalled ? STALLED_RANK : 0);
    };
    const [best] = this.#states
      .filter((state) => state.taker.isReady() && !connection.offeredTo.has(state))
      .sort((one, other) => rank(one) - rank(other));
    if (best === undefined) return;
    this.#assign(connection, best);
    connection.offeredTo.add(best);
    best.silentSinceMs ??= now;
    best.taker.offer(connection.id);
  }

  #assign(connection: Connection, state: TakerState | null): void {
    if (connection.taker !== null) connection.taker.connections -= 1;
    if (state !== null) state.connections += 1;
    connection.taker = state;
  }
}

const IDLE = { connections: 0, otherPublishes: 0, silentSinceMs: null };
/** Above every number of connections. */
const STALLED_RANK = 1e9;

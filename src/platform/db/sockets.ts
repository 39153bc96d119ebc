import { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { DatabaseUnavailableError } from './unavailable-error.ts';

/** One server of DATABASE_URL. */
export interface Host {
  host: string;
  port: number;
}

/** Connection target as the driver describes it. */
interface Target {
  path?: string | false | null;
  host: string[];
  port: number[];
}

interface Options {
  /** Returns the server for the next connection, or null while none is available. Default: the target's. */
  selectHost?(target: Host): Host | null | Promise<Host | null>;
  /** Called when the server refused or closed a connection. */
  onLoss?(loss: { isRefused: boolean }): void;
  /** Called when the driver has not begun to use a connection. */
  onUnused?(): void;
}

/** The connections of a pool, which can be destroyed together. */
export interface Sockets {
  readonly counts: { connecting: number; open: number };
  /** The driver's option `socket`. */
  open(target: Target): Duplex | Promise<Duplex>;
  destroyAll(): void;
}

/** Time within which the driver writes to a new connection. */
const FIRST_WRITE_MS = 100;

/** How a connection ended. */
interface End {
  isConnected: boolean;
  /** Whether this side ended it. */
  isOwn: boolean;
}

/** Listens by overriding, because the driver removes all listeners before it starts TLS. */
class PoolSocket extends Socket {
  readonly #onEnd: (end: End) => void;
  #isConnected = false;
  #isOwn = false;

  constructor(onEnd: (end: End) => void) {
    super();
    this.#onEnd = onEnd;
    this.once('connect', () => {
      this.#isConnected = true;
    });
  }

  abandon(error?: Error): void {
    this.#isOwn = true;
    this.destroy(error);
  }

  override _final(callback: (error?: Error | null) => void): void {
    if (!this.readableEnded) this.#isOwn = true;
    super._final(callback);
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#onEnd({ isConnected: this.#isConnected, isOwn: this.#isOwn });
    super._destroy(error, callback);
  }
}

export function createSockets({ selectHost = (host) => host, onLoss, onUnused }: Options = {}): Sockets {
  const sockets = new Set<PoolSocket>();

  const create = () => {
    const socket = new PoolSocket(({ isConnected, isOwn }) => {
      sockets.delete(socket);
      if (!isOwn) onLoss?.({ isRefused: !isConnected });
    });
    sockets.add(socket);
    // Errors after the connection was destroyed are ignored.
    socket.on('error', () => {});
    const check = () => {
      if (!socket.destroyed && socket.bytesWritten === 0) onUnused?.();
    };
    if (onUnused !== undefined) setTimeout(check, FIRST_WRITE_MS).unref();
    return socket;
  };
  const connect = (path: Target['path'], host: Host | null): Duplex => {
    if (host === null) return createRefusedConnection();
    const socket = create();
    if (typeof path === 'string') return socket.connect(path);
    // The driver reads the name of the host for TLS here.
    Object.assign(socket, host);
    return socket.connect(host.port, host.host);
  };
  return {
    get counts() {
      const connecting = [...sockets].filter((socket) => socket.connecting).length;
      return { connecting, open: sockets.size - connecting };
    },
    open({ path, host, port }) {
      const selected = selectHost({ host: host[0] ?? 'localhost', port: port[0] ?? 5432 });
      return selected instanceof Promise
        ? selected.then((found) => connect(path, found))
        : connect(path, selected);
    },
    destroyAll() {
      // With an error, the driver does not repeat the statement that waits for the connection.
      for (const socket of sockets) socket.abandon(new DatabaseUnavailableError());
    },
  };
}

/** Creates a connection that fails at its first write. The driver has no other way to learn that there is none. */
function createRefusedConnection(): Duplex {
  return new Duplex({
    read() {},
    write: (_chunk, _encoding, callback) => callback(new DatabaseUnavailableError()),
  });
}

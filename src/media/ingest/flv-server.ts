import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Logger } from '../../platform/logger.ts';
import type { Broadcast, FlvSink } from './broadcast.ts';
import { close, listen } from './listen.ts';

const READERS_MAX = 64;
/** Time for a reader to take the last bytes after the end of a publish. */
const DRAIN_MS = 5000;
const PATH = /^\/int\/([A-Za-z0-9_-]+)\.flv$/;

/**
 * HTTP-FLV for our own ffmpeg processes, on loopback only: `/int/<sessionId>.flv`. Session ids cannot be
 * guessed, which is all the authorisation there is among the processes of one machine.
 */
export class FlvServer {
  #server: Server;
  #log: Logger;
  #broadcasts = new Map<string, Broadcast>();

  constructor(log: Logger) {
    this.#log = log;
    this.#server = createServer((request, response) => this.#onRequest(request, response));
  }

  /** @returns the port. @throws the listener's error, such as EADDRINUSE. */
  async start(port: number): Promise<number> {
    const bound = await listen(this.#server, { host: '127.0.0.1', port });
    this.#server.on('error', (error) => this.#log.error({ err: error }, 'flv: listener error'));
    return bound;
  }

  async stop(): Promise<void> {
    const closed = close(this.#server);
    this.#server.closeAllConnections();
    await closed;
  }

  add(sessionId: string, broadcast: Broadcast): void {
    this.#broadcasts.set(sessionId, broadcast);
  }

  remove(sessionId: string): void {
    this.#broadcasts.delete(sessionId);
  }

  #onRequest(request: IncomingMessage, response: ServerResponse): void {
    response.on('error', (error) => this.#log.debug({ error: error.message }, 'flv: reader error'));
    const id = PATH.exec(request.url ?? '')?.[1];
    const broadcast = id === undefined ? undefined : this.#broadcasts.get(id);
    const { socket } = response;
    if (request.method !== 'GET' || broadcast === undefined || socket === null) {
      response.writeHead(404, { connection: 'close' }).end();
      return;
    }
    if (broadcast.readerCount >= READERS_MAX) {
      response.writeHead(503, { connection: 'close' }).end();
      return;
    }
    response.writeHead(200, {
      'content-type': 'video/x-flv',
      'cache-control': 'no-store',
      connection: 'close',
      'transfer-encoding': 'chunked',
    });
    response.flushHeaders();
    const detach = broadcast.attach(httpSink(response, socket));
    response.on('close', detach);
  }
}

/** Frames are gathered for so long: waking a reader for each costs more than all else here. */
const HOLD_MS = 50;

/** Tags go to the socket as they are, since they are chunks; the response itself writes the last chunk. */
function httpSink(response: ServerResponse, socket: Socket): FlvSink {
  let held = false;
  let timer: NodeJS.Timeout | null = null;
  const flush = () => {
    if (!held) return;
    held = false;
    socket.uncork();
  };
  return {
    write: (bytes) => void socket.write(bytes),
    hold() {
      if (held) return;
      held = true;
      socket.cork();
      if (timer === null) timer = setTimeout(flush, HOLD_MS).unref();
      else timer.refresh();
    },
    flush,
    queuedBytes: () => socket.writableLength,
    end: () => {
      flush();
      response.end();
      const force = setTimeout(() => socket.destroy(), DRAIN_MS);
      socket.once('close', () => clearTimeout(force));
    },
  };
}

import type { ServerResponse } from 'node:http';
import { Server, type Socket } from 'node:net';
import { setImmediate as nextIteration, setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { hasBody } from './plugins/body.ts';

const STEP_MS = 25;
/** Time after its start or its last response in which a connection may have a request on its way. */
const REQUEST_GRACE_MS = 500;
/** Maximum time in which a busy server accepts the connections of the system's queue. */
const MAX_ACCEPT_MS = 500;

/**
 * Drains a server.
 *
 * @param delayMs how long new connections are still accepted, while load balancers notice `/readyz`.
 */
type Drain = (delayMs: number) => Promise<void>;

/**
 * Stops a server without resetting a connection that has a request on its way
 * (docs/decisions/request-pipeline.md#drain).
 *
 * @param timeoutMs maximum duration of the drain, its delay included.
 * @returns the function that drains; call it once.
 */
export function createDrain(app: FastifyInstance, timeoutMs: number): Drain {
  const connections = new ServerConnections(app.server);
  let deadline = 0;
  // The hooks of the last scope run after those that end event streams, WebSockets and uploads, and before Fastify
  // closes idle connections.
  void app.register(async (scope) => {
    scope.addHook('preClose', async () => {
      while (connections.areBusy() && performance.now() < deadline) await sleep(STEP_MS);
      app.server.closeAllConnections();
    });
  });
  return async (delayMs) => {
    deadline = performance.now() + timeoutMs;
    connections.endAfterResponses();
    await Promise.all([sleep(delayMs), app.eventStreams.drain(delayMs)]);
    await acceptPending();
    // `close` of the HTTP server would also close connections whose next request is on its way.
    Server.prototype.close.call(app.server);
    await app.close();
  };
}

interface ServerConnection {
  /** `performance.now()` of its start or its last response. */
  activeAt: number;
  hasSentRequest: boolean;
}

/** The open connections of a server, without WebSockets, and the requests that they carry. */
class ServerConnections {
  readonly #open = new Map<Socket, ServerConnection>();
  readonly #pending = new Set<ServerResponse>();
  #isEnding = false;

  constructor(server: FastifyInstance['server']) {
    server.on('connection', (socket: Socket) => {
      this.#open.set(socket, { activeAt: performance.now(), hasSentRequest: false });
      socket.once('close', () => this.#open.delete(socket));
    });
    server.on('upgrade', ({ socket }) => this.#open.delete(socket));
    // Before the handler, which may respond immediately.
    server.prependListener('request', ({ socket }, response) => this.#add(socket, response));
  }

  /** Reports whether a request is being answered or may be on its way. */
  areBusy(): boolean {
    if (this.#pending.size > 0) return true;
    const now = performance.now();
    return this.#open.entries().some(([{ bytesRead }, { activeAt, hasSentRequest }]) => {
      const isInHead = !hasSentRequest && bytesRead > 0;
      return isInHead || now - activeAt < REQUEST_GRACE_MS;
    });
  }

  /** Sends `Connection: close` with every response from now on. */
  endAfterResponses(): void {
    this.#isEnding = true;
    for (const response of this.#pending) endAfter(response);
  }

  #add(socket: Socket, response: ServerResponse): void {
    const connection = this.#open.get(socket);
    if (connection !== undefined) connection.hasSentRequest = true;
    this.#pending.add(response);
    response.once('close', () => {
      this.#pending.delete(response);
      if (connection !== undefined) connection.activeAt = performance.now();
    });
    if (this.#isEnding) endAfter(response);
  }
}

/**
 * Waits for an iteration of the event loop without any event: then the system has no connection left that was
 * not accepted. Closing the port resets those.
 */
async function acceptPending(): Promise<void> {
  const deadline = performance.now() + MAX_ACCEPT_MS;
  while (performance.now() < deadline) {
    const { events } = performance.nodeTiming.uvMetricsInfo;
    await nextIteration();
    if (performance.nodeTiming.uvMetricsInfo.events === events) return;
  }
}

/**
 * Ends the connection with the response, unless a part of the body is still unread then: the client would get a
 * reset instead of the response.
 */
function endAfter(response: ServerResponse): void {
  const { req } = response;
  const end = () => {
    response.shouldKeepAlive = false;
  };
  if (req.complete || !hasBody(req)) end();
  else req.once('end', end);
}

import { type IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type WebSocket, WebSocketServer } from 'ws';
import { AppError } from '../kernel/errors.ts';

/** Objects that Node passes when a client requests a WebSocket. */
interface Upgrade {
  socket: Socket;
  head: Buffer;
  response: ServerResponse;
}

const upgrades = new WeakMap<IncomingMessage, Upgrade>();

/** Other upgrades, such as h2c, are answered as if they had not been asked for (RFC 9110, 7.8). */
export function isWebSocket({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return headers.upgrade?.toLowerCase() === 'websocket';
}

/** Lets requests for WebSockets pass the request chain, which answers those that no route takes. */
export function routeUpgrades(app: FastifyInstance): void {
  app.server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
    // A client that disconnects would otherwise end the process.
    socket.on('error', () => socket.destroy());
    if (!(socket instanceof Socket)) return void socket.destroy();
    const response = new ServerResponse(request);
    response.shouldKeepAlive = false;
    response.assignSocket(socket);
    response.on('finish', () => socket.end());
    upgrades.set(request, { socket, head, response });
    app.routing(request, response);
  });
}

interface SocketRoute {
  path: string;
  /** The one sub-protocol that is spoken; a client that does not offer it is refused. */
  protocol: string;
  /** Maximum bytes of a message. */
  maxPayload: number;
  onOpen(socket: WebSocket, request: FastifyRequest): void;
}

/** A path outside the base URL that speaks WebSocket (RFC 6455), without compression. */
export function webSocketRoute(
  app: FastifyInstance,
  { path, protocol, maxPayload, onOpen }: SocketRoute,
): void {
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload,
    handleProtocols: () => protocol,
  });
  app.get(path, async (request, reply) => {
    const upgrade = upgrades.get(request.raw);
    if (upgrade === undefined || !requestedSubprotocols(request).includes(protocol)) {
      const message = `This endpoint requires a WebSocket connection with the subprotocol ${protocol}.`;
      throw new AppError('BAD_REQUEST', { message });
    }
    reply.hijack();
    upgrade.response.detachSocket(upgrade.socket);
    server.handleUpgrade(request.raw, upgrade.socket, upgrade.head, (socket) => onOpen(socket, request));
  });
}

/** The sub-protocols that the client offers, in its order. */
export function requestedSubprotocols({ headers }: Pick<FastifyRequest, 'headers'>): string[] {
  return (headers['sec-websocket-protocol'] ?? '').split(',').map((name) => name.trim());
}

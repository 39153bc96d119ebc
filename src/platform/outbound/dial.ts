import { createSocket, type Socket as DatagramSocket } from 'node:dgram';
import { connect, type Socket } from 'node:net';
import { type ConnectionOptions, connect as connectTls } from 'node:tls';
import { errorCode, OutboundError } from './errors.ts';

/** Destination of a connection or of UDP packets, as a URL. */
export interface DialRequest {
  /** `https://host/`; its scheme, port and path mean nothing. */
  url: string;
  port: number;
  /** Timeout of resolving and connecting together. */
  timeoutMs: number;
}

export interface ConnectRequest extends DialRequest {
  /** Whether to use TLS, with the certificate checked against the host's name. */
  tls: boolean;
}

/** Connects to the first of these checked addresses that accepts. Rejects with an OutboundError. */
export async function dial(
  addresses: readonly string[],
  name: string,
  { port, tls }: ConnectRequest,
  deadline: AbortSignal,
): Promise<Socket> {
  let failure: unknown = new OutboundError('dns', 'ENODATA');
  for (const host of addresses) {
    deadline.throwIfAborted();
    try {
      return await opened(tls ? secured({ host, port }, name) : connect({ host, port }), tls, deadline);
    } catch (error) {
      failure = error;
    }
  }
  throw failure instanceof OutboundError
    ? failure
    : new OutboundError('connect', errorCode(failure), failure);
}

function secured(where: { host: string; port: number }, name: string): Socket {
  // An address has no name that a certificate could be asked for by SNI.
  const options: ConnectionOptions = { ...where, ...(where.host === name ? {} : { servername: name }) };
  return connectTls({ ...options, ALPNProtocols: [] });
}

function opened(socket: Socket, tls: boolean, deadline: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const settle = (error: unknown) => {
      deadline.removeEventListener('abort', cut);
      socket.off('error', settle);
      if (error === null) return resolve(socket);
      socket.on('error', () => {}).destroy();
      reject(error);
    };
    const cut = () => settle(deadline.reason);
    deadline.addEventListener('abort', cut, { once: true });
    socket.once('error', settle);
    socket.once(tls ? 'secureConnect' : 'connect', () => settle(null));
  });
}

/** Socket for UDP packets from and to one checked address. */
export function openDatagramSocket(
  address: string,
  port: number,
  deadline: AbortSignal,
): Promise<DatagramSocket> {
  const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => {
      socket.close();
      reject(new OutboundError('connect', errorCode(error), error));
    };
    deadline.addEventListener('abort', () => reject(deadline.reason), { once: true });
    socket.once('error', fail);
    socket.connect(port, address, () => {
      socket.off('error', fail);
      resolve(socket);
    });
  });
}

import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

export interface SourceRequest {
  path: string;
  range: string | undefined;
  ifRange: string | undefined;
  /** Returns the bytes sent on this connection. */
  sent(): number;
}

/** Request handler of the server, by path. */
export type Answer = (request: IncomingMessage, response: ServerResponse) => void | Promise<void>;

export interface FileOptions {
  etag?: string;
  /** Bytes after which the connection is cut, unless the file ends before. */
  cutAfter?: number;
  /** Omits the content length. */
  chunked?: boolean;
  /** Announced instead of the true one. */
  length?: number;
  ranges?: boolean;
  type?: string;
  /** Pause between two chunks of 16 KiB. */
  pauseMs?: number;
  /** Bytes after which sending stalls while the connection stays open. */
  stallAfter?: number;
}

const PIECE = 16 * 1024;

/** Serves bytes like a common server, with the requested faults. */
export function file(bytes: () => Buffer, options: FileOptions = {}): Answer {
  const { etag, cutAfter = Number.POSITIVE_INFINITY, ranges = true, type = 'video/mp4', pauseMs } = options;
  const { stallAfter = Number.POSITIVE_INFINITY } = options;
  return async (request, response) => {
    const whole = bytes();
    const asked = /^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1];
    const isSame = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
    const from = ranges && asked !== undefined && isSame ? Number(asked) : 0;
    const isPart = from > 0;
    if (isPart && from >= whole.length) {
      response.writeHead(416, { 'content-range': `bytes */${whole.length}` }).end();
      return;
    }
    const body = whole.subarray(from);
    response.writeHead(isPart ? 206 : 200, {
      'content-type': type,
      ...(ranges ? { 'accept-ranges': 'bytes' } : {}),
      ...(etag === undefined ? {} : { etag }),
      ...(isPart ? { 'content-range': `bytes ${from}-${whole.length - 1}/${whole.length}` } : {}),
      ...(options.chunked === true ? {} : { 'content-length': options.length ?? body.length }),
    });
    for (let at = 0; at < Math.min(body.length, cutAfter) && !response.destroyed; at += PIECE) {
      const piece = body.subarray(at, Math.min(at + PIECE, cutAfter));
      if (!response.write(piece)) await drained(response);
      if (at >= stallAfter) await once(response, 'close');
      if (pauseMs !== undefined) await sleep(pauseMs, undefined, { ref: false });
    }
    if (body.length > cutAfter || (options.length ?? 0) > body.length) {
      // The written bytes must arrive before the cut.
      await sleep(20);
      response.destroy();
    } else response.end();
  };
}

/** `once` for both would leave listeners behind. */
function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.on('drain', done).on('close', done);
  });
}

export interface Source {
  /** `http://127.0.0.1:<port>` */
  url: string;
  requests: SourceRequest[];
  answers: Map<string, Answer>;
  close(): Promise<void>;
}

/** A server of files on loopback; an unknown path is 404. */
export async function startSource(): Promise<Source> {
  const sockets = new Set<Socket>();
  const requests: SourceRequest[] = [];
  const answers = new Map<string, Answer>();
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    const { range } = request.headers;
    const ifRange = request.headers['if-range'];
    requests.push({
      path,
      range,
      ifRange: typeof ifRange === 'string' ? ifRange : undefined,
      sent: () => request.socket.bytesWritten,
    });
    const answer = answers.get(path);
    if (answer === undefined) response.writeHead(404).end('no such file');
    else void Promise.resolve(answer(request, response)).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    answers,
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

import { once } from 'node:events';
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { createTestCa, type TestCa } from './certificates.ts';
import { waitFor } from './wait-for.ts';

/** Request as received. */
export interface SinkRequest {
  method: string;
  /** Path and query. */
  path: string;
  headers: IncomingHttpHeaders;
  rawBody: Buffer;
  /** Time of its last byte: epoch milliseconds with fractions. */
  at: number;
  /** The client's port: equal ports mean the same connection. */
  remotePort: number;
}

/** Response of the sink; an empty object is an empty 200. */
export interface SinkReply {
  status?: number;
  headers?: Record<string, string>;
  body?: string | Buffer;
  delayMs?: number;
  /**
   * `hang`: never responds. `reset`: TCP reset instead of a response. `drip`: status and headers, then a byte
   * every 50 ms without end. `endless`: a body as fast as the client reads it, without end.
   */
  fault?: 'hang' | 'reset' | 'drip' | 'endless';
}

/** Malicious responses of receivers. */
export const hostile = {
  nulBytes: (): SinkReply => ({ status: 500, body: Buffer.from('before\0after\0') }),
  /** 1000 times its size once inflated. */
  gzipBomb: (bytes = 100 * 2 ** 20): SinkReply => ({
    headers: { 'content-encoding': 'gzip' },
    body: gzipSync(Buffer.alloc(bytes)),
  }),
  redirect: (location: string, status = 302): SinkReply => ({ status, headers: { location } }),
};

export interface HttpsSink {
  /** `https://localhost:<port>`, without a slash at the end. */
  url: string;
  port: number;
  requests: SinkRequest[];
  ca: TestCa;
  /** Replaced at will; `index` counts the requests from 0. */
  reply: (request: SinkRequest, index: number) => SinkReply | Promise<SinkReply>;
  /** Waits until at least `count` requests are here and returns them all. */
  waitFor(count: number, timeoutMs?: number): Promise<SinkRequest[]>;
  /** Ends every connection, hanging ones too. */
  close(): Promise<void>;
}

interface SinkOptions {
  /** One authority may serve several sinks; its owner closes it. Default: a separate one. */
  ca?: TestCa;
  /** Names and IP addresses of the certificate. */
  names?: string[];
  host?: string;
}

/** Starts an HTTPS receiver on a free port of loopback. */
export async function startHttpsSink(options: SinkOptions = {}): Promise<HttpsSink> {
  const ca = options.ca ?? (await createTestCa());
  const names = options.names ?? ['localhost', '127.0.0.1', 'receiver.test'];
  const sockets = new Set<Socket>();
  const server = createServer(await ca.issue(names), (request, response) => {
    void take(sink, request, response).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(0, options.host ?? '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = address !== null && typeof address === 'object' ? address.port : 0;
  const sink: HttpsSink = {
    url: `https://localhost:${port}`,
    port,
    requests: [],
    ca,
    reply: () => ({}),
    waitFor: (count, timeoutMs = 5000) =>
      waitFor(() => sink.requests.length >= count && sink.requests, {
        timeoutMs,
        message: () => `${count} requests at the HTTPS sink, which has ${sink.requests.length}`,
      }),
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
      if (options.ca === undefined) await ca.close();
    },
  };
  return sink;
}

async function take(sink: HttpsSink, incoming: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  const request: SinkRequest = {
    method: incoming.method ?? '',
    path: incoming.url ?? '',
    headers: incoming.headers,
    rawBody: Buffer.concat(chunks),
    at: performance.timeOrigin + performance.now(),
    remotePort: incoming.socket.remotePort ?? 0,
  };
  const index = sink.requests.push(request) - 1;
  const reply = await sink.reply(request, index);
  if (reply.delayMs !== undefined) await sleep(reply.delayMs, undefined, { ref: false });
  if (reply.fault === 'hang') return;
  if (reply.fault === 'reset') {
    incoming.socket.resetAndDestroy();
    return;
  }
  response.writeHead(reply.status ?? 200, reply.headers);
  if (reply.fault === 'drip') {
    while (!response.destroyed) {
      response.write('.');
      await sleep(50, undefined, { ref: false });
    }
  } else if (reply.fault === 'endless') {
    const block = Buffer.alloc(64 * 1024, 'x');
    while (!response.destroyed) {
      if (!response.write(block)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    }
  } else {
    response.end(reply.body);
  }
}

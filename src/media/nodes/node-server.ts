import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import type { Clock } from '../../kernel/clock.ts';
import type { Logger } from '../../platform/logger.ts';
import type { Secrets } from '../../platform/secrets.ts';
import { type CachedTextFile, isLivePlace, isSafeName } from './live-source.ts';
import type { LocalSource } from './local-source.ts';
import { HEARTBEAT_MS, type LiveRequestKind, MTIME_HEADER, type NodeRequest, parsePath } from './protocol.ts';
import { isSigned } from './signature.ts';

export interface NodeServerOptions {
  source: LocalSource;
  /** Returns the last known state of a broadcast; undefined before one was read. */
  isLive(streamId: string): boolean | undefined;
  nodeId: string;
  secrets: Pick<Secrets, 'verify'>;
  clock: Clock;
  log: Logger;
  host: string;
  /** 0 takes a free one. */
  port: number;
  /** A socket that listens on it already. */
  handle?: unknown;
}

/** Server of this node's live streams, only for the nodes that deliver them to viewers. */
export interface NodeServer {
  /** That it listens on. */
  readonly port: number;
  /** Number of requests since the start. */
  readonly served: Readonly<Record<LiveRequestKind, number>>;
  stop(): Promise<void>;
}

const BYTES = 'application/octet-stream';
/** Longer than clients keep an idle connection. */
const KEEP_ALIVE_MS = 30_000;
const HEADERS_MS = 5000;
const HEADERS_MAX_BYTES = 8192;

/** Rejects with the system's error when it cannot listen. */
export async function startNodeServer(options: NodeServerOptions): Promise<NodeServer> {
  const served: Record<LiveRequestKind, number> = { changes: 0, part: 0, segment: 0, thumbnail: 0 };
  const server = createServer(
    { keepAliveTimeout: KEEP_ALIVE_MS, headersTimeout: HEADERS_MS, maxHeaderSize: HEADERS_MAX_BYTES },
    (request, response) => {
      answer(options, served, request, response).catch((error: unknown) => {
        options.log.debug({ err: error }, 'a request of another node failed');
        response.destroy();
      });
    },
  );
  const { host, port, handle } = options;
  server.listen(handle ?? { host, port });
  await once(server, 'listening');
  return {
    port: portOf(server),
    served,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function portOf(server: Server): number {
  const address: AddressInfo | string | null = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return address.port;
}

async function answer(
  options: NodeServerOptions,
  served: Record<LiveRequestKind, number>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { nodeId, secrets, clock, source } = options;
  const path = request.url ?? '';
  const { authorization } = request.headers;
  // Checked first: a client without the key of the installation gets no information.
  if (!isSigned(secrets, clock, { nodeId, path, authorization })) return end(response, 401);
  if (request.method !== 'GET') return end(response, 405);
  const asked = parsePath(path);
  if (asked === null || !isWellFormed(asked)) return end(response, 404);
  served[asked.kind] += 1;
  if (asked.kind === 'changes') return sendChanges(options, asked.streamId, response);
  if (asked.kind === 'part') return sendBytes(response, await source.part(asked.place, asked));
  if (asked.kind === 'thumbnail') {
    const picture = await source.picture(asked.streamId);
    return sendBytes(response, picture?.bytes ?? null, picture?.mtimeMs);
  }
  const file = await source.open(asked.place);
  if (file === null) return end(response, 404);
  const { size, mtimeMs } = file;
  response.writeHead(200, { 'content-type': BYTES, 'content-length': size, [MTIME_HEADER]: mtimeMs });
  const body = file.send(0, size - 1);
  if (Buffer.isBuffer(body)) response.end(body);
  else await pipeline(body, response);
}

function isWellFormed(asked: NodeRequest): boolean {
  return 'place' in asked ? isLivePlace(asked.place) : isSafeName(asked.streamId);
}

function end(response: ServerResponse, status: number): void {
  response.writeHead(status, { 'content-length': 0 }).end();
}

function sendBytes(response: ServerResponse, bytes: Buffer | null, mtimeMs = 0): void {
  if (bytes === null) {
    end(response, 404);
    return;
  }
  const headers = { 'content-type': BYTES, 'content-length': bytes.length, [MTIME_HEADER]: mtimeMs };
  response.writeHead(200, headers).end(bytes);
}

/**
 * Sends all texts and the state of the broadcast, then changes of them. A slow reader gets only the last of
 * several changes.
 */
async function sendChanges(
  { source, isLive }: NodeServerOptions,
  streamId: string,
  response: ServerResponse,
): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/x-ndjson' });
  let known: ReadonlyMap<string, CachedTextFile> | null = null;
  let sentIsLive: boolean | undefined;
  let sentMs = 0;
  while (!response.destroyed) {
    // Before the look: what changes after it is not missed.
    const change = source.next(streamId);
    const texts = await source.texts(streamId);
    const changed = changedTexts(known ?? new Map(), texts);
    const live = isLive(streamId);
    const isDue = performance.now() - sentMs >= HEARTBEAT_MS || live !== sentIsLive;
    if (known === null || isDue || Object.keys(changed).length > 0) {
      const frame = { ...(known === null ? { isWhole: true } : {}), texts: changed, isLive: live };
      sentMs = performance.now();
      sentIsLive = live;
      known = texts;
      if (!response.write(`${JSON.stringify(frame)}\n`)) await drained(response);
    }
    await change;
  }
}

function changedTexts(
  before: ReadonlyMap<string, CachedTextFile>,
  now: ReadonlyMap<string, CachedTextFile>,
): Record<string, string | null> {
  const changed: Record<string, string | null> = {};
  for (const name of before.keys()) if (!now.has(name)) changed[name] = null;
  for (const [name, text] of now) if (before.get(name) !== text) changed[name] = text.text;
  return changed;
}

function drained(response: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      response.off('drain', done).off('close', done);
      resolve();
    };
    response.once('drain', done).once('close', done);
  });
}

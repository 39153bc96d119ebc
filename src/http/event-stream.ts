import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/access.ts';
import { AppError } from '../kernel/errors.ts';
import type { Lease } from '../platform/leases.ts';
import { originHost, sentKey } from './plugins/authenticate.ts';
import type { HttpPorts } from './ports.ts';

/** One event as the wire has it (`text/event-stream`). */
export interface StreamEvent {
  event: string;
  /** Resumes behind this event; without it the client keeps the id it has. */
  id?: string | null;
  /** One line. */
  data: string;
}

export interface EventWriter {
  /** What the client says it has received last (`Last-Event-ID`), or null. */
  readonly lastEventId: string | null;
  /** Aborts when the stream is over, whoever ended it. */
  readonly signal: AbortSignal;
  readonly lifetimeSec: number;
  /** ISO 8601: when the stream was opened. */
  readonly serverTime: string;
  /** Resolves when the client can take more. */
  send(event: StreamEvent): Promise<void>;
}

/** Writes until `out.signal` aborts: what the handler of an event stream returns. */
export type Tail = (out: EventWriter) => Promise<void>;

type ByeReason = 'LIFETIME' | 'SHUTDOWN' | 'KEY_REVOKED' | 'STREAM_DELETED';

/** Open event streams of one API key, all kinds together (docs/api/conventions.md#rate-limits). */
export const MAX_STREAMS_PER_KEY = 25;
const RETRY_MS = 3000;
const HEARTBEAT_MS = 15_000;
const CHECK_PAUSE_MS = 1000;
const LIFETIME_SEC = 3600;
/** What the client is told to wait when its key has too many streams. */
const CAP_RETRY_SEC = 5;

type Ports = Pick<HttpPorts, 'keys' | 'leases' | 'clock' | 'log'>;

/**
 * The event streams of one endpoint (docs/decisions/event-streams.md): head, heartbeats, the end of a key,
 * lifetime, shutdown.
 */
export class EventStreams {
  readonly #ports: Ports;
  readonly #perAccount: number | undefined;
  readonly #open = new Set<OpenStream>();
  #checking: Promise<void> | null = null;
  #wanted = false;

  constructor(app: FastifyInstance, ports: Ports, perAccount: number | undefined) {
    this.#ports = ports;
    this.#perAccount = perAccount;
    ports.keys.onChanged(() => this.#check());
    app.addHook('preClose', async () => {
      for (const stream of this.#open) stream.bye('SHUTDOWN', true);
    });
  }

  /** @throws {AppError} SSE_PER_KEY_CAP. */
  async open(request: FastifyRequest, reply: FastifyReply, caller: Caller, tail: Tail): Promise<void> {
    const leases = await this.#takePlaces(caller);
    const stream = new OpenStream(this.#ports, request, reply);
    this.#open.add(stream);
    try {
      await stream.run(tail);
    } catch (error) {
      this.#ports.log.error({ err: error, requestId: request.id }, 'an event stream failed');
    } finally {
      this.#open.delete(stream);
      stream.end();
      for (const lease of leases) await lease.release();
    }
  }

  /** One after the other, and at most once a second: the streams of a key ask for it once. */
  #check(): void {
    this.#wanted = true;
    this.#checking ??= this.#checkAll().finally(() => {
      this.#checking = null;
      if (this.#wanted) this.#check();
    });
  }

  async #checkAll(): Promise<void> {
    this.#wanted = false;
    for (const stream of [...this.#open]) await stream.check();
    await sleep(CHECK_PAUSE_MS, undefined, { ref: false });
  }

  async #takePlaces({ keyId, accountId }: Caller): Promise<Lease[]> {
    const { leases } = this.#ports;
    const ofKey = await leases.acquire(`sse:${keyId}`, MAX_STREAMS_PER_KEY);
    if (ofKey === null)
      throw capped(`This API key has ${MAX_STREAMS_PER_KEY} open event streams, its maximum.`);
    if (this.#perAccount === undefined) return [ofKey];
    const ofAccount = await leases.acquire(`sse-account:${accountId}`, this.#perAccount);
    if (ofAccount !== null) return [ofKey, ofAccount];
    await ofKey.release();
    throw capped(`This account has ${this.#perAccount} open event streams of this kind, its maximum.`);
  }
}

function capped(message: string): AppError {
  return new AppError('SSE_PER_KEY_CAP', { message, headers: { 'Retry-After': String(CAP_RETRY_SEC) } });
}

class OpenStream implements EventWriter {
  readonly lastEventId: string | null;
  readonly lifetimeSec = LIFETIME_SEC;
  readonly serverTime: string;
  readonly #controller = new AbortController();
  readonly #ports: Ports;
  readonly #request: FastifyRequest;
  readonly #reply: FastifyReply;

  constructor(ports: Ports, request: FastifyRequest, reply: FastifyReply) {
    this.#ports = ports;
    this.#request = request;
    this.#reply = reply;
    this.lastEventId = lastEventIdOf(request);
    this.serverTime = ports.clock.now().toISOString();
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  async run(tail: Tail): Promise<void> {
    const { raw } = this.#reply;
    this.#reply.hijack();
    raw.on('close', () => this.#controller.abort());
    raw.on('error', () => this.#controller.abort());
    // It may be gone already, while its place was asked for.
    if (raw.destroyed) return this.#controller.abort();
    for (const [name, value] of Object.entries(this.#reply.getHeaders())) {
      if (value !== undefined) raw.setHeader(name, value);
    }
    raw.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    if (this.#request.method === 'HEAD') return;
    raw.write(`retry: ${RETRY_MS}\n\n`);
    const heartbeat = setInterval(() => void this.#heartbeat(), HEARTBEAT_MS);
    const lifetime = setTimeout(() => this.bye('LIFETIME', true), LIFETIME_SEC * 1000);
    try {
      await tail(this);
    } finally {
      clearInterval(heartbeat);
      clearTimeout(lifetime);
    }
  }

  async send({ event, id, data }: StreamEvent): Promise<void> {
    if (this.signal.aborted) return;
    const place = id === undefined || id === null ? '' : `id: ${id}\n`;
    if (this.#reply.raw.write(`event: ${event}\n${place}data: ${data}\n\n`)) return;
    await once(this.#reply.raw, 'drain', { signal: this.signal }).catch(() => {});
  }

  /** Tells the client why, and ends the stream. */
  bye(reason: ByeReason, reconnect: boolean): void {
    if (this.signal.aborted) return;
    this.#reply.raw.write(`event: bye\ndata: ${JSON.stringify({ reason, reconnect })}\n\n`);
    this.#controller.abort();
  }

  end(): void {
    this.#controller.abort();
    this.#reply.raw.end();
  }

  /** Keeps the connection alive, and ends it after its key when the hint of that was lost. */
  async #heartbeat(): Promise<void> {
    this.#reply.raw.write(`: hb ${this.#ports.clock.ms()}\n\n`);
    await this.check();
  }

  /** Ends the stream if its key is not good any more. */
  async check(): Promise<void> {
    if (this.signal.aborted) return;
    const { headers, ip } = this.#request;
    try {
      await this.#ports.keys.verify(sentKey(headers) ?? '', { ip, origin: originHost(headers) });
    } catch (error) {
      // Only what the key check itself says ends the stream: a database that is away does not, nor a neighbour who
      // guesses keys.
      if (error instanceof AppError && (error.status === 401 || error.status === 403))
        this.bye('KEY_REVOKED', false);
    }
  }
}

/** Clients that cannot set the header say it in the query. */
function lastEventIdOf(request: FastifyRequest): string | null {
  const header = request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return header;
  const { searchParams } = new URL(request.url, 'http://local');
  const query = searchParams.get('lastEventId');
  return query === '' ? null : query;
}

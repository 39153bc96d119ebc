import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '../kernel/access.ts';
import { AppError } from '../kernel/errors.ts';
import type { ConcurrencyLease } from '../platform/leases.ts';
import { type EventWriter, OpenStream, type RevocationReason } from './open-stream.ts';
import { identify } from './plugins/authenticate.ts';
import { countRequest, recordRequest } from './plugins/request-log.ts';
import type { HttpPorts } from './ports.ts';

export type { EventWriter, StreamEvent } from './open-stream.ts';

/** Handler of an event stream: writes until `out` has ended. */
export type EventStreamHandler = (out: EventWriter) => Promise<void>;

/** Open event streams of one API key or session, all kinds together (docs/concepts/conventions.md#rate-limits). */
export const MAX_STREAMS_PER_KEY = 25;
const HEARTBEAT_SEC = 15;
const CHECK_PAUSE_MS = 1000;
/** Retry delay sent to the client when there are too many streams. */
const CAP_RETRY_SEC = 5;

type Ports = Pick<HttpPorts, 'keys' | 'sessions' | 'leases' | 'clock' | 'log' | 'requestLog'>;

/** Limit on concurrently open streams under one name, across all nodes. */
export interface StreamSlotLimit {
  name: string;
  max: number;
  /** Message of the rejection. */
  message: string;
}

interface Opening {
  request: FastifyRequest;
  reply: FastifyReply;
  places: readonly StreamSlotLimit[];
  /** Verifies that the client still has access. Throws an AppError of 401, 403 or 404 when not. */
  check: () => unknown;
  /** Close reason sent when access is revoked. */
  ended: RevocationReason;
}

/**
 * The event streams of a server (docs/decisions/event-streams.md): head, heartbeats, the end of a key, lifetime,
 * shutdown.
 */
export class EventStreams {
  readonly #ports: Ports;
  readonly #open = new Set<OpenStream>();
  /** Streams grouped by the second of their heartbeat. */
  readonly #turns = Array.from({ length: HEARTBEAT_SEC }, () => new Set<OpenStream>());
  #turn = 0;
  #clockwork: NodeJS.Timeout | undefined;
  #checking: Promise<void> | null = null;
  #wanted = false;
  #isStopping = false;

  constructor(app: FastifyInstance, ports: Ports) {
    this.#ports = ports;
    ports.keys.onChanged(() => this.#check());
    ports.sessions.onChanged(() => this.#check());
    app.addHook('preClose', async () => {
      this.#isStopping = true;
      for (const stream of this.#open) stream.bye('SHUTDOWN', true);
    });
  }

  /** Ends the open streams one after the other, so that their clients do not reconnect all at the same time. */
  async drain(durationMs: number): Promise<void> {
    const startedAt = performance.now();
    const streams = [...this.#open];
    for (const [index, stream] of streams.entries()) {
      const dueAt = startedAt + (durationMs * (index + 1)) / streams.length;
      const waitMs = dueAt - performance.now();
      if (waitMs > 0) await sleep(waitMs);
      stream.bye('SHUTDOWN', true);
    }
  }

  /**
   * Opens an event stream with an API key or the session of the dashboard.
   *
   * @param perAccount maximum open streams per account, in addition to the limit per key.
   * @throws {AppError} SSE_PER_KEY_CAP.
   */
  openForKey(
    { request, reply }: Pick<Opening, 'request' | 'reply'>,
    { actor, accountId }: Caller,
    perAccount: number | undefined,
    tail: EventStreamHandler,
  ): Promise<void> {
    const { headers, ip, method } = request;
    const isKey = actor.kind === 'key';
    const places = [
      {
        name: `sse:${actor.id}`,
        max: MAX_STREAMS_PER_KEY,
        message: `This ${isKey ? 'API key' : 'session'} has reached its limit of ${MAX_STREAMS_PER_KEY} open event streams.`,
      },
    ];
    if (perAccount !== undefined) {
      const message = `Limit of ${perAccount} open event streams of this kind reached for this account.`;
      places.push({ name: `sse-account:${accountId}`, max: perAccount, message });
    }
    const check = () => identify(this.#ports, { headers, ip, method });
    const ended = isKey ? 'KEY_REVOKED' : 'SESSION_ENDED';
    return this.open({ request, reply, places, check, ended }, tail);
  }

  /**
   * Resolves when the stream has ended.
   *
   * @throws {AppError} SSE_PER_KEY_CAP before a byte was sent.
   */
  async open({ request, reply, places, check, ended }: Opening, tail: EventStreamHandler): Promise<void> {
    const leases = await this.#take(places);
    const turn = this.#turns[this.#turn];
    const stream: OpenStream = new OpenStream({
      ports: this.#ports,
      request,
      reply,
      check,
      ended,
      onOver: () => {
        this.#open.delete(stream);
        turn?.delete(stream);
        if (this.#open.size === 0) this.#stop();
      },
    });
    this.#open.add(stream);
    turn?.add(stream);
    this.#clockwork ??= setInterval(() => this.#beat(), 1000);
    const requestId = request.id;
    try {
      reply.hijack();
      // Recorded now rather than when the stream ends, so that an open stream appears in the log.
      recordRequest(this.#ports.requestLog, request, { status: 200, ms: reply.elapsedTime });
      countRequest(this.#ports.requestLog, request, 200);
      if (stream.begin(reply.getHeaders(), request.method === 'HEAD')) {
        if (this.#isStopping) stream.bye('SHUTDOWN', true);
        else await tail(stream);
      }
    } catch (error) {
      this.#ports.log.error({ err: error, requestId }, 'an event stream failed');
    } finally {
      stream.end();
      for (const lease of leases) await lease.release();
    }
  }

  #stop(): void {
    clearInterval(this.#clockwork);
    this.#clockwork = undefined;
  }

  #beat(): void {
    this.#turn = (this.#turn + 1) % HEARTBEAT_SEC;
    const text = `: hb ${this.#ports.clock.ms()}\n\n`;
    for (const stream of this.#turns[this.#turn] ?? []) void stream.heartbeat(text);
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

  async #take(places: readonly StreamSlotLimit[]): Promise<ConcurrencyLease[]> {
    const held: ConcurrencyLease[] = [];
    for (const { name, max, message } of places) {
      const lease = await this.#ports.leases.acquire(name, max);
      if (lease !== null) {
        held.push(lease);
        continue;
      }
      for (const one of held) await one.release();
      throw new AppError('SSE_PER_KEY_CAP', { message, headers: { 'Retry-After': String(CAP_RETRY_SEC) } });
    }
    return held;
  }
}

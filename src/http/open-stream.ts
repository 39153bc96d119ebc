import { once } from 'node:events';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AppError } from '../kernel/errors.ts';
import type { HttpPorts } from './ports.ts';

/** One event as the wire has it (`text/event-stream`). */
export interface StreamEvent {
  readonly event: string;
  /** Resumes behind this event; without it the client keeps the id it has. */
  readonly id?: string | null;
  /** One line. */
  readonly data: string;
}

export interface EventWriter {
  /** Last event ID sent by the client (`Last-Event-ID`), or null. */
  readonly lastEventId: string | null;
  /** Aborts when the stream has ended for any reason. */
  readonly signal: AbortSignal;
  /** Resolves when the stream has ended. */
  readonly over: Promise<void>;
  readonly lifetimeSec: number;
  /** ISO 8601: when the stream was opened. */
  readonly serverTime: string;
  /** Resolves when the client can take more. */
  send(event: StreamEvent): Promise<void>;
  /**
   * Sends without waiting. Up to 256 events are queued for a slow client; then the oldest are dropped, and it
   * gets a `resync` event before the rest.
   */
  push(event: StreamEvent): void;
  /** Tells the client why, and ends the stream. */
  bye(reason: CloseReason, reconnect: boolean): void;
}

/** Reasons for which the client's credential is no longer valid. */
export type RevocationReason = 'KEY_REVOKED' | 'SESSION_ENDED';
export type CloseReason = 'LIFETIME' | 'SHUTDOWN' | 'STREAM_DELETED' | RevocationReason;

const RETRY_MS = 3000;
const LIFETIME_SEC = 3600;
/** Events that wait for a slow client. */
const MAX_WAITING = 256;

export interface OpenStreamOptions {
  ports: Pick<HttpPorts, 'clock'>;
  request: FastifyRequest;
  reply: FastifyReply;
  /** Verifies that the client still has access. Throws an AppError of 401 or 403 when not. */
  check: () => unknown;
  /** Close reason sent when access is revoked. */
  ended: RevocationReason;
  onOver: () => void;
}

/** 404: the account of a team that the person is in no more. */
const GONE: ReadonlySet<number> = new Set([401, 403, 404]);

/**
 * One connection with its events. It retains as little of the request as possible: thousands are open
 * concurrently.
 */
export class OpenStream implements EventWriter {
  readonly lastEventId: string | null;
  readonly lifetimeSec = LIFETIME_SEC;
  readonly serverTime: string;
  readonly over: Promise<void>;
  readonly #raw: FastifyReply['raw'];
  readonly #check: () => unknown;
  readonly #ended: RevocationReason;
  readonly #openedAt = performance.now();
  readonly #onOver: () => void;
  #isOver = false;
  #controller: AbortController | null = null;
  /** Queued writes; null while the client reads fast enough. */
  #waiting: string[] | null = null;
  #dropped = 0;

  constructor({ ports, request, reply, check, ended, onOver }: OpenStreamOptions) {
    this.lastEventId = lastEventIdOf(request);
    this.serverTime = ports.clock.now().toISOString();
    this.#raw = reply.raw;
    this.#check = check;
    this.#ended = ended;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#onOver = () => {
      resolve();
      onOver();
    };
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#isOver) this.#controller.abort();
    return this.#controller.signal;
  }

  /** Sends the head. @returns false when no events can be sent. */
  begin(headers: Record<string, unknown>, isHead: boolean): boolean {
    const raw = this.#raw;
    const close = () => this.#finish();
    raw.on('close', close);
    raw.on('error', close);
    // It may be gone already, while its place was asked for.
    if (raw.destroyed) {
      this.#finish();
      return false;
    }
    for (const [name, value] of Object.entries(headers)) {
      if (typeof value === 'string' || typeof value === 'number' || Array.isArray(value)) {
        raw.setHeader(name, value);
      }
    }
    raw.writeHead(200, {
      'Content-Type': 'text/event-stream; charset=utf-8',
      'Cache-Control': 'no-store',
      'X-Accel-Buffering': 'no',
    });
    if (isHead) return false;
    raw.write(`retry: ${RETRY_MS}\n\n`);
    return true;
  }

  async send(event: StreamEvent): Promise<void> {
    if (this.#isOver) return;
    if (this.#raw.write(wireOf(event))) return;
    await once(this.#raw, 'drain', { signal: this.signal }).catch(() => {});
  }

  push(event: StreamEvent): void {
    if (this.#isOver) return;
    const text = wireOf(event);
    if (this.#waiting === null) {
      if (!this.#raw.write(text)) this.#wait([]);
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      this.#waiting.shift();
      this.#dropped += 1;
    }
    this.#waiting.push(text);
  }

  bye(reason: CloseReason, reconnect: boolean): void {
    if (this.#isOver) return;
    this.#raw.write(wireOf({ event: 'bye', data: JSON.stringify({ reason, reconnect }) }));
    this.end();
  }

  end(): void {
    this.#finish();
    this.#raw.end();
  }

  /** Keeps the connection alive, and ends it at the end of its life or of its key's. */
  async heartbeat(text: string): Promise<void> {
    if (this.#isOver) return;
    if (performance.now() - this.#openedAt >= LIFETIME_SEC * 1000) return this.bye('LIFETIME', true);
    // One that does not read is not given more to read.
    if (this.#waiting === null) this.#raw.write(text);
    await this.check();
  }

  /** Ends the stream if its key or session is no longer valid. */
  async check(): Promise<void> {
    if (this.#isOver) return;
    try {
      await this.#check();
    } catch (error) {
      // Only a result of the check ends the stream: an unavailable database does not.
      if (error instanceof AppError && GONE.has(error.status)) this.bye(this.#ended, false);
    }
  }

  #wait(waiting: string[]): void {
    this.#waiting = waiting;
    this.#raw.once('drain', () => this.#flush());
  }

  #flush(): void {
    const waiting = this.#waiting ?? [];
    const dropped = this.#dropped;
    this.#waiting = null;
    this.#dropped = 0;
    if (dropped > 0) {
      const data = JSON.stringify({ reason: 'OVERFLOW', droppedAtLeast: dropped });
      waiting.unshift(wireOf({ event: 'resync', data }));
    }
    for (const [at, text] of waiting.entries()) {
      if (this.#isOver) return;
      if (this.#raw.write(text)) continue;
      this.#wait(waiting.slice(at + 1));
      return;
    }
  }

  #finish(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = null;
    this.#controller?.abort();
    this.#onOver();
  }
}

let written: { event: StreamEvent; text: string } | null = null;

/** An event sent to many streams is serialized once, because it is sent to them one after the other. */
function wireOf(event: StreamEvent): string {
  if (written?.event === event) return written.text;
  const { event: name, id, data } = event;
  const place = id === undefined || id === null ? '' : `id: ${id}\n`;
  const text = `event: ${name}\n${place}data: ${data}\n\n`;
  written = { event, text };
  return text;
}

/** Clients that cannot set the header send it in the query. */
function lastEventIdOf(request: FastifyRequest): string | null {
  const header = request.headers['last-event-id'];
  if (typeof header === 'string' && header !== '') return header;
  const { searchParams } = new URL(request.url, 'http://local');
  const query = searchParams.get('lastEventId');
  return query === '' ? null : query;
}

import type { EventCatalogue } from '../../../events/catalogue.ts';
import * as kept from '../../../events/event-store.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Bus } from '../../../platform/bus.ts';
import type { Db } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import { LogReader, SAMPLE_TOPIC } from './reader.ts';
import { type PendingItem, TailSubscription } from './tail-subscription.ts';

interface Deps {
  db: Db;
  catalogue: EventCatalogue;
  bus: Bus;
  clock: Clock;
  log: Logger;
  /** `livemode` as in every event (docs/concepts/webhooks.md#the-request). */
  livemode: boolean;
}

export interface TailOptions {
  /** Types and `prefix.*`; empty means every type. */
  patterns: readonly string[];
  /** The id of the last item that was received (`Last-Event-ID`), or null to begin now. */
  after: string | null;
  /** Ends the tail. */
  signal: AbortSignal;
}

export type TailItem =
  /** The first: what commits from here on is shown, behind what there is to resume. */
  | { kind: 'ready' }
  /** `id` resumes behind this event; a triggered sample has none, as it is not kept. */
  | { kind: 'event'; id: string | null; body: string }
  /** The place asked for is unknown or no longer kept: the tail begins now. */
  | { kind: 'resync'; reason: 'UNKNOWN_ID' | 'EXPIRED' };

/** The workspace's own events: the last 30 days, and those to come. */
export interface EventLog {
  /** @param patterns types and `prefix.*` @throws {AppError} BAD_REQUEST, field `type`. */
  list(workspaceId: string, patterns: readonly string[], page: PageRequest): Promise<kept.EventPosition[]>;
  /** @throws {AppError} NOT_FOUND. */
  get(workspaceId: string, id: string): Promise<kept.RetainedEvent>;
  /** Every event that commits from the place on, each once and in one order, until the signal aborts. */
  tail(workspaceId: string, options: TailOptions): AsyncIterable<TailItem>;
  /**
   * Shows a sample event to the open tails of the workspace. It is not stored and not sent to webhooks.
   *
   * @returns the exact body.
   * @throws {AppError} UNKNOWN_EVENT; BAD_REQUEST, field `payload`, when it is too large.
   */
  trigger(workspaceId: string, type: string, payload?: object): { id: string; type: string; body: string };
  /** @throws {AppError} BAD_REQUEST, field `type`, for what matches no type. */
  parseTypes(text: string | undefined): string[];
}

/** A notification of PostgreSQL holds 8000 bytes. */
const SAMPLE_BYTES = 7000;
const RETENTION_MS = 30 * 86_400_000;
/** Maximum events per read of a tail that catches up. */
const BATCH = 100;

export function createEventLog(deps: Deps): EventLog {
  const { db, catalogue, bus, clock, livemode } = deps;
  const reader = new LogReader(deps);
  return {
    list(workspaceId, patterns, page) {
      const types = catalogue.types().filter((type) => catalogue.matches(patterns, type));
      return kept.listEvents(db, workspaceId, patterns.length === 0 ? null : types, page);
    },
    async get(workspaceId, id) {
      const event = await kept.findEvent(db, workspaceId, id);
      if (event === undefined) throw notFound();
      return event;
    },
    tail: (workspaceId, options) => new Tail(deps, reader, workspaceId, options).items(),
    trigger(workspaceId, type, payload = {}) {
      const definition = catalogue.get(type);
      if (definition === undefined) throw new AppError('UNKNOWN_EVENT', { field: 'type' });
      const id = newUuid();
      const created = Math.floor(clock.ms() / 1000);
      const data = { ...definition.sample, ...payload };
      const body = JSON.stringify({ id, type, created, livemode, data });
      if (Buffer.byteLength(body) > SAMPLE_BYTES) {
        throw badRequest('payload', `The event must not exceed ${SAMPLE_BYTES} bytes.`);
      }
      bus.publish(SAMPLE_TOPIC, `${workspaceId}\n${type}\n${body}`);
      return { id, type, body };
    },
    parseTypes(text) {
      const items = (text ?? '').split(',').map((item) => item.trim());
      const patterns = items.filter((item) => item !== '' && item !== '*');
      if (!patterns.every((item) => catalogue.isPattern(item))) {
        throw badRequest('type', 'Unknown event type; see GET /me/webhooks/events.');
      }
      return items.includes('*') ? [] : patterns;
    },
  };
}

/** One tail: it reads missed events itself and gets new ones from the shared reader. */
class Tail {
  readonly #deps: Deps;
  readonly #reader: LogReader;
  readonly #workspaceId: string;
  readonly #options: TailOptions;

  constructor(deps: Deps, reader: LogReader, workspaceId: string, options: TailOptions) {
    this.#deps = deps;
    this.#reader = reader;
    this.#workspaceId = workspaceId;
    this.#options = options;
  }

  async *items(): AsyncGenerator<TailItem> {
    const { signal, after } = this.#options;
    const start = after === null ? null : await this.#resume(after);
    let place = typeof start === 'string' ? null : start;
    let isNew = true;
    while (!signal.aborted) {
      const seat = new TailSubscription((type) => this.#wants(type), signal);
      const leave = this.#reader.join(this.#workspaceId, seat);
      try {
        const early = await seat.take();
        if (seat.from === null) return;
        if (isNew) yield { kind: 'ready' };
        if (isNew && typeof start === 'string') yield { kind: 'resync', reason: start };
        isNew = false;
        if (place !== null) yield* this.#missed(place, seat.from);
        yield* early.map(itemOf);
        yield* this.#coming(seat);
        place = seat.place;
      } finally {
        leave();
        seat.close();
      }
    }
  }

  /** Until the tail ends, or is too slow for its seat. */
  async *#coming(seat: TailSubscription): AsyncGenerator<TailItem> {
    while (!this.#options.signal.aborted) {
      const waiting = await seat.take();
      yield* waiting.map(itemOf);
      if (waiting.length === 0 && seat.isFull) return;
    }
  }

  /** The rest of the place's own step, then all that was committed from it up to the snapshot. */
  async *#missed(place: kept.TailPosition, until: string): AsyncGenerator<TailItem> {
    yield* this.#step(place);
    yield* this.#step({ before: place.now, now: until, seq: '0' });
  }

  async *#step(place: kept.TailPosition): AsyncGenerator<TailItem> {
    const { db } = this.#deps;
    const { signal } = this.#options;
    let { seq } = place;
    for (let isMore = true; isMore && !signal.aborted; ) {
      const rows = await kept.readEventsBetween(
        db,
        [{ ...place, seq, workspaceId: this.#workspaceId }],
        BATCH,
      );
      for (const row of rows) {
        ({ seq } = row);
        if (this.#wants(row.type)) yield itemOf({ kind: 'event', row, place: { ...place, seq } });
      }
      isMore = rows.length === BATCH;
    }
  }

  async #resume(after: string): Promise<kept.TailPosition | 'UNKNOWN_ID' | 'EXPIRED'> {
    const place = parseTailId(after, this.#deps.clock);
    if (typeof place === 'string') return place;
    return (await kept.isTailPosition(this.#deps.db, place)) ? place : 'UNKNOWN_ID';
  }

  #wants(type: string): boolean {
    return this.#deps.catalogue.matches(this.#options.patterns, type);
  }
}

function itemOf(waiting: PendingItem): TailItem {
  if (waiting.kind === 'sample') return { kind: 'event', id: null, body: waiting.body };
  const { row, place } = waiting;
  return { kind: 'event', id: tailId(row, place), body: row.body };
}

/**
 * Returns the position with its time in front, so that an expired one can be distinguished from an unknown
 * one.
 */
function tailId(event: { created_at: Date }, { before, now, seq }: kept.TailPosition): string {
  return [event.created_at.getTime(), seq, before, now].join('-');
}

const TAIL_ID = /^(\d{1,15})-(\d{1,18})-(\d+:\d+:[\d,]*)-(\d+:\d+:[\d,]*)$/;
const MAX_TAIL_ID = 8000;

function parseTailId(text: string, clock: Clock): kept.TailPosition | 'UNKNOWN_ID' | 'EXPIRED' {
  const [, time, seq, before, now] = (text.length <= MAX_TAIL_ID && TAIL_ID.exec(text)) || [];
  if (time === undefined || seq === undefined || before === undefined || now === undefined) {
    return 'UNKNOWN_ID';
  }
  return Number(time) < clock.ms() - RETENTION_MS ? 'EXPIRED' : { before, now, seq };
}

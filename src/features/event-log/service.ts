import { setTimeout as sleep } from 'node:timers/promises';
import type { EventCatalogue } from '../../events/catalogue.ts';
import { DELIVERIES_TOPIC } from '../../events/index.ts';
import * as kept from '../../events/kept.ts';
import type { Clock } from '../../kernel/clock.ts';
import { AppError, badRequest, notFound } from '../../kernel/errors.ts';
import { newUuid } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Db } from '../../platform/db/index.ts';

interface Deps {
  db: Db;
  catalogue: EventCatalogue;
  bus: Bus;
  clock: Clock;
  /** As in every event (docs/api/webhooks.md#the-request). */
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
  /** `id` resumes behind this event; a triggered sample has none, as it is not kept. */
  | { kind: 'event'; id: string | null; body: string }
  /** The place asked for is unknown or no longer kept: the tail begins now. */
  | { kind: 'resync'; reason: 'UNKNOWN_ID' | 'EXPIRED' };

/** The workspace's own events: the last 30 days, and those to come. */
export interface EventLog {
  /** @param patterns types and `prefix.*` @throws {AppError} BAD_REQUEST, field `type`. */
  list(workspaceId: string, patterns: readonly string[], page: PageRequest): Promise<kept.PlacedEvent[]>;
  /** @throws {AppError} NOT_FOUND. */
  get(workspaceId: string, id: string): Promise<kept.KeptEvent>;
  /** Every event that commits from the place on, each once and in one order, until the signal aborts. */
  tail(workspaceId: string, options: TailOptions): AsyncIterable<TailItem>;
  /**
   * Shows a sample event to the open tails of the workspace. Nothing is kept and no webhook gets it.
   *
   * @returns the exact body.
   * @throws {AppError} UNKNOWN_EVENT; BAD_REQUEST, field `payload`, when it is too large.
   */
  trigger(workspaceId: string, type: string, payload?: object): { id: string; type: string; body: string };
  /** @throws {AppError} BAD_REQUEST, field `type`, for what matches no type. */
  parseTypes(text: string | undefined): string[];
}

/** Told with `<workspace>\n<type>\n<body>` of a triggered sample. */
const SAMPLE_TOPIC = 'event-samples';
/** A notification of PostgreSQL holds 8000 bytes. */
const SAMPLE_BYTES = 7000;
const KEPT_MS = 30 * 86_400_000;
const BATCH = 100;
/** Hints may be lost: a tail looks this often anyway. */
const POLL_MS = 1000;
/** Two looks of one tail are at least so far apart. */
const GAP_MS = 10;
/** Samples that wait for a slow reader. */
const MAX_SAMPLES = 100;

export function createEventLog(deps: Deps): EventLog {
  const { db, catalogue, bus, clock, livemode } = deps;
  return {
    list: (workspaceId, patterns, page) => kept.listEvents(db, workspaceId, patterns, page),
    async get(workspaceId, id) {
      const event = await kept.findEvent(db, workspaceId, id);
      if (event === undefined) throw notFound();
      return event;
    },
    tail: (workspaceId, options) => new Tail(deps, workspaceId, options).items(),
    trigger(workspaceId, type, payload = {}) {
      const definition = catalogue.get(type);
      if (definition === undefined) throw new AppError('UNKNOWN_EVENT', { field: 'type' });
      const id = newUuid();
      const created = Math.floor(clock.ms() / 1000);
      const data = { ...definition.sample, ...payload };
      const body = JSON.stringify({ id, type, created, livemode, data });
      if (Buffer.byteLength(body) > SAMPLE_BYTES) {
        throw badRequest('payload', `The event must not be larger than ${SAMPLE_BYTES} bytes.`);
      }
      bus.publish(SAMPLE_TOPIC, `${workspaceId}\n${type}\n${body}`);
      return { id, type, body };
    },
    parseTypes: (text) =>
      (text ?? '')
        .split(',')
        .map((item) => item.trim())
        .filter((item) => item !== '' && item !== '*')
        .map((item) => {
          if (catalogue.isPattern(item)) return item;
          throw badRequest('type', 'There is no such event type; see GET /me/webhooks/events.');
        }),
  };
}

class Tail {
  readonly #deps: Deps;
  readonly #workspaceId: string;
  readonly #options: TailOptions;
  readonly #samples: string[] = [];
  /** Something may have come since the last look. */
  #hinted = false;
  #wake: () => void = () => {};

  constructor(deps: Deps, workspaceId: string, options: TailOptions) {
    this.#deps = deps;
    this.#workspaceId = workspaceId;
    this.#options = options;
  }

  async *items(): AsyncGenerator<TailItem> {
    const { signal, after } = this.#options;
    const unsubscribe = this.#subscribe();
    try {
      let place = after === null ? null : await this.#resume(after);
      if (place === 'UNKNOWN_ID' || place === 'EXPIRED') {
        yield { kind: 'resync', reason: place };
        place = null;
      }
      place ??= await this.#nextStep(null);
      while (!signal.aborted) {
        const rows = await kept.eventsOfStep(this.#deps.db, this.#workspaceId, place, BATCH);
        for (const row of rows) {
          place = { ...place, seq: row.seq };
          if (this.#wants(row.type)) yield { kind: 'event', id: tailId(row, place), body: row.body };
        }
        for (const body of this.#samples.splice(0)) yield { kind: 'event', id: null, body };
        if (rows.length === BATCH) continue;
        if (rows.length === 0) await this.#pause();
        // Before the look: a hint that comes from here on is for the next one.
        this.#hinted = false;
        place = await this.#nextStep(place.now);
      }
    } finally {
      unsubscribe();
    }
  }

  /** From what was seen to what is committed now; from now on, when nothing was. */
  async #nextStep(seen: string | null): Promise<kept.TailPlace> {
    const now = await kept.currentSnapshot(this.#deps.db);
    return { before: seen ?? now, now, seq: '0' };
  }

  async #resume(after: string): Promise<kept.TailPlace | 'UNKNOWN_ID' | 'EXPIRED'> {
    const place = parseTailId(after, this.#deps.clock);
    if (typeof place === 'string') return place;
    return (await kept.isPlace(this.#deps.db, place)) ? place : 'UNKNOWN_ID';
  }

  #wants(type: string): boolean {
    return this.#deps.catalogue.matches(this.#options.patterns, type);
  }

  #subscribe(): () => void {
    const { bus } = this.#deps;
    const look = () => {
      this.#hinted = true;
      this.#wake();
    };
    const onAbort = () => this.#wake();
    this.#options.signal.addEventListener('abort', onAbort);
    const unsubscribes = [
      bus.subscribe(DELIVERIES_TOPIC, look),
      bus.subscribe(SAMPLE_TOPIC, (payload) => {
        const [workspaceId, type = '', body = ''] = payload.split('\n');
        if (workspaceId !== this.#workspaceId || !this.#wants(type)) return;
        if (this.#samples.length < MAX_SAMPLES) this.#samples.push(body);
        look();
      }),
    ];
    return () => {
      this.#options.signal.removeEventListener('abort', onAbort);
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
  }

  /** Until a hint, the end of the tail, or the time is over; hints of all workspaces come, so a little always. */
  async #pause(): Promise<void> {
    await sleep(GAP_MS);
    if (this.#hinted || this.#options.signal.aborted) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, POLL_MS);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** The place with its time in front, so that an expired one can be told from an unknown one. */
function tailId(event: { created_at: Date }, { before, now, seq }: kept.TailPlace): string {
  return [event.created_at.getTime(), seq, before, now].join('-');
}

const TAIL_ID = /^(\d{1,15})-(\d{1,18})-(\d+:\d+:[\d,]*)-(\d+:\d+:[\d,]*)$/;
const MAX_TAIL_ID = 8000;

function parseTailId(text: string, clock: Clock): kept.TailPlace | 'UNKNOWN_ID' | 'EXPIRED' {
  const [, time, seq, before, now] = (text.length <= MAX_TAIL_ID && TAIL_ID.exec(text)) || [];
  if (time === undefined || seq === undefined || before === undefined || now === undefined) {
    return 'UNKNOWN_ID';
  }
  return Number(time) < clock.ms() - KEPT_MS ? 'EXPIRED' : { before, now, seq };
}

import { type Clock, dateFromMs } from '../kernel/clock.ts';
import { newUuid } from '../kernel/ids.ts';
import type { Bus } from '../platform/bus.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { EventCatalogue } from './catalogue.ts';

/** An event as a feature appends it. */
export interface NewEvent {
  workspaceId: string;
  type: string;
  data: object;
  /** When it happened, epoch milliseconds; now unless given. */
  createdAtMs?: number;
}

/** An event as it was stored: what consumers read. */
export interface StoredEvent {
  id: string;
  workspaceId: string;
  type: string;
  data: object;
  createdAt: Date;
}

/** Reacts to an event in the transaction that appends it: enqueues work, never does it. */
export type EventConsumer = (tx: Tx, event: StoredEvent, append: AppendEvent) => Promise<void>;

/** @returns the id of the event, a UUIDv4. */
export type AppendEvent = (event: NewEvent) => Promise<string>;

export interface Events {
  /**
   * Runs `work` in one transaction: its changes, its events and what the consumers enqueue are there
   * together or not at all. After the commit the workers are woken once.
   *
   * @throws {Error} when an event's type is not in the catalogue.
   */
  transaction<T>(work: (tx: Tx, append: AppendEvent) => Promise<T>): Promise<T>;
}

/** The topic that wakes the delivery workers. */
export const DELIVERIES_TOPIC = 'deliveries';

export interface EventsOptions {
  db: Db;
  catalogue: EventCatalogue;
  /** The platform environment, not the key's mode (contract 2.5). */
  livemode: boolean;
  clock: Clock;
  bus: Pick<Bus, 'publish'>;
  consumers: readonly EventConsumer[];
  logger: Logger;
  /** Data that its schema refuses throws; otherwise it is logged, counted and sent. */
  strict?: boolean;
  /** Counts what `strict` would have refused. */
  onRefused?: (type: string) => void;
  /** Told after each commit. */
  onCommitted?: (tx: Tx) => void;
}

export function createEvents(options: EventsOptions): Events {
  const { db, catalogue, livemode, clock, bus, consumers, logger } = options;

  const check = (event: NewEvent) => {
    const reason = catalogue.refuse(event.type, event.data);
    if (reason === null) return;
    if (options.strict === true || catalogue.get(event.type) === undefined) {
      throw new Error(`the event ${event.type} was refused: ${reason}`);
    }
    logger.error({ eventType: event.type, reason }, 'an event does not fit its schema');
    options.onRefused?.(event.type);
  };

  const append = async (tx: Tx, event: NewEvent): Promise<string> => {
    check(event);
    const { workspaceId, type, data } = event;
    const id = newUuid();
    const createdAt = dateFromMs(event.createdAtMs ?? clock.ms());
    const created = Math.floor(createdAt.getTime() / 1000);
    const body = JSON.stringify({ id, type, created, livemode, data });
    await tx
      .insertInto('event')
      .values({ id, workspace_id: workspaceId, type, created_at: createdAt, body })
      .execute();
    const stored = { id, workspaceId, type, data, createdAt };
    for (const consume of consumers) await consume(tx, stored, (next) => append(tx, next));
    return id;
  };

  return {
    async transaction(work) {
      let appended = false;
      let committed: Tx | null = null;
      const result = await db.transaction().execute((tx) => {
        committed = tx;
        return work(tx, (event) => {
          appended = true;
          return append(tx, event);
        });
      });
      if (appended) bus.publish(DELIVERIES_TOPIC);
      if (committed !== null) options.onCommitted?.(committed);
      return result;
    },
  };
}

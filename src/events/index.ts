import type { Static, TObject } from 'typebox';
import { type Clock, dateFromMs } from '../kernel/clock.ts';
import { newUuid } from '../kernel/ids.ts';
import type { Bus } from '../platform/bus.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { EventCatalogue, EventDefinition } from './catalogue.ts';

export { nextSequence } from './sequence.ts';

/** An event as it was stored: what consumers read. */
export interface StoredEvent<D extends TObject = TObject> {
  id: string;
  workspaceId: string;
  definition: EventDefinition<D>;
  type: string;
  data: Static<D>;
  createdAt: Date;
}

/**
 * Appends an event of this definition.
 *
 * @param options.at when it happened; now unless given.
 * @returns the id of the event, a UUIDv4.
 */
export type AppendEvent = <D extends TObject>(
  definition: EventDefinition<D>,
  workspaceId: string,
  data: Static<D>,
  options?: { at?: Date },
) => Promise<string>;

/** Reacts to an event in the transaction that appends it: enqueues work, never does it. */
export type EventHandler<D extends TObject = TObject> = (
  tx: Tx,
  event: StoredEvent<D>,
  append: AppendEvent,
) => Promise<void>;

/** A consumer as the composition root collects it from a feature; created by `on` and `onAny`. */
export interface EventConsumer {
  readonly handle: EventHandler;
}

/** Listens for the events of one definition. */
export function on<D extends TObject>(
  definition: EventDefinition<D>,
  handler: EventHandler<D>,
): EventConsumer {
  return {
    async handle(tx, event, append) {
      if (isEvent(event, definition)) await handler(tx, event, append);
    },
  };
}

/** Listens for every event there is. */
export function onAny(handler: EventHandler): EventConsumer {
  return { handle: handler };
}

export function isEvent<D extends TObject>(
  event: StoredEvent,
  definition: EventDefinition<D>,
): event is StoredEvent<D> {
  return event.definition === definition;
}

export interface Events {
  /**
   * Runs `work` in one transaction: its changes, its events and the jobs that consumers enqueue commit
   * together or not at all. After the commit the workers are woken once.
   *
   * @param work may run twice, when a migration has changed a table (`repeatOnStalePlan`).
   * @throws {Error} when an event's type is not in the catalog.
   */
  transaction<T>(work: (tx: Tx, append: AppendEvent) => Promise<T>): Promise<T>;
}

/**
 * Wakes the delivery workers and, with a workspace ID as its payload, the tails of its events: one hint per
 * workspace, so that no tail queries because of others.
 */
export const DELIVERIES_TOPIC = 'deliveries';

export interface EventsOptions {
  db: Db;
  catalogue: EventCatalogue;
  /** The platform environment, not the key's mode. */
  livemode: boolean;
  clock: Clock;
  bus: Pick<Bus, 'publish'>;
  consumers: readonly EventConsumer[];
  log: Logger;
  /** Data that its schema refuses throws; otherwise it is logged, counted and sent. */
  strict?: boolean;
  /** Counts what `strict` would have refused. */
  onRefused?: (type: string) => void;
  /** Told after each commit. */
  onCommitted?: (tx: Tx) => void;
}

export function createEvents(options: EventsOptions): Events {
  const { db, catalogue, livemode, clock, bus, consumers, log } = options;

  const check = (definition: EventDefinition, data: unknown) => {
    const { type } = definition;
    if (!catalogue.has(definition)) throw new Error(`the event ${type} is not in the catalog`);
    const reason = catalogue.refuse(type, data);
    if (reason === null) return;
    if (options.strict === true) throw new Error(`event ${type} was rejected: ${reason}`);
    log.error({ eventType: type, reason }, 'an event does not fit its schema');
    options.onRefused?.(type);
  };

  const appendIn = (tx: Tx, workspaces: Set<string>) => {
    const append: AppendEvent = async (definition, workspaceId, data, { at } = {}) => {
      check(definition, data);
      const { type } = definition;
      const id = newUuid();
      const createdAt = at ?? dateFromMs(clock.ms());
      const created = Math.floor(createdAt.getTime() / 1000);
      const body = JSON.stringify({ id, type, created, livemode, data });
      await tx
        .insertInto('event')
        .values({ id, workspace_id: workspaceId, type, created_at: createdAt, body })
        .execute();
      workspaces.add(workspaceId);
      const stored = { id, workspaceId, definition, type, data, createdAt };
      for (const { handle } of consumers) await handle(tx, stored, append);
      return id;
    };
    return append;
  };

  return {
    async transaction(work) {
      const { tx, appended, result } = await db.transaction().execute(async (tx) => {
        const appended = new Set<string>();
        const result = await work(tx, appendIn(tx, appended));
        return { tx, appended, result };
      });
      for (const workspaceId of appended) bus.publish(DELIVERIES_TOPIC, workspaceId);
      options.onCommitted?.(tx);
      return result;
    },
  };
}

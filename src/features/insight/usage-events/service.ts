import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { BatchWriter } from '../../../platform/batch-writer.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import * as repository from './repository.ts';
import type { UsageEvent, UsageEventRow } from './usage-event.ts';

export interface UsageEvents {
  /** Inserts usage events in the transaction of the change that they count. */
  append(tx: Tx, facts: readonly UsageEvent[]): Promise<void>;
  /** Records a usage event in a later batch; never waits and never fails. A metric counts losses. */
  record(fact: UsageEvent): void;
  /**
   * Renumbers usage events of a database that was restored into another server, whose transaction IDs are
   * lower: uncounted ones (of `nextXid` or later, or newer than `freshUntil`) get this transaction's ID, and
   * the others none.
   */
  renumber(tx: Tx, counted: { nextXid: string; freshUntil: Date }): Promise<void>;
  /**
   * Reports whether a player sent this message number within the last eight days. Sessions last for seven.
   */
  isDuplicate(message: repository.BeaconKey): Promise<boolean>;
  /**
   * Returns the highest message number of the session within the last eight days; null when there is none.
   */
  lastNumber(session: Omit<repository.BeaconKey, 'number'>): Promise<number | null>;
  /** Writes pending rows, for at most 5 seconds. */
  close(): Promise<void>;
}

const PAUSE_MS = 1000;
const BATCH = 1000;
/** Maximum rows buffered while the database is slow or unavailable: about 10 MB. */
const MAX_WAITING = 20_000;

interface Deps {
  db: Db;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** Called with the number of lost usage events. */
  onRowsDropped(count: number): void;
}

export function createUsageEvents({ db, clock, log, onRowsDropped }: Deps): UsageEvents {
  const withIdAndTime = (fact: UsageEvent): UsageEventRow => ({
    ...fact,
    id: newId('fct'),
    at: fact.at ?? clock.now(),
  });
  const buffer = new BatchWriter<UsageEventRow>({
    write: (facts) => repository.insertUsageEvents(db, facts),
    batch: BATCH,
    maxQueuedRows: MAX_WAITING,
    pauseMs: PAUSE_MS,
    log,
    warning: 'usage events could not be stored',
    onRowsDropped,
  });
  return {
    async append(tx, facts) {
      if (facts.length > 0) await repository.insertUsageEvents(tx, facts.map(withIdAndTime));
    },
    renumber: repository.resetTransactionIds,
    isDuplicate: (message) => repository.isDuplicateBeacon(db, message),
    lastNumber: (session) => repository.lastNumber(db, session),
    record: (fact) => buffer.add(withIdAndTime(fact)),
    close: () => buffer.close(),
  };
}

import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import { BatchWriter } from '../../../platform/batch-writer.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { Logger } from '../../../platform/logger.ts';
import * as repository from './repository.ts';
import type { UsageEvent, UsageEventRow } from './usage-event.ts';

export interface UsageEvents {
  /** In the transaction of the change that it counts: both are there, or neither. */
  append(tx: Tx, facts: readonly UsageEvent[]): Promise<void>;
  /** Later, with others: it never waits and never fails. What is lost is counted in the metrics. */
  record(fact: UsageEvent): void;
  /**
   * For a database that was restored into another server, whose transactions have smaller numbers: of this transaction
   * are the facts that are not counted yet (of `nextXid` or a later one, or newer than `freshUntil`), and of none
   * the others.
   */
  renumber(tx: Tx, counted: { nextXid: string; freshUntil: Date }): Promise<void>;
  /** Has a player told the message of this number, in the eight days before? Sessions last for seven. */
  isDuplicate(message: repository.BeaconKey): Promise<boolean>;
  /** Returns the highest number that a player has told in the same time; null when there is none. */
  lastNumber(session: Omit<repository.BeaconKey, 'number'>): Promise<number | null>;
  /** Writes what is still to be written, for at most 5 seconds. */
  close(): Promise<void>;
}

const PAUSE_MS = 1000;
const BATCH = 1000;
/** Some 10 MB: what is held while the database is slow or away. */
const MAX_WAITING = 20_000;

interface Deps {
  db: Db;
  clock: Clock;
  log: Pick<Logger, 'warn'>;
  /** So many facts are lost. */
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
    warning: 'facts could not be written',
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

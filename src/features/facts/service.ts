import type { Clock } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { RowBuffer } from '../../platform/row-buffer.ts';
import type { Fact, StampedFact } from './fact.ts';
import * as repository from './repository.ts';

export interface Facts {
  /** In the transaction of the change that it counts: both are there, or neither. */
  append(tx: Tx, facts: readonly Fact[]): Promise<void>;
  /** Later, with others: it never waits and never fails. What is lost is counted in the metrics. */
  note(fact: Fact): void;
  /**
   * For a database that was restored into another server, whose transactions have smaller numbers: of this transaction
   * are the facts that are not counted yet (of `nextXid` or a later one, or newer than `freshUntil`), and of none
   * the others.
   */
  renumber(tx: Tx, counted: { nextXid: string; freshUntil: Date }): Promise<void>;
  /** Has a player told the message of this number, in the eight days before? Sessions last for seven. */
  isTold(message: repository.PlayerMessage): Promise<boolean>;
  /** Returns the highest number that a player has told in the same time; null when there is none. */
  lastNumber(session: Omit<repository.PlayerMessage, 'number'>): Promise<number | null>;
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
  onDropped(count: number): void;
}

export function createFacts({ db, clock, log, onDropped }: Deps): Facts {
  const stamped = (fact: Fact): StampedFact => ({ ...fact, id: newId('fct'), at: fact.at ?? clock.now() });
  const buffer = new RowBuffer<StampedFact>({
    write: (facts) => repository.insertFacts(db, facts),
    batch: BATCH,
    maxWaiting: MAX_WAITING,
    pauseMs: PAUSE_MS,
    log,
    warning: 'facts could not be written',
    onDropped,
  });
  return {
    async append(tx, facts) {
      if (facts.length > 0) await repository.insertFacts(tx, facts.map(stamped));
    },
    renumber: repository.renumberFacts,
    isTold: (message) => repository.isTold(db, message),
    lastNumber: (session) => repository.lastNumber(db, session),
    note: (fact) => buffer.add(stamped(fact)),
    close: () => buffer.close(),
  };
}

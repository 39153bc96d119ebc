import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Sql } from 'postgres';
import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import type { Secrets } from '../secrets.ts';
import { deadlineOf } from './deadline.ts';
import { createLeasedRecords, type LeasedRun } from './idempotency-leases.ts';
import {
  type Claim,
  type IdempotentOutcome,
  type IdempotentRequest,
  isSameBody,
  type StoredResponse,
} from './idempotent.ts';
import {
  runInSharedTransaction,
  type SharedTransaction,
  withSharedTransaction,
} from './shared-transaction.ts';

export type { IdempotentOutcome, IdempotentRequest, StoredResponse } from './idempotent.ts';

export interface Idempotency {
  /** Finds the stored response of the key; null when there is none. */
  find(request: IdempotentRequest): Promise<IdempotentOutcome | null>;
  /**
   * Runs `run` unless its response is stored, and stores it for 24 hours, in one transaction: all changes
   * that `run` makes through this pool commit with the response or not at all. When `run` throws, nothing is
   * stored and the key is free again. Requests with the same key, on any node, wait up to 3 s for the
   * response.
   */
  once(request: IdempotentRequest, run: () => Promise<StoredResponse>): Promise<IdempotentOutcome>;
  /**
   * Variant of `once` for a `run` that calls other services and may hold no transaction during the calls: the
   * key is leased, and everything created carries the operation's ID, so that a run after a crash finds it.
   * When `run` throws, the key is free again.
   */
  onceLeased(
    request: IdempotentRequest,
    run: (idempotentRunId: string) => Promise<StoredResponse>,
  ): Promise<IdempotentOutcome>;
  /** Deletes expired records. @returns the number of rows. */
  sweep(): Promise<number>;
}

export interface IdempotencyOptions {
  sql: Sql;
  clock: Clock;
  secrets: Pick<Secrets, 'encrypt' | 'decrypt'>;
  /** Maximum concurrent handlers: each holds a connection of the pool, and other requests need some, too. */
  concurrency: number;
}

const RETENTION_MS = 24 * 3_600_000;
const WAIT_MS = 3_000;
/** Pause between two looks at a key that another node holds, and how much of it is random. */
const POLL_MS = 40;
const POLL_JITTER_MS = 40;
const WAITERS_PER_KEY = 100;
const WAITERS_PER_NODE = 1_000;
const SWEEP_BATCH = 5_000;

const FIND = `
  select fingerprint, status, body from idempotency_record
  where id = $1 and expires_at > $2 and status is not null`;
const LOCK = 'select pg_try_advisory_xact_lock($1::bigint) as locked';
const STORE = `
  insert into idempotency_record (id, workspace_id, fingerprint, status, body, expires_at)
  values ($1, $2, $3, $4, $5, $6)
  on conflict (id) do update set fingerprint = excluded.fingerprint, status = excluded.status,
    body = excluded.body, expires_at = excluded.expires_at
  where idempotency_record.expires_at <= $7`;
const SWEEP = `
  delete from idempotency_record where id in
    (select id from idempotency_record where expires_at <= $1 order by expires_at limit ${SWEEP_BATCH})`;

interface RecordRow {
  fingerprint: Uint8Array;
  status: number;
  body: Uint8Array;
}

type Run = () => Promise<StoredResponse>;

/** A request of this process that runs, or that waits for another node. */
interface Leader {
  ended: Promise<void>;
  waiters: number;
}

/** The sequence of docs/decisions/idempotency.md#the-sequence. */
export function createIdempotency(options: IdempotencyOptions): Idempotency {
  const { sql } = options;
  const records = createRecords(options);
  const queue = createQueue();
  const leases = createLeasedRecords(options);
  const slots = createSlots(options.concurrency);

  /** One look under the lock of the key, and the run when it is free. @returns null when it is not. */
  const attempt = (claim: Claim, run: Run) =>
    withSharedTransaction<IdempotentOutcome>(sql, async (transaction) => {
      // The record is read after the lock was taken, so that one committed just before is seen.
      const [lock, known] = await Promise.all([
        transaction.query<{ locked: boolean }>(LOCK, [lockOf(claim.id)], true),
        records.find(claim, transaction),
      ]);
      if (lock.rows[0]?.locked !== true) return null;
      if (known !== null) return known;
      const response = await runInSharedTransaction(transaction, run);
      await records.store(claim, response, transaction);
      return { kind: 'stored', response };
    });

  /** Tries until the key is free or the time is up; no connection is held between two looks. */
  const lead = async (claim: Claim, run: Run, deadline: number): Promise<IdempotentOutcome> => {
    for (;;) {
      const outcome = await slots.use(() => attempt(claim, run));
      if (outcome !== null) return outcome;
      const left = deadline - performance.now();
      if (left <= 0) return { kind: 'in-flight' };
      await sleep(Math.min(left, POLL_MS + Math.random() * POLL_JITTER_MS));
    }
  };

  const lease = async (claim: Claim, run: LeasedRun, deadline: number): Promise<IdempotentOutcome> => {
    for (;;) {
      const outcome = (await records.find(claim)) ?? (await leases.attempt(claim, run));
      if (outcome !== null) return outcome;
      const left = deadline - performance.now();
      if (left <= 0) return { kind: 'in-flight' };
      await sleep(Math.min(left, POLL_MS + Math.random() * POLL_JITTER_MS));
    }
  };

  type Lead = (claim: Claim, deadline: number) => Promise<IdempotentOutcome>;
  const inTurn = async (request: IdempotentRequest, first: Lead): Promise<IdempotentOutcome> => {
    const claim = claimOf(request);
    const deadline = performance.now() + WAIT_MS;
    for (;;) {
      const known = await records.find(claim);
      if (known !== null) return known;
      const place = queue.enter(claim.name);
      if (place.first) return first(claim, deadline).finally(place.leave);
      if (!(await place.wait(deadline))) return { kind: 'in-flight' };
    }
  };

  return {
    find: (request) => records.find(claimOf(request)),
    once: (request, run) => inTurn(request, (claim, deadline) => lead(claim, run, deadline)),
    onceLeased: (request, run) => inTurn(request, (claim, deadline) => lease(claim, run, deadline)),
    sweep: records.sweep,
  };
}

function claimOf(request: IdempotentRequest): Claim {
  const id = hash('sha256', request.scope.join('\n'), 'buffer');
  return { request, id, name: id.toString('base64url') };
}

/** The stored responses: read on the pool or in a transaction, written in one. */
function createRecords({ sql, clock, secrets }: IdempotencyOptions) {
  const answer = (claim: Claim, row: RecordRow | undefined): IdempotentOutcome | null => {
    if (row === undefined) return null;
    if (!isSameBody(claim.request, row.fingerprint)) return { kind: 'reused' };
    const body = secrets.decrypt(row.body, claim.name);
    return { kind: 'replayed', response: { status: row.status, body } };
  };
  return {
    async find(claim: Claim, transaction?: SharedTransaction): Promise<IdempotentOutcome | null> {
      const parameters = [claim.id, clock.now()];
      const rows =
        transaction === undefined
          ? await deadlineOf(sql).answerOf(sql.unsafe<RecordRow[]>(FIND, parameters, { prepare: true }))
          : (await transaction.query<RecordRow>(FIND, parameters, true)).rows;
      return answer(claim, rows[0]);
    },
    async store(claim: Claim, response: StoredResponse, transaction: SharedTransaction): Promise<void> {
      const { id, name, request } = claim;
      const body = secrets.encrypt(response.body, name);
      const now = clock.now();
      const expiresAt = dateFromMs(now.getTime() + RETENTION_MS);
      const { workspaceId, fingerprint } = request;
      const parameters = [id, workspaceId, fingerprint, response.status, body, expiresAt, now];
      const { count } = await transaction.query(STORE, parameters, true);
      if (count === 0) throw new Error('an idempotency record was written without its lock');
    },
    async sweep(): Promise<number> {
      let total = 0;
      for (;;) {
        const { count } = await sql.unsafe(SWEEP, [clock.now()]);
        total += count;
        if (count < SWEEP_BATCH) return total;
      }
    },
  };
}

/**
 * Queues the requests of this process by key: the first one runs, the others wait for it without a
 * connection.
 */
function createQueue() {
  const leaders = new Map<string, Leader>();
  let waiting = 0;

  const lead = (name: string) => {
    const ended = Promise.withResolvers<void>();
    leaders.set(name, { ended: ended.promise, waiters: 0 });
    return {
      first: true as const,
      leave() {
        leaders.delete(name);
        ended.resolve();
      },
    };
  };
  const follow = (leader: Leader) => ({
    first: false as const,
    /** @returns false when the time is up, or when too many wait already. */
    async wait(deadline: number): Promise<boolean> {
      if (leader.waiters >= WAITERS_PER_KEY || waiting >= WAITERS_PER_NODE) return false;
      leader.waiters += 1;
      waiting += 1;
      const ended = await endsBefore(leader.ended, deadline);
      leader.waiters -= 1;
      waiting -= 1;
      return ended;
    },
  });
  return {
    enter(name: string) {
      const leader = leaders.get(name);
      return leader === undefined ? lead(name) : follow(leader);
    },
  };
}

/** A collision of two keys only makes one of them wait. */
function lockOf(id: Buffer): string {
  return id.readBigInt64BE(0).toString();
}

async function endsBefore(ended: Promise<void>, deadline: number): Promise<boolean> {
  const ms = deadline - performance.now();
  if (ms <= 0) return false;
  const late = Promise.withResolvers<false>();
  const timer = setTimeout(late.resolve, ms, false);
  const result = await Promise.race([ended.then(() => true), late.promise]);
  clearTimeout(timer);
  return result;
}

/** Limits concurrent runs to `size`; the rest wait in order. */
function createSlots(size: number) {
  const queue: (() => void)[] = [];
  let free = size;
  return {
    async use<T>(run: () => Promise<T>): Promise<T> {
      if (free > 0) free -= 1;
      else await new Promise<void>((resolve) => queue.push(resolve));
      try {
        return await run();
      } finally {
        const next = queue.shift();
        if (next === undefined) free += 1;
        else next();
      }
    },
  };
}

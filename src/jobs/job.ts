import type { Static, TSchema } from 'typebox';
import type { Tx } from '../platform/db/index.ts';

/** One kind of job, declared by the feature that runs it. */
export interface JobDefinition<S extends TSchema = TSchema> {
  /** `<group>.<verb>`, unique; also the name of the queue. */
  readonly name: string;
  readonly payload: S;
  /** Pauses before each retry, in seconds: as many retries as pauses. */
  readonly retrySec: readonly number[];
}

export interface EnqueueOptions {
  /**
   * Higher priorities run first within a group; default 0. Between groups a job of priority `p` gets `1 + p` turns
   * for each turn of priority 0, so no group starves.
   */
  priority?: number;
  /** Jobs of one group (an account) take turns with those of other groups. */
  group?: string;
  /** While a job with this name and key waits or runs, no other one is added. */
  key?: string;
  delaySec?: number;
}

/** The queue as features see it: a job exists exactly when the transaction commits. */
export interface JobQueue {
  /** @throws {Error} when the definition is not registered, or the payload does not match it. */
  enqueue<S extends TSchema>(
    tx: Tx,
    job: JobDefinition<S>,
    payload: Static<S>,
    options?: EnqueueOptions,
  ): Promise<void>;
  /** Cancels the job with the key and frees the key. The signal of a running job aborts shortly after the commit. */
  cancel(tx: Tx, job: JobDefinition, key: string): Promise<void>;
}

/** One attempt, as its handler sees it. */
export interface JobRun<P> {
  id: string;
  payload: P;
  /** Counts from 1. Deferred attempts (a shutdown, a full disk) and attempts whose process died do not count. */
  attempt: number;
  /** Whether the job has no retry left. */
  isLast: boolean;
  /** Attempts whose process was killed or lost the database. */
  lost: number;
  /** Aborts with a `JobStoppedError` when the job is canceled, its lease is lost, or the worker stops. */
  signal: AbortSignal;
  /**
   * Locks the job in the transaction, so that only the holder of the job writes. Lock the resource first: a
   * cancellation locks it before the job.
   *
   * @throws {JobStoppedError} when the job was canceled, or another worker has it.
   */
  confirm(tx: Tx): Promise<void>;
}

/** A definition and its handler, joined by the composition root. */
export interface JobWorker<S extends TSchema = TSchema> {
  readonly job: JobDefinition<S>;
  /** Maximum of jobs that this process runs concurrently. */
  readonly concurrency: number;
  /** Maximum of those for one group; default: all. */
  readonly perGroup?: number;
  run(run: JobRun<Static<S>>): Promise<void>;
}

export type StopReason = 'canceled' | 'lost' | 'shutdown';

/** Reason of an aborted run's signal. */
export class JobStoppedError extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the job was stopped: ${reason}`);
    this.name = 'JobStoppedError';
    this.reason = reason;
  }
}

/** Thrown by a handler to retry later without counting the attempt (ENOSPC, EIO, a shutdown). */
export class JobDeferredError extends Error {
  readonly delaySec: number;

  constructor(message: string, delaySec: number) {
    super(message);
    this.name = 'JobDeferredError';
    this.delaySec = delaySec;
  }
}

/** Thrown by a handler when no retry can succeed. */
export class JobPermanentError extends Error {}

export function defineJob<S extends TSchema>(job: JobDefinition<S>): JobDefinition<S> {
  return job;
}

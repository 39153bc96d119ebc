import type { Static, TSchema } from 'typebox';
import type { Tx } from '../platform/db/index.ts';

/** One kind of work. Declared beside the feature that does it; the registry is checked at the start. */
export interface JobDefinition<S extends TSchema = TSchema> {
  /** `<group>.<verb>`, unique; the name of its queue. */
  readonly name: string;
  readonly payload: S;
  /** Pauses before the tries after the first, in seconds; as many retries as there are pauses. */
  readonly retrySec: readonly number[];
}

export interface EnqueueOptions {
  /**
   * Within a group higher runs first; 0 by default. Between groups a job of priority `p` gets `1 + p` turns for
   * each turn of priority 0, so that nobody waits for ever.
   */
  priority?: number;
  /** Jobs of one group (an account) take turns with those of the others. */
  group?: string;
  /** While a job of this name and key waits or runs, another one is not added. */
  key?: string;
  delaySec?: number;
}

/** What features use: the job is there exactly when the transaction commits. */
export interface JobQueue {
  /** @throws {Error} when the definition is not in the registry, or the payload does not fit it. */
  enqueue<S extends TSchema>(
    tx: Tx,
    job: JobDefinition<S>,
    payload: Static<S>,
    options?: EnqueueOptions,
  ): Promise<void>;
  /**
   * Jobs with this key that wait are gone; one that runs is told by its signal, within a moment of the commit.
   * The key is free from then on.
   */
  cancel(tx: Tx, job: JobDefinition, key: string): Promise<void>;
}

/** What a handler is given for one try. */
export interface JobRun<P> {
  id: string;
  payload: P;
  /** Counts from 1. A try that was given back (a shutdown, a full disk) or whose process died does not count. */
  attempt: number;
  /** No further try follows a failure of this one. */
  isLast: boolean;
  /** How many tries ended without a word, because their process was killed or lost the database. */
  lost: number;
  /**
   * Aborted, with a `JobStopped` as its reason, when the job is cancelled, when its lease is lost, and when the
   * worker stops.
   */
  signal: AbortSignal;
  /**
   * Locks the job in the transaction: what the transaction writes is written by the only holder of the job. Lock
   * the resource first: whoever cancels the job has it locked.
   *
   * @throws {JobStopped} when the job is somebody else's by now, or cancelled.
   */
  confirm(tx: Tx): Promise<void>;
}

/** A definition and the function that does it; the composition root joins them. */
export interface JobWorker<S extends TSchema = TSchema> {
  readonly job: JobDefinition<S>;
  /** How many of this process run at once. */
  readonly concurrency: number;
  /** How many of those one group may have. Default: all. */
  readonly perGroup?: number;
  run(run: JobRun<Static<S>>): Promise<void>;
}

export type StopReason = 'cancelled' | 'lost' | 'shutdown';

/** Why a run must end: the reason of its signal. */
export class JobStopped extends Error {
  readonly reason: StopReason;

  constructor(reason: StopReason) {
    super(`the job was stopped: ${reason}`);
    this.name = 'JobStopped';
    this.reason = reason;
  }
}

/** Thrown by a handler: the job waits and is tried again without counting (ENOSPC, EIO, a shutdown). */
export class JobPostponed extends Error {
  readonly delaySec: number;

  constructor(message: string, delaySec: number) {
    super(message);
    this.name = 'JobPostponed';
    this.delaySec = delaySec;
  }
}

/** Thrown by a handler: no try could succeed. */
export class JobAbandoned extends Error {}

export function defineJob<S extends TSchema>(job: JobDefinition<S>): JobDefinition<S> {
  return job;
}

import { setTimeout as sleep } from 'node:timers/promises';
import { truncate } from '../kernel/truncate.ts';
import { inBackground } from '../platform/db/deadline.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';
import {
  JobDeferredError,
  JobPermanentError,
  JobStoppedError,
  type JobWorker,
  type StopReason,
} from './job.ts';
import type { Jobs } from './queue.ts';
import {
  type Claim,
  type ClaimedJob,
  finishRun,
  lockClaim,
  type Outcome,
  type QueueDepth,
} from './repository.ts';

export interface JobMetrics {
  /** Records one attempt. `stopped` is one that was canceled, taken over or requeued. */
  job(queue: string, outcome: 'completed' | 'failed' | 'retry' | 'stopped', seconds: number): void;
  jobDepths(depths: readonly QueueDepth[]): void;
}

interface RunnerOptions {
  db: Db;
  jobs: Jobs;
  log: Logger;
  metrics: JobMetrics;
  worker: JobWorker;
  claimed: ClaimedJob;
}

const MAX_ERROR_LENGTH = 4000;
/** Attempts to record an outcome while the database is unavailable, and the pause between them. */
const FINISH_ATTEMPTS = 5;
const FINISH_PAUSE_MS = 500;

/** One attempt of one job. */
export class JobRunner {
  readonly queue: string;
  readonly claim: Claim;
  readonly group: string;
  /** `performance.now()` of the last renewal of the lease. */
  renewedAt = performance.now();
  readonly #options: RunnerOptions;
  readonly #abort = new AbortController();
  #stopReason: StopReason | null = null;

  constructor(options: RunnerOptions) {
    const { queue, id, fence, group } = options.claimed;
    this.queue = queue;
    this.group = group;
    this.claim = { queue, id, fence };
    this.#options = options;
  }

  /** Aborts the run's signal. The first reason counts. */
  stop(reason: StopReason): void {
    if (this.#stopReason !== null) return;
    this.#stopReason = reason;
    this.#abort.abort(new JobStoppedError(reason));
  }

  /** Runs the handler and records its outcome. Never rejects. */
  async run(): Promise<void> {
    const { metrics, log } = this.#options;
    const startedAt = performance.now();
    const outcome = await this.#outcome();
    const isRecorded = outcome !== null && (await this.#finish(outcome));
    metrics.job(
      this.queue,
      isRecorded ? labelOf(outcome) : 'stopped',
      (performance.now() - startedAt) / 1000,
    );
    if (outcome?.state === 'completed' && !isRecorded) {
      log.warn(this.claim, 'a job was completed after its lease was lost');
    }
  }

  /** Requeues the job of a run that does not end after its signal aborted. */
  async requeue(): Promise<void> {
    await this.#finish(this.#retry(0));
  }

  /** Returns null when another worker has the job, or it was canceled. */
  async #outcome(): Promise<Outcome | null> {
    const { worker, claimed, jobs, log } = this.#options;
    const { failed, lost, id, payload } = claimed;
    try {
      const fault = jobs.validate(this.queue, payload);
      if (fault !== null) throw new JobPermanentError(fault);
      const run = {
        id,
        payload,
        attempt: failed + 1,
        isLast: failed >= worker.job.retrySec.length,
        lost,
        signal: this.#abort.signal,
        confirm: async (tx: Tx) => {
          if (await lockClaim(tx, this.claim)) return;
          this.stop('lost');
          throw this.#abort.signal.reason;
        },
      };
      await inBackground(() => worker.run(run));
      return { state: 'completed', failed, lost };
    } catch (error) {
      if (this.#stopReason === 'shutdown') return this.#retry(0);
      if (this.#stopReason !== null) {
        log.info({ ...this.claim, reason: this.#stopReason }, 'a job was stopped');
        return null;
      }
      log.warn({ err: error, ...this.claim, attempt: failed + 1 }, 'a job failed');
      return this.#failure(error);
    }
  }

  #failure(error: unknown): Outcome {
    const { worker, claimed } = this.#options;
    const text = errorText(error);
    if (error instanceof JobDeferredError) return { ...this.#retry(error.delaySec), error: text };
    const pauseSec = error instanceof JobPermanentError ? undefined : worker.job.retrySec[claimed.failed];
    const counts = { failed: claimed.failed + 1, lost: claimed.lost, error: text };
    return pauseSec === undefined
      ? { state: 'failed', ...counts }
      : { state: 'waiting', delaySec: pauseSec, ...counts };
  }

  /** Returns an outcome that does not count as an attempt. */
  #retry(delaySec: number): Outcome {
    const { failed, lost } = this.#options.claimed;
    return { state: 'waiting', delaySec, failed, lost };
  }

  /** Returns false when the claim no longer holds, or the database stayed unavailable. */
  async #finish(outcome: Outcome): Promise<boolean> {
    const { db, log } = this.#options;
    for (let left = FINISH_ATTEMPTS; ; left--) {
      try {
        return await finishRun(db, this.claim, outcome);
      } catch (error) {
        log.warn({ err: error, ...this.claim }, 'the outcome of a job could not be recorded');
        if (left <= 1) return false;
        await sleep(FINISH_PAUSE_MS);
      }
    }
  }
}

const labelOf = ({ state }: Outcome) => (state === 'waiting' ? 'retry' : state);

/** Returns the error's stack without NUL, which PostgreSQL does not store. */
function errorText(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return truncate(text.replaceAll('\u0000', ''), MAX_ERROR_LENGTH);
}

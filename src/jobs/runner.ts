import { setTimeout as sleep } from 'node:timers/promises';
import { cut } from '../kernel/cut.ts';
import { inBackground } from '../platform/db/deadline.ts';
import type { Db, Tx } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';
import { JobAbandoned, JobPostponed, JobStopped, type JobWorker, type StopReason } from './job.ts';
import type { Jobs } from './queue.ts';
import { type Claim, type ClaimedJob, confirm, endRun, type Outcome, type QueueDepth } from './store.ts';

export interface JobMetrics {
  /** One ended try. `stopped` is one that was cancelled, taken over or given back. */
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

const ERROR_LENGTH = 4000;
/** The database may be away for a moment when a run ends. */
const END_TRIES = 5;
const END_PAUSE_MS = 500;

/** One try of one job. */
export class JobRunner {
  readonly queue: string;
  readonly claim: Claim;
  readonly group: string;
  /** `performance.now()` of the last time that the lease was known to hold. */
  renewedAt = performance.now();
  readonly #options: RunnerOptions;
  readonly #abort = new AbortController();
  #stopped: StopReason | null = null;

  constructor(options: RunnerOptions) {
    const { queue, id, fence, group } = options.claimed;
    this.queue = queue;
    this.group = group;
    this.claim = { queue, id, fence };
    this.#options = options;
  }

  /** The first reason counts. */
  stop(reason: StopReason): void {
    if (this.#stopped !== null) return;
    this.#stopped = reason;
    this.#abort.abort(new JobStopped(reason));
  }

  /** Never rejects. */
  async run(): Promise<void> {
    const { metrics, log } = this.#options;
    const startedAt = performance.now();
    const outcome = await this.#outcome();
    const ended = outcome === null ? false : await this.#end(outcome);
    metrics.job(
      this.queue,
      ended && outcome ? outcome.state : 'stopped',
      (performance.now() - startedAt) / 1000,
    );
    if (outcome?.state === 'completed' && !ended) log.warn(this.claim, 'a finished job was somebody else’s');
  }

  /** Ends a run that does not end by itself, as far as the queue is concerned. */
  async giveBack(): Promise<void> {
    await this.#end(this.#again(0));
  }

  /** null when the job is not ours any more. */
  async #outcome(): Promise<Outcome | null> {
    const { worker, claimed, jobs, log } = this.#options;
    const { failed, lost, id, payload } = claimed;
    const tries = worker.job.retrySec.length + 1;
    try {
      const reason = jobs.refuse(this.queue, payload);
      if (reason !== null) throw new JobAbandoned(`its ${reason}`);
      const run = {
        id,
        payload,
        attempt: failed + 1,
        isLast: failed + 1 >= tries,
        lost,
        signal: this.#abort.signal,
        confirm: async (tx: Tx) => {
          if (await confirm(tx, this.claim)) return;
          this.stop('lost');
          throw this.#abort.signal.reason;
        },
      };
      await inBackground(() => worker.run(run));
      return { state: 'completed', failed, lost };
    } catch (error) {
      if (this.#stopped === 'shutdown') return this.#again(0);
      if (this.#stopped !== null) {
        log.info({ ...this.claim, reason: this.#stopped }, 'a job was stopped');
        return null;
      }
      log.warn({ err: error, ...this.claim, attempt: failed + 1 }, 'a job failed');
      return this.#failure(error);
    }
  }

  #failure(error: unknown): Outcome {
    const { worker, claimed } = this.#options;
    const text = describe(error);
    if (error instanceof JobPostponed) return { ...this.#again(error.delaySec), error: text };
    const failed = claimed.failed + 1;
    const pause = error instanceof JobAbandoned ? undefined : worker.job.retrySec[claimed.failed];
    const counts = { failed, lost: claimed.lost, error: text };
    return pause === undefined
      ? { state: 'failed', ...counts }
      : { state: 'retry', delaySec: pause, ...counts };
  }

  #again(delaySec: number): Outcome {
    const { failed, lost } = this.#options.claimed;
    return { state: 'retry', delaySec, failed, lost };
  }

  /** @returns false when the lease was lost; whoever has the job now ends it. */
  async #end(outcome: Outcome): Promise<boolean> {
    const { db, log } = this.#options;
    for (let left = END_TRIES; ; left--) {
      try {
        return await endRun(db, this.claim, outcome);
      } catch (error) {
        log.warn({ err: error, ...this.claim }, 'the end of a job could not be written');
        if (left <= 1) return false;
        await sleep(END_PAUSE_MS);
      }
    }
  }
}

/** As PostgreSQL stores it: JSON with no NUL. */
function describe(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return cut(text.replaceAll('\u0000', ''), ERROR_LENGTH);
}

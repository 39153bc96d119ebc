import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../kernel/durations.ts';
import type { Bus } from '../platform/bus.ts';
import type { Db } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { JobWorker, StopReason } from './job.ts';
import { JOBS_TOPIC, type Jobs } from './queue.ts';
import * as repository from './repository.ts';
import { type JobMetrics, JobRunner } from './runner.ts';
import { type Schedule, startSchedule } from './schedule.ts';

export interface JobWorkersOptions {
  db: Db;
  jobs: Jobs;
  workers: readonly JobWorker[];
  bus: Pick<Bus, 'subscribe'>;
  log: Logger;
  metrics: JobMetrics;
  /** Time that `stop` waits for handlers; default 10,000. */
  drainMs?: number;
  /** Interval of looking for due jobs without a hint; default 500. */
  pollMs?: number;
}

export interface JobWorkers {
  /** Aborts the running jobs, waits for them, and requeues those that did not complete. */
  stop(): Promise<void>;
}

/** Hints only make it faster: this poll finds every due job. */
const POLL_MS = 500;
/** Interval of renewing leases, which also discovers cancellations whose hint was lost. */
const HEARTBEAT_MS = 1000;
/** Time without a heartbeat after which another worker may run the job. */
const LEASE_SEC = 10;
/** Time without a renewal after which a run stops itself: less than the lease, so that runs never overlap. */
const MAX_UNRENEWED_MS = 8000;
const SWEEP_MS = 2000;
const DEPTH_MS = 15_000;

/**
 * Runs jobs in this process: claims due jobs while there are free slots, renews their leases, and requeues the jobs
 * of processes that disappeared.
 *
 * @throws {Error} when a worker's job is not registered, or has two workers.
 */
export function startJobWorkers(options: JobWorkersOptions): JobWorkers {
  const names = options.workers.map(({ job }) => options.jobs.registered(job).name);
  if (new Set(names).size !== names.length)
    throw new Error(`a job has more than one worker: ${names.join(', ')}`);
  return new Workers(options);
}

/** Requeues every active job. Only for a database of which this process is the only worker. */
export async function requeueRunning(db: Db): Promise<void> {
  await repository.requeueExpired(db, 0);
}

class Workers implements JobWorkers {
  readonly #options: JobWorkersOptions;
  readonly #running = new Map<JobRunner, Promise<void>>();
  readonly #schedule: Schedule;
  readonly #unsubscribe: () => void;
  /** Whether there may be due jobs that no round has looked for. */
  #isPending = false;
  #round: Promise<void> | null = null;
  #isStopping = false;

  constructor(options: JobWorkersOptions) {
    const { db, jobs, bus, log, metrics, pollMs = POLL_MS } = options;
    this.#options = options;
    this.#unsubscribe = bus.subscribe(JOBS_TOPIC, () => {
      this.#look();
      this.#heartbeat().catch((error: unknown) =>
        log.warn({ err: error }, 'job leases could not be renewed'),
      );
    });
    const recordDepths = async () => metrics.jobDepths(await repository.depths(db, jobs.names));
    this.#schedule = startSchedule(
      [
        { name: 'job poll', everyMs: pollMs, run: async () => this.#look() },
        { name: 'job leases', everyMs: HEARTBEAT_MS, run: () => this.#heartbeat() },
        { name: 'lost jobs', everyMs: SWEEP_MS, run: () => this.#sweep() },
        { name: 'job depths', everyMs: DEPTH_MS, run: recordDepths },
        { name: 'job turns', everyMs: HOUR_MS, run: () => repository.pruneGroupTurns(db) },
        { name: 'ended jobs', everyMs: HOUR_MS, run: () => repository.deleteEnded(db) },
      ],
      log,
    );
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    this.#unsubscribe();
    await this.#schedule.stop();
    await this.#round;
    this.#stopAll('shutdown');
    const ended = Promise.all(this.#running.values());
    await Promise.race([ended, sleep(this.#options.drainMs ?? 10_000, undefined, { ref: false })]);
    await Promise.all([...this.#running.keys()].map((runner) => runner.requeue()));
  }

  #stopAll(reason: StopReason): void {
    for (const runner of this.#running.keys()) runner.stop(reason);
  }

  #look(): void {
    this.#isPending = true;
    if (this.#isStopping || this.#round !== null) return;
    this.#round = this.#claimDue().finally(() => {
      this.#round = null;
      // A hint that arrived after the round's last check.
      if (this.#isPending) this.#look();
    });
  }

  /** Claims until no job is due or no slot is free. A hint in between starts another pass. */
  async #claimDue(): Promise<void> {
    const { db, workers, log } = this.#options;
    try {
      while (this.#isPending && !this.#isStopping) {
        this.#isPending = false;
        const free = workers.filter((worker) => this.#freeSlots(worker) > 0);
        if (free.length === 0) return;
        const queues = free.map(({ job }) => job.name);
        const due = new Set(await repository.findDue(db, queues));
        for (const worker of free) if (due.has(worker.job.name)) await this.#fill(worker);
      }
    } catch (error) {
      log.warn({ err: error }, 'the job queue could not be read');
    }
  }

  async #fill(worker: JobWorker): Promise<void> {
    while (!this.#isStopping && this.#freeSlots(worker) > 0) {
      const claimed = await repository.claim(this.#options.db, worker.job.name, this.#busyGroups(worker));
      if (claimed === null) return;
      const runner = new JobRunner({ ...this.#options, worker, claimed });
      const run = runner.run().finally(() => {
        this.#running.delete(runner);
        this.#look();
      });
      this.#running.set(runner, run);
    }
  }

  #busyGroups({ job, perGroup }: JobWorker): string[] {
    if (perGroup === undefined) return [];
    const counts = new Map<string, number>();
    for (const { queue, group } of this.#running.keys()) {
      if (queue === job.name && group !== '') counts.set(group, (counts.get(group) ?? 0) + 1);
    }
    return [...counts].filter(([, count]) => count >= perGroup).map(([group]) => group);
  }

  #freeSlots({ job, concurrency }: JobWorker): number {
    let free = concurrency;
    for (const { queue } of this.#running.keys()) if (queue === job.name) free--;
    return free;
  }

  /** Renews the leases and stops the runs that no longer hold theirs. */
  async #heartbeat(): Promise<void> {
    const runners = [...this.#running.keys()];
    if (runners.length === 0) return;
    const startedAt = performance.now();
    try {
      const { held, canceled } = await repository.renewLeases(
        this.#options.db,
        runners.map((runner) => runner.claim),
      );
      for (const runner of runners) {
        if (held.has(runner.claim)) runner.renewedAt = startedAt;
        else runner.stop(canceled.has(runner.claim) ? 'canceled' : 'lost');
      }
    } finally {
      for (const runner of runners) {
        if (performance.now() - runner.renewedAt > MAX_UNRENEWED_MS) runner.stop('lost');
      }
    }
  }

  async #sweep(): Promise<void> {
    const count = await repository.requeueExpired(this.#options.db, LEASE_SEC);
    if (count === 0) return;
    this.#options.log.warn({ count }, 'jobs of a process that disappeared were requeued');
    this.#look();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { HOUR_MS } from '../kernel/durations.ts';
import type { Bus } from '../platform/bus.ts';
import type { Db } from '../platform/db/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { JobWorker, StopReason } from './job.ts';
import { JOBS_TOPIC, type Jobs } from './queue.ts';
import { type JobMetrics, JobRunner } from './runner.ts';
import { type Schedule, startSchedule } from './schedule.ts';
import * as store from './store.ts';

export interface JobWorkersOptions {
  db: Db;
  jobs: Jobs;
  workers: readonly JobWorker[];
  bus: Pick<Bus, 'subscribe'>;
  log: Logger;
  metrics: JobMetrics;
  /** How long `stop` waits for the handlers, default 10,000. */
  drainMs?: number;
  /** How often it looks for jobs of which no hint came, default 500. */
  pollMs?: number;
}

export interface JobWorkers {
  /** Tells the running jobs to end, waits for them, and gives back what has not ended well. */
  stop(): Promise<void>;
}

/** The truth; hints only make it faster. */
const POLL_MS = 500;
/** How often a run shows that it lives, and hears that it was cancelled when the hint got lost. */
const BEAT_MS = 1000;
/** A run that was not heard of for so long is given to another worker. */
const LEASE_SEC = 10;
/** A run that cannot reach the database ends before another one begins. */
const LEASE_OWN_MS = 8000;
const SWEEP_MS = 2000;
const DEPTH_MS = 15_000;

/**
 * Runs jobs in this process: claims what is due while there is room, keeps the leases, gives back the jobs of
 * processes that are gone.
 *
 * @throws {Error} when a worker's job is not in the registry, or has two workers.
 */
export function startJobWorkers(options: JobWorkersOptions): JobWorkers {
  const names = options.workers.map(({ job }) => options.jobs.registered(job).name);
  if (new Set(names).size !== names.length) throw new Error(`a job has two workers: ${names.join(', ')}`);
  return new Workers(options);
}

/** On a database of which this process is the only worker: nobody runs what is marked as running. */
export async function giveBackJobs(db: Db): Promise<void> {
  const queues = (await store.depths(db)).map(({ name }) => name);
  await store.giveBackLost(db, queues, 0);
}

class Workers implements JobWorkers {
  readonly #options: JobWorkersOptions;
  readonly #queues: string[];
  readonly #running = new Map<JobRunner, Promise<void>>();
  readonly #schedule: Schedule;
  readonly #unsubscribe: () => void;
  #wanted = false;
  #pumping: Promise<void> | null = null;
  #stopping = false;

  constructor(options: JobWorkersOptions) {
    const { db, workers, bus, log, metrics, pollMs = POLL_MS } = options;
    this.#options = options;
    this.#queues = workers.map(({ job }) => job.name);
    this.#unsubscribe = bus.subscribe(JOBS_TOPIC, () => {
      this.#look();
      this.#beat().catch((error: unknown) => log.warn({ err: error }, 'the leases of jobs were not renewed'));
    });
    this.#schedule = startSchedule(
      [
        { name: 'job poll', everyMs: pollMs, run: async () => this.#look() },
        { name: 'job leases', everyMs: BEAT_MS, run: () => this.#beat() },
        { name: 'lost jobs', everyMs: SWEEP_MS, run: () => this.#sweep() },
        { name: 'job depths', everyMs: DEPTH_MS, run: async () => metrics.jobDepths(await store.depths(db)) },
        { name: 'job turns', everyMs: HOUR_MS, run: () => store.forgetTurns(db) },
      ],
      log,
    );
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#unsubscribe();
    await this.#schedule.stop();
    await this.#pumping;
    this.#stopAll('shutdown');
    const ended = Promise.all(this.#running.values());
    await Promise.race([ended, sleep(this.#options.drainMs ?? 10_000, undefined, { ref: false })]);
    await Promise.all([...this.#running.keys()].map((runner) => runner.giveBack()));
  }

  #stopAll(reason: StopReason): void {
    for (const runner of this.#running.keys()) runner.stop(reason);
  }

  #look(): void {
    this.#wanted = true;
    if (this.#stopping || this.#pumping !== null) return;
    this.#pumping = this.#pump().finally(() => {
      this.#pumping = null;
      // Asked for after the last round had begun to end.
      if (this.#wanted) this.#look();
    });
  }

  /** Claims until nothing is due or no room is left. Whatever ends in between is seen by the next round. */
  async #pump(): Promise<void> {
    try {
      while (this.#wanted && !this.#stopping) {
        this.#wanted = false;
        const free = this.#options.workers.filter((worker) => this.#room(worker) > 0);
        if (free.length === 0) return;
        const due = new Set(
          await store.findDue(
            this.#options.db,
            free.map(({ job }) => job.name),
          ),
        );
        for (const worker of free) if (due.has(worker.job.name)) await this.#fill(worker);
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the job queue could not be read');
    }
  }

  async #fill(worker: JobWorker): Promise<void> {
    while (!this.#stopping && this.#room(worker) > 0) {
      const claimed = await store.claim(this.#options.db, worker.job.name, this.#busyGroups(worker));
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

  #room({ job, concurrency }: JobWorker): number {
    let room = concurrency;
    for (const { queue } of this.#running.keys()) if (queue === job.name) room--;
    return room;
  }

  /** Renews the leases, and tells the runs that do not hold theirs any more. */
  async #beat(): Promise<void> {
    const runners = [...this.#running.keys()];
    if (runners.length === 0) return;
    const startedAt = performance.now();
    try {
      const { held, cancelled } = await store.touch(
        this.#options.db,
        runners.map((runner) => runner.claim),
      );
      for (const runner of runners) {
        if (held.has(runner.claim)) runner.renewedAt = startedAt;
        else runner.stop(cancelled.has(runner.claim) ? 'cancelled' : 'lost');
      }
    } finally {
      for (const runner of runners) {
        if (performance.now() - runner.renewedAt > LEASE_OWN_MS) runner.stop('lost');
      }
    }
  }

  async #sweep(): Promise<void> {
    const count = await store.giveBackLost(this.#options.db, this.#queues, LEASE_SEC);
    if (count === 0) return;
    this.#options.log.warn({ count }, 'jobs of a process that is gone are run again');
    this.#look();
  }
}

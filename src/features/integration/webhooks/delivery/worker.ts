import { setTimeout as sleep } from 'node:timers/promises';
import { DELIVERIES_TOPIC } from '../../../../events/index.ts';
import { type Clock, dateFromMs } from '../../../../kernel/clock.ts';
import { newId } from '../../../../kernel/ids.ts';
import type { Bus } from '../../../../platform/bus.ts';
import type { Db } from '../../../../platform/db/index.ts';
import type { DeliveryLogStatus as DeliveryStatus } from '../../../../platform/db/tables.generated.ts';
import type { Logger } from '../../../../platform/logger.ts';
import type { Outbound } from '../../../../platform/outbound/index.ts';
import type { Secrets } from '../../../../platform/secrets.ts';
import type { UsageEvents } from '../../../insight/usage-events/index.ts';
import { type Attempt, createAttempt, type Delivery, type ResponseRecord } from './attempt.ts';
import type { AttemptOutcome } from './concurrency-window.ts';
import { Endpoints } from './endpoints.ts';
import { RecentChanges } from './recent-changes.ts';
import {
  type ClaimedJob,
  claim,
  currentTarget,
  type Finish,
  type FinishLog,
  findDue,
  release,
  vacuum,
} from './repository.ts';
import { ResultWriter } from './result-writer.ts';
import { afterAttempt, DISABLED_REASON, isSingle } from './schedule.ts';

export interface DeliveryConfig {
  /** Delays before each retry, in seconds (`WEBHOOK_RETRY_SECONDS`). */
  retrySeconds: readonly number[];
  /** Time a receiver has to answer (`WEBHOOK_TIMEOUT_MS`). */
  timeoutMs: number;
  /** Jobs claimed in this process, default 400. */
  maxHeld?: number;
  /** Attempts in flight for one webhook whose receiver keeps up, default 32. */
  perEndpoint?: number;
  /** Lease of a claimed job in seconds; default 30, or the receiver's timeout plus 20 s. */
  leaseSec?: number;
  /** Time for which `stop` waits for attempts in flight, default 12,000. */
  drainMs?: number;
  /** Ended attempts between two vacuums of the job table, default 5,000. */
  vacuumEvery?: number;
}

export interface DeliveryMetrics {
  /** One finished attempt; the latency is null when nothing was dialled. */
  attempt(status: DeliveryStatus, latencyMs: number | null): void;
  /** Attempts whose job had been taken over by another worker before they were finished. */
  lost(count: number): void;
}

export interface DeliveryWorkerOptions {
  db: Db;
  facts: Pick<UsageEvents, 'append'>;
  outbound: Outbound;
  secrets: Secrets;
  config: DeliveryConfig;
  clock: Clock;
  log: Logger;
  bus: Pick<Bus, 'subscribe'>;
  metrics?: DeliveryMetrics;
}

export interface DeliveryWorker {
  start(): void;
  /** Stops claiming, waits for attempts in flight, and releases the rest. */
  stop(): Promise<void>;
}

/** Told with the id of a webhook whose address, secret or switch was changed. */
export const WEBHOOK_TOPIC = 'webhooks';

/** Poll interval of the queue, independent of hints. */
const POLL_MS = 1000;
/** Looking for work takes at most a sixth of the time, however many webhooks have work. */
const SCAN_PAUSE = 5;
/** One look that was slow for another reason, such as a new connection, must not hold events up. */
const SCAN_PAUSE_MAX_MS = 100;
/**
 * Multiple of held jobs: sent but unwritten attempts would be repeated after a crash, so their number is
 * limited.
 */
const MAX_UNWRITTEN_FACTOR = 2;
/** Result of a delivery whose webhook was deactivated: nothing was dialed. */
const CANCELED: ResponseRecord = {
  responseStatus: null,
  responseBody: null,
  latencyMs: null,
  errorMessage: DISABLED_REASON,
};
/** Between the end of the slowest attempt and the end of its lease. */
const LEASE_MARGIN_MS = 5000;

export function createDeliveryWorker(options: DeliveryWorkerOptions): DeliveryWorker {
  return new Dispatcher(options);
}

class Dispatcher implements DeliveryWorker {
  readonly #options: DeliveryWorkerOptions;
  readonly #leaseSec: number;
  readonly #drainMs: number;
  readonly #maxHeld: number;
  readonly #attempt: Attempt;
  readonly #endpoints: Endpoints<ClaimedJob>;
  readonly #finisher: ResultWriter;
  readonly #changes = new RecentChanges();
  /** Claimed and not yet finished. */
  readonly #held = new Map<number, ClaimedJob>();
  /** Attempts under way, and who waits for their end. */
  #running = 0;
  #onDrained: () => void = () => {};
  /** Claimed jobs to release without an attempt. */
  readonly #returned: ClaimedJob[] = [];
  #unsubscribe: () => void = () => {};
  #timer: NodeJS.Timeout | undefined;
  #timerAt = Number.POSITIVE_INFINITY;
  #scanWanted = false;
  #scanAllowedAt = 0;
  #pumping: Promise<void> | null = null;
  #endedSinceVacuum = 0;
  #vacuuming: Promise<void> | null = null;
  #stopping = false;

  constructor(options: DeliveryWorkerOptions) {
    const { config, db, log } = options;
    this.#options = options;
    this.#leaseSec = config.leaseSec ?? Math.max(30, Math.ceil(config.timeoutMs / 1000) + 20);
    this.#drainMs = config.drainMs ?? 12_000;
    this.#maxHeld = config.maxHeld ?? 400;
    this.#attempt = createAttempt({ ...options, timeoutMs: config.timeoutMs });
    this.#endpoints = new Endpoints({
      perEndpoint: config.perEndpoint ?? 32,
      maxHeld: this.#maxHeld,
      lineMs: Math.max(this.#leaseSec * 1000 - config.timeoutMs - LEASE_MARGIN_MS, this.#leaseSec * 500),
      begin: (job, claimedAt) => this.#begin(job, claimedAt),
      giveBack: (jobs) => this.#giveBack(jobs),
    });
    this.#finisher = new ResultWriter({
      db,
      facts: options.facts,
      log,
      giveUpAfterMs: this.#leaseSec * 1000,
      onFinished: (batch, lost) => this.#onFinished(batch, lost),
    });
  }

  start(): void {
    const { bus } = this.#options;
    const unsubscribes = [
      bus.subscribe(DELIVERIES_TOPIC, () => this.#look()),
      bus.subscribe(WEBHOOK_TOPIC, (webhookId) => this.#changes.add(webhookId)),
    ];
    this.#unsubscribe = () => {
      for (const unsubscribe of unsubscribes) unsubscribe();
    };
    this.#look();
  }

  async stop(): Promise<void> {
    this.#stopping = true;
    this.#unsubscribe();
    clearTimeout(this.#timer);
    await this.#pumping;
    this.#endpoints.clear();
    await this.#release();
    const drained = (async () => {
      if (this.#running > 0) await new Promise<void>((resolve) => (this.#onDrained = resolve));
      await this.#finisher.idle();
    })();
    await Promise.race([drained, sleep(this.#drainMs, undefined, { ref: false })]);
    await this.#vacuuming;
    this.#giveBack([...this.#held.values()]);
    await this.#release();
  }

  #giveBack(jobs: readonly ClaimedJob[]): void {
    for (const job of jobs) this.#held.delete(job.id);
    this.#returned.push(...jobs);
  }

  async #release(): Promise<void> {
    const jobs = this.#returned.splice(0);
    if (jobs.length === 0) return;
    await release(this.#options.db, jobs).catch((error: unknown) => {
      this.#options.log.warn({ err: error }, 'claimed deliveries are attempted after their lease ends');
    });
  }

  #look(): void {
    this.#scanWanted = true;
    this.#wake();
  }

  #wake(): void {
    if (this.#stopping || this.#pumping !== null) return;
    this.#pumping = this.#pump();
  }

  /** Looks for work at the given time at the latest. */
  #lookIn(delayMs: number): void {
    const at = performance.now() + delayMs;
    if (this.#stopping || at >= this.#timerAt) return;
    clearTimeout(this.#timer);
    this.#timerAt = at;
    this.#timer = setTimeout(() => {
      this.#timerAt = Number.POSITIVE_INFINITY;
      this.#look();
    }, delayMs);
  }

  /** Claims until there is nothing to claim or no room. Whatever ends in between is seen by the next round. */
  async #pump(): Promise<void> {
    try {
      while (!this.#stopping) {
        await this.#release();
        await this.#scanIfWanted();
        const slots = this.#endpoints.slots(this.#maxHeld * MAX_UNWRITTEN_FACTOR - this.#held.size);
        if (slots.length === 0 && !this.#scanReady()) break;
        if (slots.length === 0) continue;
        const claimedAt = performance.now();
        const jobs = await claim(this.#options.db, slots, this.#leaseSec);
        for (const job of jobs) this.#held.set(job.id, job);
        this.#endpoints.claimed(slots, jobs, claimedAt);
      }
    } catch (error) {
      this.#options.log.warn({ err: error }, 'the delivery queue could not be read');
    } finally {
      this.#pumping = null;
      const pauseMs = Math.max(0, this.#scanAllowedAt - performance.now());
      this.#lookIn(this.#scanWanted ? Math.ceil(pauseMs) : POLL_MS);
    }
  }

  #scanReady(): boolean {
    return this.#scanWanted && performance.now() >= this.#scanAllowedAt;
  }

  async #scanIfWanted(): Promise<void> {
    if (!this.#scanReady()) return;
    this.#scanWanted = false;
    const startedAt = performance.now();
    const { due, nextInMs } = await findDue(this.#options.db);
    const now = performance.now();
    this.#scanAllowedAt = now + Math.min((now - startedAt) * SCAN_PAUSE, SCAN_PAUSE_MAX_MS);
    this.#endpoints.addDue(due);
    if (nextInMs !== null && nextInMs < POLL_MS) this.#lookIn(Math.ceil(nextInMs));
  }

  #begin(job: ClaimedJob, claimedAt: number): void {
    this.#running += 1;
    void this.#run(job, claimedAt);
  }

  async #run(job: ClaimedJob, claimedAt: number): Promise<void> {
    try {
      // Awaited in any case: the end of an attempt must not be reported before its start has returned.
      await this.#deliver(await (this.#changes.since(job.webhookId, claimedAt) ? this.#current(job) : job));
    } finally {
      this.#running -= 1;
      if (this.#running === 0) this.#onDrained();
    }
  }

  /**
   * The job with its webhook as it is now: a secret is invalid from its rotation on
   * (docs/concepts/webhooks.md#the-request), and nothing is sent to a webhook that was switched off.
   */
  async #current(job: ClaimedJob): Promise<ClaimedJob> {
    try {
      const gone = { url: null, secret: null, isActive: null };
      return { ...job, ...((await currentTarget(this.#options.db, job.webhookId)) ?? gone) };
    } catch (error) {
      this.#options.log.warn({ err: error, webhookId: job.webhookId }, 'a webhook could not be read again');
      return job;
    }
  }

  async #deliver(job: ClaimedJob): Promise<void> {
    // Its webhook or its event is gone: nothing to send and nowhere to write it.
    if (!isWhole(job)) return this.#end(job, null, null);
    if (job.isActive !== true && !isSingle(job.trigger)) {
      return this.#end(job, null, this.#log(job, 'CANCELED', CANCELED));
    }
    const result = await this.#attempt(job);
    const number = job.attempt + 1;
    const { retrySeconds } = this.#options.config;
    const { status, retrySec } = afterAttempt(result.success, number, job.trigger, retrySeconds);
    this.#options.metrics?.attempt(status, result.latencyMs);
    const { webhookId, eventId } = job;
    this.#options.log.debug({ webhookId, eventId, attempt: number, status, ...result }, 'webhook attempt');
    this.#end(job, retrySec, this.#log(job, status, result), result);
  }

  #end(
    job: ClaimedJob,
    retrySec: number | null,
    log: FinishLog | null,
    ended: AttemptOutcome | null = null,
  ): void {
    this.#endpoints.ended(job.webhookId, ended);
    this.#finisher.add({ job: job.id, lease: job.lease, retrySec, log });
    this.#wake();
  }

  #log({ eventType }: Delivery, status: DeliveryStatus, answer: ResponseRecord): FinishLog {
    const { responseStatus, responseBody, latencyMs, errorMessage } = answer;
    const id = newId('dlv', this.#options.clock);
    const at = dateFromMs(this.#options.clock.ms()).toISOString();
    return { id, eventType, status, responseStatus, responseBody, latencyMs, errorMessage, at };
  }

  /** The database's own vacuum comes too seldom for a queue (docs/decisions/database.md#postgresql-from-npm). */
  #vacuumAfter(ended: number): void {
    this.#endedSinceVacuum += ended;
    const { config, db, log } = this.#options;
    if (this.#endedSinceVacuum < (config.vacuumEvery ?? 5000) || this.#vacuuming !== null || this.#stopping)
      return;
    this.#endedSinceVacuum = 0;
    this.#vacuuming = vacuum(db)
      .catch((error: unknown) => log.warn({ err: error }, 'the queue of deliveries could not be vacuumed'))
      .finally(() => {
        this.#vacuuming = null;
      });
  }

  #onFinished(batch: readonly Finish[], lost: number): void {
    this.#vacuumAfter(batch.length);
    for (const { job, retrySec } of batch) {
      this.#held.delete(job);
      // The poll finds later ones in good time.
      if (retrySec !== null && retrySec * 1000 < POLL_MS) this.#lookIn(retrySec * 1000);
    }
    if (lost > 0) {
      this.#options.metrics?.lost(lost);
      this.#options.log.warn({ count: lost }, 'deliveries were claimed by another worker');
    }
    this.#wake();
  }
}

function isWhole(job: ClaimedJob): job is ClaimedJob & Delivery {
  return job.url !== null && job.secret !== null && job.eventType !== null && job.body !== null;
}

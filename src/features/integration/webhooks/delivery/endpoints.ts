import { type AttemptOutcome, ConcurrencyWindow, INITIAL_CONCURRENCY } from './concurrency-window.ts';
import type { Slot } from './repository.ts';

/** Endpoints whose windows are remembered when nothing is left to send to them. */
const REMEMBERED = 10_000;
/** Time a job waits for those before it, so that jobs in quick succession are not reordered needlessly. */
const ORDERED_WAIT_MS = 100;
/** Queue length from which a backlog is processed in parallel. */
const BACKLOG_LENGTH = 4;
/**
 * Queue length for a receiver that keeps up: at least `least`, and more, within its share of all slots, when
 * they can be sent within `momentMs`.
 */
const LINE = { least: 32, most: 128, momentMs: 500 } as const;

interface Waiting<Job> {
  job: Job;
  claimedAt: number;
}

/** One webhook with something claimed, or to be claimed. */
interface Endpoint<Job> {
  window: ConcurrencyWindow;
  /** Claimed and not begun. */
  line: Waiting<Job>[];
  inFlight: number;
  /** Whether the last claim was filled completely, so that more jobs are likely. */
  hasMore: boolean;
  /** There was a backlog, and the line has not been empty since. */
  isCrowded: boolean;
  timer: NodeJS.Timeout | undefined;
}

export interface EndpointOptions<Job> {
  /** Attempts in flight for one webhook whose receiver keeps up. */
  perEndpoint: number;
  /** Jobs held in all. */
  maxHeld: number;
  /** Maximum time a job may wait in the queue. */
  lineMs: number;
  /** Starts the attempt; `ended` is called afterwards. Times are those of `performance.now()`. */
  begin(job: Job, claimedAt: number): void;
  /** Releases claimed jobs that have not begun, because their receiver no longer keeps up. */
  giveBack(jobs: readonly Job[]): void;
}

/**
 * Decides which webhooks jobs are claimed for, and when each attempt begins. Slots of a webhook beyond its
 * first four come from one half of all slots, so that a few fast webhooks leave room for others, and one that
 * never responds delays none (docs/decisions/events-and-deliveries.md#concurrency-per-receiver).
 */
export class Endpoints<Job extends { webhookId: string }> {
  readonly #options: EndpointOptions<Job>;
  /** Webhooks with work, those that waited longest first. */
  readonly #due = new Set<string>();
  readonly #active = new Map<string, Endpoint<Job>>();
  /** Windows of inactive webhooks, ordered from least to most recently used. */
  readonly #windows = new Map<string, ConcurrencyWindow>();
  #held = 0;

  constructor(options: EndpointOptions<Job>) {
    this.#options = options;
  }

  addDue(webhookIds: readonly string[]): void {
    for (const id of webhookIds) this.#due.add(id);
  }

  /** Returns the webhooks to claim for. @param most maximum jobs that may be claimed now. */
  slots(most = this.#options.maxHeld): Slot[] {
    const slots: Slot[] = [];
    const { maxHeld } = this.#options;
    let left = Math.min(most, maxHeld - this.#held);
    let extra = Math.floor(maxHeld / 2);
    for (const endpoint of this.#active.values())
      extra -= Math.max(0, heldBy(endpoint) - INITIAL_CONCURRENCY);
    const share = Math.floor(maxHeld / 2 / Math.max(1, this.#due.size, this.#active.size));
    for (const webhookId of this.#due) {
      if (left <= 0) break;
      const endpoint = this.#active.get(webhookId);
      const held = endpoint === undefined ? 0 : heldBy(endpoint);
      const window = endpoint?.window ?? this.#windowOf(webhookId);
      const cap = Math.min(left, room(window, lineOf(window, share), { held, extra }));
      if (cap <= 0) continue;
      slots.push({ webhookId, cap });
      left -= cap;
      extra -= Math.max(0, held + cap - Math.max(held, INITIAL_CONCURRENCY));
    }
    return slots;
  }

  /** Takes a claim: who got less than asked for has no more work, the others go to the end. */
  claimed(slots: readonly Slot[], jobs: readonly Job[], claimedAt: number): void {
    const counts = new Map<string, number>();
    for (const job of jobs) {
      counts.set(job.webhookId, (counts.get(job.webhookId) ?? 0) + 1);
      this.#activate(job.webhookId).line.push({ job, claimedAt });
      this.#held += 1;
    }
    for (const { webhookId, cap } of slots) {
      this.#due.delete(webhookId);
      const hasMore = counts.get(webhookId) === cap;
      if (hasMore) this.#due.add(webhookId);
      const endpoint = this.#active.get(webhookId);
      if (endpoint === undefined) continue;
      endpoint.hasMore = hasMore;
      this.#beginReady(webhookId, endpoint);
    }
  }

  /** Records the end of an attempt; null when nothing was sent. */
  ended(webhookId: string, end: AttemptOutcome | null): void {
    const endpoint = this.#activate(webhookId);
    const { window } = endpoint;
    if (end !== null) window.ended(end, endpoint.inFlight * 2 >= window.size);
    endpoint.inFlight -= 1;
    this.#held -= 1;
    this.#giveBack(
      webhookId,
      endpoint,
      endpoint.line.splice(window.isProven ? lineOf(window, LINE.most) : window.size),
    );
    this.#beginReady(webhookId, endpoint);
  }

  /** Empties the lines. */
  clear(): void {
    for (const [webhookId, endpoint] of this.#active) {
      clearTimeout(endpoint.timer);
      this.#giveBack(webhookId, endpoint, endpoint.line.splice(0));
    }
  }

  #giveBack(webhookId: string, endpoint: Endpoint<Job>, waiting: readonly Waiting<Job>[]): void {
    if (waiting.length === 0) return;
    this.#held -= waiting.length;
    this.#due.add(webhookId);
    endpoint.hasMore = true;
    this.#options.giveBack(waiting.map(({ job }) => job));
  }

  #windowOf(webhookId: string): ConcurrencyWindow {
    return this.#windows.get(webhookId) ?? new ConcurrencyWindow(this.#options.perEndpoint);
  }

  #activate(webhookId: string): Endpoint<Job> {
    const known = this.#active.get(webhookId);
    if (known !== undefined) return known;
    const window = this.#windowOf(webhookId);
    const timer = undefined;
    const endpoint: Endpoint<Job> = {
      window,
      line: [],
      inFlight: 0,
      hasMore: false,
      isCrowded: false,
      timer,
    };
    this.#windows.delete(webhookId);
    this.#active.set(webhookId, endpoint);
    return endpoint;
  }

  #beginReady(webhookId: string, endpoint: Endpoint<Job>): void {
    clearTimeout(endpoint.timer);
    const { line, window } = endpoint;
    const now = performance.now();
    const expired = line.findIndex(({ claimedAt }) => now - claimedAt <= this.#options.lineMs);
    this.#giveBack(webhookId, endpoint, line.splice(0, expired === -1 ? line.length : expired));
    while (endpoint.inFlight < window.size) {
      const [head] = line;
      if (endpoint.hasMore || line.length >= BACKLOG_LENGTH) endpoint.isCrowded = true;
      else if (head === undefined) endpoint.isCrowded = false;
      if (head === undefined) break;
      const waitMs = head.claimedAt + ORDERED_WAIT_MS - now;
      if (endpoint.inFlight > 0 && !endpoint.isCrowded && waitMs > 0) {
        clearTimeout(endpoint.timer);
        endpoint.timer = setTimeout(() => this.#beginReady(webhookId, endpoint), Math.ceil(waitMs));
        endpoint.timer.unref();
        break;
      }
      line.shift();
      endpoint.inFlight += 1;
      this.#options.begin(head.job, head.claimedAt);
    }
    if (heldBy(endpoint) === 0) this.#forget(webhookId, endpoint);
  }

  #forget(webhookId: string, endpoint: Endpoint<Job>): void {
    if (this.#active.get(webhookId) !== endpoint) return;
    const { window } = endpoint;
    this.#active.delete(webhookId);
    this.#windows.set(webhookId, window);
    const [oldest] = this.#windows.size > REMEMBERED ? this.#windows.keys() : [];
    if (oldest !== undefined) this.#windows.delete(oldest);
  }
}

function heldBy({ line, inFlight }: Endpoint<unknown>): number {
  return line.length + inFlight;
}

function lineOf(window: ConcurrencyWindow, share: number): number {
  return Math.max(LINE.least, Math.min(LINE.most, share, window.within(LINE.momentMs)));
}

/**
 * Returns the number of jobs to claim. Jobs for a receiver that keeps up are queued ahead, so that fewer
 * claims are needed: a claim costs about as much for one job as for many.
 */
function room(
  window: ConcurrencyWindow,
  line: number,
  { held, extra }: { held: number; extra: number },
): number {
  if (!window.isProven) return window.size - held;
  const wanted = window.size + line - held;
  if (held > 0 && wanted < line / 2) return 0;
  const own = Math.max(0, INITIAL_CONCURRENCY - held);
  const cap = Math.min(wanted, own + Math.max(0, extra));
  return held > 0 && cap < INITIAL_CONCURRENCY ? 0 : cap;
}

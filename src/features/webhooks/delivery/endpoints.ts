import type { Slot } from './repository.ts';

/** Timeouts in a row after which an endpoint gets one attempt at a time. */
const CAREFUL_AFTER_TIMEOUTS = 5;
/** Endpoints whose timeouts are remembered. */
const REMEMBERED = 10_000;

/**
 * Who may be claimed for: at most `perEndpoint` attempts in flight for each webhook, so that one that never
 * answers delays nobody else (docs/decisions/events-and-deliveries.md#a-receiver-that-never-answers).
 */
export class Endpoints {
  readonly #perEndpoint: number;
  /** Webhooks with work, those that waited longest first. */
  readonly #due = new Set<string>();
  readonly #inFlight = new Map<string, number>();
  readonly #timeouts = new Map<string, number>();

  constructor(perEndpoint: number) {
    this.#perEndpoint = perEndpoint;
  }

  addDue(webhookIds: readonly string[]): void {
    for (const id of webhookIds) this.#due.add(id);
  }

  /** What to claim for, at most `free` jobs in all. */
  slots(free: number): Slot[] {
    const slots: Slot[] = [];
    let left = free;
    for (const webhookId of this.#due) {
      if (left <= 0) break;
      const cap = Math.min(left, this.#limit(webhookId) - (this.#inFlight.get(webhookId) ?? 0));
      if (cap <= 0) continue;
      slots.push({ webhookId, cap });
      left -= cap;
    }
    return slots;
  }

  /** Takes note of a claim: who got less than asked for has no more work, the others go to the end. */
  claimed(slots: readonly Slot[], jobs: readonly { webhookId: string }[]): void {
    const counts = new Map<string, number>();
    for (const { webhookId } of jobs) counts.set(webhookId, (counts.get(webhookId) ?? 0) + 1);
    for (const { webhookId, cap } of slots) {
      this.#due.delete(webhookId);
      if (counts.get(webhookId) === cap) this.#due.add(webhookId);
    }
  }

  started(webhookId: string): void {
    this.#inFlight.set(webhookId, (this.#inFlight.get(webhookId) ?? 0) + 1);
  }

  ended(webhookId: string, timedOut: boolean): void {
    const left = (this.#inFlight.get(webhookId) ?? 1) - 1;
    if (left > 0) this.#inFlight.set(webhookId, left);
    else this.#inFlight.delete(webhookId);
    const timeouts = timedOut ? (this.#timeouts.get(webhookId) ?? 0) + 1 : 0;
    this.#timeouts.delete(webhookId);
    if (timeouts > 0) this.#timeouts.set(webhookId, timeouts);
    const [oldest] = this.#timeouts.size > REMEMBERED ? this.#timeouts.keys() : [];
    if (oldest !== undefined) this.#timeouts.delete(oldest);
  }

  #limit(webhookId: string): number {
    return (this.#timeouts.get(webhookId) ?? 0) >= CAREFUL_AFTER_TIMEOUTS ? 1 : this.#perEndpoint;
  }
}

/** Longer than a job is held between its claim and its attempt. */
const REMEMBERED_MS = 60_000;

/** Webhooks that were changed a moment ago: a job that was claimed before reads its webhook again. */
export class RecentChanges {
  readonly #changedAt = new Map<string, number>();

  add(webhookId: string): void {
    const now = performance.now();
    // Reinserted, so that the map stays ordered by change.
    this.#changedAt.delete(webhookId);
    this.#changedAt.set(webhookId, now);
    for (const [id, at] of this.#changedAt) {
      if (now - at < REMEMBERED_MS) break;
      this.#changedAt.delete(id);
    }
  }

  /** @param time of `performance.now()`. */
  since(webhookId: string, time: number): boolean {
    return (this.#changedAt.get(webhookId) ?? Number.NEGATIVE_INFINITY) >= time;
  }
}

import type { DesiredPush } from '../contract/index.ts';

/** Destination of a sender. */
export interface VerifiedPush extends DesiredPush {
  /** Milliseconds since the last success with this key; 0 while it is in use. Absent when unknown. */
  goodAgoMs?: number;
}

/** Retention, longer than any rejection caused by a previous connection that has not ended yet. */
const RETENTION_MS = 600_000;

interface VerifiedKey {
  place: string;
  /** Null while it still is. */
  endedMs: number | null;
}

/**
 * Keys that worked recently, beyond the lifetime of the process that used them: a restarted sender is
 * rejected until the destination has noticed the end of the previous connection.
 */
export class VerifiedKeys {
  readonly #byTarget = new Map<string, VerifiedKey>();

  /** Records that the destination accepts the broadcast, or no longer does. */
  note(wanted: DesiredPush, takesIt: boolean): void {
    const { targetId } = wanted;
    if (takesIt) this.#byTarget.set(targetId, { place: placeOf(wanted), endedMs: null });
    else this.ended(targetId);
  }

  ended(targetId: string): void {
    const known = this.#byTarget.get(targetId);
    if (known !== undefined) known.endedMs ??= performance.now();
  }

  of(wanted: DesiredPush): VerifiedPush {
    const known = this.#byTarget.get(wanted.targetId);
    if (known === undefined || known.place !== placeOf(wanted)) return wanted;
    return { ...wanted, goodAgoMs: known.endedMs === null ? 0 : performance.now() - known.endedMs };
  }

  forget(): void {
    for (const [targetId, { endedMs }] of this.#byTarget) {
      if (endedMs !== null && performance.now() - endedMs > RETENTION_MS) this.#byTarget.delete(targetId);
    }
  }
}

const placeOf = ({ url, streamKey, passphrase }: DesiredPush) => `${url} ${streamKey} ${passphrase}`;

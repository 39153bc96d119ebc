import type { DesiredPush } from '../contract/index.ts';

/** What a sender is told of a destination. */
export interface VerifiedPush extends DesiredPush {
  /** How long ago this key was good, in milliseconds; 0 while it is. Absent where that is not known. */
  goodAgoMs?: number;
}

/** Longer than any refusal that means that the former connection is not over yet. */
const KEPT_MS = 600_000;

interface Good {
  place: string;
  /** Null while it still is. */
  endedMs: number | null;
}

/**
 * Which keys were good of late, beyond the process that sent with them: one that begins anew is refused for as long as
 * the destination has not noticed the end of the connection before.
 */
export class VerifiedKeys {
  readonly #byTarget = new Map<string, Good>();

  /** The destination takes the broadcast, or does no more. */
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
      if (endedMs !== null && performance.now() - endedMs > KEPT_MS) this.#byTarget.delete(targetId);
    }
  }
}

const placeOf = ({ url, streamKey, passphrase }: DesiredPush) => `${url} ${streamKey} ${passphrase}`;

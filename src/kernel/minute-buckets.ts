import { dateFromMs } from './clock.ts';
import { MINUTE_MS } from './durations.ts';

export interface MinuteBucket {
  from: Date;
  /** Excluded. */
  to: Date;
  ms: number;
}

/** A span of time in pieces, none of which reaches over the end of a minute; nothing where it is empty. */
export function splitByMinute(from: Date, to: Date): MinuteBucket[] {
  const pieces: MinuteBucket[] = [];
  const endMs = to.getTime();
  for (let at = from.getTime(); at < endMs; ) {
    const next = Math.min(endMs, (Math.floor(at / MINUTE_MS) + 1) * MINUTE_MS);
    pieces.push({ from: dateFromMs(at), to: dateFromMs(next), ms: next - at });
    at = next;
  }
  return pieces;
}

/** Whole minutes. */
export function wholeMinutes(ms: number): number {
  return Math.floor(ms / MINUTE_MS);
}

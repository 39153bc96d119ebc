/** A span in which a zone's distance from UTC stays the same. */
interface Stretch {
  fromMs: number;
  /** Excluded. */
  toMs: number;
  offsetMs: number;
}

/** A zone between two moments. Wall times are milliseconds as if the wall showed UTC. */
export interface ZoneOffsets {
  /** Returns the local time at an instant. */
  wallMs(instantMs: number): number;
  /** When the wall shows this for the first time; null for a time that it skips. */
  instantMs(wallMs: number): number | null;
  /** When the wall first shows this or more: for a time that it skips, the moment of the change. */
  reachedMs(wallMs: number): number;
}

/** Times outside of `fromMs` to `toMs` have the offset of the nearer end. @param timezone an IANA name. */
export function loadZoneOffsets(timezone: string, fromMs: number, toMs: number): ZoneOffsets {
  const stretches = stretchesOf(timezone, fromMs, toMs);
  const [first] = stretches;
  const at = (ms: number) => stretches.find((one) => ms < one.toMs) ?? first;
  return {
    wallMs: (ms) => ms + at(ms).offsetMs,
    instantMs(wallMs) {
      for (const { fromMs: from, toMs: to, offsetMs } of stretches) {
        const ms = wallMs - offsetMs;
        if (ms >= from && ms < to) return ms;
      }
      return null;
    },
    reachedMs(wallMs) {
      for (const { fromMs: from, toMs: to, offsetMs } of stretches) {
        if (wallMs - offsetMs < to) return Math.max(from, wallMs - offsetMs);
      }
      return wallMs - first.offsetMs;
    },
  };
}

/** Oldest first, without a gap, from the beginning of time to its end. */
function stretchesOf(timezone: string, fromMs: number, toMs: number): [Stretch, ...Stretch[]] {
  let here = Temporal.Instant.fromEpochMilliseconds(fromMs).toZonedDateTimeISO(timezone);
  const first: Stretch = { fromMs: -Infinity, toMs: Infinity, offsetMs: offsetOf(here) };
  const stretches: [Stretch, ...Stretch[]] = [first];
  for (let last = first; ; ) {
    const next = here.getTimeZoneTransition('next');
    if (next === null || next.epochMilliseconds > toMs) return stretches;
    last.toMs = next.epochMilliseconds;
    last = { fromMs: last.toMs, toMs: Infinity, offsetMs: offsetOf(next) };
    stretches.push(last);
    here = next;
  }
}

const offsetOf = (moment: Temporal.ZonedDateTime) => moment.offsetNanoseconds / 1e6;

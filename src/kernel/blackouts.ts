/** A day as blackouts have it. */
export const DAY = /^\d{4}-\d\d-\d\d$/;

/**
 * The instants of a time in which a creator is away, in milliseconds since the epoch, the end excluded.
 *
 * @param blackout each end a day (`2026-12-24`) of the zone, the last one included, or an instant (RFC 3339).
 * @param timezone IANA.
 */
export function expandBlackout(
  { start, end }: { start: string; end: string },
  timezone: string,
): { startMs: number; endMs: number } {
  return { startMs: momentOf(start, timezone, 0), endMs: momentOf(end, timezone, 1) };
}

/**
 * Parses an instant, or returns the start of the day that is `days` days later: not every day has a midnight.
 */
function momentOf(text: string, timezone: string, days: number): number {
  if (!DAY.test(text)) return Temporal.Instant.from(text).epochMilliseconds;
  const day = Temporal.PlainDate.from(text).add({ days });
  return day.toZonedDateTime({ timeZone: timezone }).epochMilliseconds;
}

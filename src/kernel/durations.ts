/** Lengths of time by the units that APIs want. */
export const MINUTE_SEC = 60;
export const HOUR_SEC = 3600;
export const MINUTE_MS = 60_000;
export const QUARTER_MS = 15 * MINUTE_MS;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

import { dateFromMs } from './clock.ts';

/** When the month of a time began, UTC. */
export function monthOf(now: Date): Date {
  return dateFromMs(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
}

/** When the month after that of a time begins, UTC. */
export function nextMonthOf(now: Date): Date {
  return dateFromMs(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
}

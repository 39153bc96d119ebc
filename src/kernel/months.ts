import { dateFromMs } from './clock.ts';

/** When the month of a time began, UTC. */
export function startOfMonth(now: Date): Date {
  return dateFromMs(Date.UTC(now.getUTCFullYear(), now.getUTCMonth()));
}

/** When the month after that of a time begins, UTC. */
export function startOfNextMonth(now: Date): Date {
  return dateFromMs(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1));
}

import { wholeMinutes } from '../../../kernel/minute-buckets.ts';
import type { UsageTotalMetric } from '../../../platform/db/tables.generated.ts';

/** What is told of the use of the platform, by its name in answers, and what is added up for it. */
export const METRICS = {
  storageBytes: 'STORAGE',
  egressBytes: 'EGRESS',
  encodeMinutes: 'ENCODE',
  liveMinutes: 'LIVE',
  roomMinutes: 'ROOM',
  apiRequests: 'REQUEST',
  webhookDeliveries: 'DELIVERY',
} as const satisfies Record<string, UsageTotalMetric>;
export type UsageName = keyof typeof METRICS;

export const USAGE_NAMES = [
  'storageBytes',
  'egressBytes',
  'encodeMinutes',
  'liveMinutes',
  'roomMinutes',
  'apiRequests',
  'webhookDeliveries',
] as const satisfies readonly UsageName[];

export type Usage = Partial<Record<UsageName, number>>;

/** In the unit of the facts, one number for each piece. */
export type Amounts = ReadonlyMap<UsageTotalMetric, readonly number[]>;

const MINUTES: ReadonlySet<UsageName> = new Set(['encodeMinutes', 'liveMinutes', 'roomMinutes']);

/**
 * What each piece used, and all of them together. Minutes are whole ones: what is left of one goes on into the next
 * piece, so that the pieces add up to the total. Of storage it is the most that was stored at a time.
 */
export function usageOf(
  amounts: Amounts,
  names: readonly UsageName[],
  pieces: number,
): { series: Usage[]; totals: Usage } {
  const series: Usage[] = Array.from({ length: pieces }, () => ({}));
  const totals: Usage = {};
  for (const name of names) {
    const values = amounts.get(METRICS[name]) ?? [];
    let sum = 0;
    let most = 0;
    series.forEach((piece, index) => {
      const value = values[index] ?? 0;
      const before = sum;
      sum += value;
      most = Math.max(most, value);
      piece[name] = MINUTES.has(name) ? wholeMinutes(sum) - wholeMinutes(before) : value;
    });
    totals[name] = name === 'storageBytes' ? most : MINUTES.has(name) ? wholeMinutes(sum) : sum;
  }
  return { series, totals };
}

import { wholeMinutes } from '../../../kernel/minute-buckets.ts';
import type { UsageTotalMetric } from '../../../platform/db/tables.generated.ts';

/** Usage metrics by response field, with the rollup each one reads. */
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

/** Amounts in the unit of the usage events, one per bucket. */
export type Amounts = ReadonlyMap<UsageTotalMetric, readonly number[]>;

const MINUTES: ReadonlySet<UsageName> = new Set(['encodeMinutes', 'liveMinutes', 'roomMinutes']);

/**
 * Returns the usage of each bucket and the totals. Minutes are whole: a remainder carries over to the next
 * bucket, so that the buckets add up to the total. The total of storage is its maximum.
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

import { badRequest } from '../../../kernel/errors.ts';
import type { AnalyticsBreakdownDimension } from '../../../platform/db/tables.generated.ts';

/** Raw totals of a period, before presentation. */
export interface MetricTotals {
  views: number;
  uniqueViewers: number;
  watchMs: number;
  impressions: number;
  plays: number;
  joins: number;
  leaves: number;
  chatMessages: number;
  newFollowers: number;
  lostFollowers: number;
  broadcasts: number;
  liveMs: number;
  peakViewers: number;
  viewerSamplesSum: number;
  viewerSamples: number;
  bitrateKbit: number;
}

export const MEASURE_NAMES = [
  'views',
  'uniqueViewers',
  'watchMs',
  'impressions',
  'plays',
  'joins',
  'leaves',
  'chatMessages',
  'newFollowers',
  'lostFollowers',
  'broadcasts',
  'liveMs',
  'peakViewers',
  'viewerSamplesSum',
  'viewerSamples',
  'bitrateKbit',
] as const satisfies (keyof MetricTotals)[];

export const EMPTY_TOTALS: MetricTotals = {
  views: 0,
  uniqueViewers: 0,
  watchMs: 0,
  impressions: 0,
  plays: 0,
  joins: 0,
  leaves: 0,
  chatMessages: 0,
  newFollowers: 0,
  lostFollowers: 0,
  broadcasts: 0,
  liveMs: 0,
  peakViewers: 0,
  viewerSamplesSum: 0,
  viewerSamples: 0,
  bitrateKbit: 0,
};

/** Returns the totals of adjacent periods; the peak is the highest one. */
export function totalOf(parts: readonly MetricTotals[]): MetricTotals {
  const total = { ...EMPTY_TOTALS };
  for (const part of parts) {
    for (const name of MEASURE_NAMES) {
      total[name] = name === 'peakViewers' ? Math.max(total[name], part[name]) : total[name] + part[name];
    }
  }
  return total;
}

/** Filter by one property of viewers, such as their country. */
export interface DimensionFilter {
  dimension: AnalyticsBreakdownDimension;
  value: string;
}

export const FILTERS = ['country', 'device', 'browser', 'os', 'referrer', 'quality', 'source'] as const;
export type FilterQuery = { [Name in `filter.${(typeof FILTERS)[number]}`]?: string };

/**
 * Parses the only filter of a query, or null. Rollups have one property of a viewer at a time.
 *
 * @throws {AppError} BAD_REQUEST with the name of the second filter.
 */
export function parseDimensionFilter(query: FilterQuery): DimensionFilter | null {
  const [share, second] = FILTERS.flatMap((dimension) => {
    const value = query[`filter.${dimension}`];
    return value === undefined ? [] : [{ dimension, value }];
  });
  if (second !== undefined) {
    throw badRequest(`filter.${second.dimension}`, 'Only one filter can be used at a time.');
  }
  if (share === undefined) return null;
  return share.dimension === 'country' ? { ...share, value: share.value.toUpperCase() } : share;
}

/** Returns the ratio; null without a denominator. */
export function ratio(part: number, whole: number, digits = 2): number | null {
  return whole === 0 ? null : Number((part / whole).toFixed(digits));
}

export const percent = (part: number, whole: number): number | null => ratio(part * 100, whole);

export const seconds = (ms: number): number => Math.round(ms / 1000);
export const minutes = (ms: number): number => Math.round(ms / 60_000);

/** Cursor in rows sorted by a number, the highest first, then by ID. */
export interface RankCursor {
  rank: number;
  id: string;
}

export const formatRankCursor = ({ rank, id }: RankCursor): string => `${rank} ${id}`;

/** @param text of `formatRankCursor`. */
export function parseRankCursor(text: string): RankCursor {
  const gap = text.indexOf(' ');
  return { rank: Number(text.slice(0, gap)), id: text.slice(gap + 1) };
}

import { type PeriodSearch, periodSearch, type Search, searchOne } from '../../components/search-values.ts';

export const RANGES = [7, 28, 90, 365] as const;
export const MEASURES = ['views', 'uniqueViewers', 'watchTimeSec'] as const;
export const STREAM_MEASURES = [...MEASURES, 'concurrentPeak', 'chatMessages'] as const;

/** Range of days: the last N days, or a period with both ends. */
export interface RangeSearch extends PeriodSearch {
  days?: (typeof RANGES)[number];
  compare?: true;
}

export interface AnalyticsSearch extends RangeSearch {
  measure?: (typeof MEASURES)[number];
}

export interface StreamSearch extends RangeSearch {
  measure?: (typeof STREAM_MEASURES)[number];
}

const rangeSearch = (search: Search): RangeSearch => ({
  ...searchOne('days', RANGES, search),
  ...periodSearch(search),
  ...(search.compare === true ? { compare: true } : {}),
});

export const analyticsSearch = (search: Search): AnalyticsSearch => ({
  ...rangeSearch(search),
  ...searchOne('measure', MEASURES, search),
});

export const streamSearch = (search: Search): StreamSearch => ({
  ...rangeSearch(search),
  ...searchOne('measure', STREAM_MEASURES, search),
});

import type { Shape } from '../../app/shape.ts';
import { type Search, searchOne, searchText } from '../../components/search-values.ts';

export const STATUSES = ['PENDING', 'CONFIRMED', 'UNSUBSCRIBED'] as const;

/** Filters of the list in the URL. */
export interface AudienceSearch {
  status?: Shape<'Subscriber'>['status'];
  q?: string;
}

export function audienceSearch(search: Search): AudienceSearch {
  return { ...searchOne('status', STATUSES, search), ...searchText('q', search) };
}

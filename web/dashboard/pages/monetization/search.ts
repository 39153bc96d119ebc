import type { Shape } from '../../app/shape.ts';
import {
  searchOne as one,
  type PeriodSearch,
  periodSearch,
  type Search,
  searchText as text,
} from '../../components/search-values.ts';

/** Search parameters of the area's URLs. */

/** State of a list that is edited in place: which form is open. */
export interface FormSearch {
  new?: true;
  edit?: string;
}

export function formSearch(search: Search): FormSearch {
  if (search.new === true) return { new: true };
  return { ...text('edit', search) };
}

export const RANGES = [7, 28, 90, 365] as const;
export const GRANULARITIES = ['DAY', 'WEEK', 'MONTH'] as const;
export const GROUPINGS = ['kind', 'tier', 'video', 'product'] as const;

export interface RevenueSearch {
  days?: (typeof RANGES)[number];
  granularity?: (typeof GRANULARITIES)[number];
  groupBy?: (typeof GROUPINGS)[number];
}

export function revenueSearch(search: Search): RevenueSearch {
  return {
    ...one('days', RANGES, search),
    ...one('granularity', GRANULARITIES, search),
    ...one('groupBy', GROUPINGS, search),
  };
}

export const MEMBER_STATES = ['TRIALING', 'ACTIVE', 'PAST_DUE', 'CANCELED', 'EXPIRED'] as const;

export interface MembersSearch {
  status?: Shape<'Subscription'>['status'];
  tierId?: string;
  /** The one that is shown. */
  id?: string;
}

export function membersSearch(search: Search): MembersSearch {
  return { ...one('status', MEMBER_STATES, search), ...text('tierId', search), ...text('id', search) };
}

export const SALE_STATES = [
  'PENDING',
  'PAID',
  'FAILED',
  'PARTIALLY_REFUNDED',
  'REFUNDED',
  'DISPUTED',
] as const;
export const SALE_KINDS = ['VIDEO', 'SUBSCRIPTION', 'BOOKING'] as const;

export interface SalesSearch extends PeriodSearch {
  status?: Shape<'Purchase'>['status'];
  kind?: Shape<'Purchase'>['kind'];
  videoId?: string;
}

export function salesSearch(search: Search): SalesSearch {
  return {
    ...one('status', SALE_STATES, search),
    ...one('kind', SALE_KINDS, search),
    ...text('videoId', search),
    ...periodSearch(search),
  };
}

export const PAYMENT_TYPES = ['CHARGE', 'REFUND', 'DISPUTE', 'FEE', 'ADJUSTMENT'] as const;
export const PAYMENT_STATES = ['PENDING', 'SUCCEEDED', 'FAILED', 'CANCELED'] as const;

export interface PaymentsSearch extends PeriodSearch {
  type?: Shape<'Payment'>['type'];
  status?: Shape<'Payment'>['status'];
  purchaseId?: string;
}

export function paymentsSearch(search: Search): PaymentsSearch {
  return {
    ...one('type', PAYMENT_TYPES, search),
    ...one('status', PAYMENT_STATES, search),
    ...text('purchaseId', search),
    ...periodSearch(search),
  };
}

export const PAYOUT_STATES = ['PENDING', 'IN_TRANSIT', 'PAID', 'FAILED', 'CANCELED'] as const;

export interface PayoutsSearch {
  status?: Shape<'Payout'>['status'];
}

export function payoutsSearch(search: Search): PayoutsSearch {
  return { ...one('status', PAYOUT_STATES, search) };
}

/** The parameters of a query for the instants of a period. */
export function instantsOf({ from, to }: PeriodSearch): { from?: string; to?: string } {
  return {
    ...(from === undefined ? {} : { from: startOf(from, 0) }),
    ...(to === undefined ? {} : { to: startOf(to, 1) }),
  };
}

/** Returns the first moment of a day in local time, plus `later` days. */
function startOf(day: string, later: number): string {
  const at = new Date(`${day}T00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
}

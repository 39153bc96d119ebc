/** Search parameters of the area's URLs; unknown values are ignored. */

type Search = Record<string, unknown>;

/** State of the form for a new item: open or closed. */
export interface NewSearch {
  new?: true;
}

export function newSearch(search: Search): NewSearch {
  return search.new === true ? { new: true } : {};
}

export const PRODUCT_STATES = ['DRAFT', 'PUBLISHED', 'ARCHIVED'] as const;

export interface ProductsSearch extends NewSearch {
  status?: (typeof PRODUCT_STATES)[number];
}

export function productsSearch(search: Search): ProductsSearch {
  const status = PRODUCT_STATES.find((known) => known === search.status);
  return { ...newSearch(search), ...(status === undefined ? {} : { status }) };
}

export const BOOKING_STATES = [
  'CONFIRMED',
  'PENDING_PAYMENT',
  'COMPLETED',
  'CANCELED',
  'NO_SHOW',
  'EXPIRED',
] as const;

export interface BookingsSearch {
  status?: (typeof BOOKING_STATES)[number];
  /** The one that is shown. */
  id?: string;
}

export function bookingsSearch(search: Search): BookingsSearch {
  const status = BOOKING_STATES.find((known) => known === search.status);
  const { id } = search;
  return {
    ...(status === undefined ? {} : { status }),
    ...(typeof id === 'string' && id !== '' ? { id } : {}),
  };
}

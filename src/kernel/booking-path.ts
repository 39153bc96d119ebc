import type { Mode } from './access.ts';

/** Returns the path of a creator's booking page, relative to the platform's URL. */
export function creatorBookingPath({ username, mode }: { username: string; mode: Mode }): string {
  return `/book/${username}${mode === 'test' ? '/test' : ''}`;
}

/** Where a product is booked: the path of its page (docs/concepts/booking-products.md#the-page). */
export function bookingPath(
  creator: { username: string; mode: Mode },
  { id, slug }: { id: string; slug: string | null },
): string {
  // The list of the test mode is there.
  return `${creatorBookingPath(creator)}/${slug === null || slug === 'test' ? id : slug}`;
}

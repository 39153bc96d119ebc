import type { Secrets } from '../../platform/secrets.ts';

/** Addresses that are for one person of one booking: whoever has them may act. */
export interface BookingLinks {
  /** Where the customer cancels or moves it. */
  manageUrl(bookingId: string): string;
  /** The customer's way into the room. */
  joinUrl(bookingId: string): string;
  /** The creator's. */
  hostUrl(bookingId: string): string;
  /** Was this token signed for it? */
  isGood(purpose: BookingLinkPurpose, bookingId: string, token: string): boolean;
}

export type BookingLinkPurpose = 'manage' | 'join' | 'host';

/** @param deps.publicUrl without a slash at the end. */
export function createBookingLinks({
  secrets,
  publicUrl,
}: {
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  publicUrl: string;
}): BookingLinks {
  const urlOf = (purpose: BookingLinkPurpose, id: string) => {
    const path = `/bookings/${id}${purpose === 'manage' ? '' : `/${purpose}`}`;
    return `${publicUrl}${path}?token=${secrets.sign(`booking ${purpose}`, id)}`;
  };
  return {
    manageUrl: (id) => urlOf('manage', id),
    joinUrl: (id) => urlOf('join', id),
    hostUrl: (id) => urlOf('host', id),
    isGood: (purpose, id, token) => secrets.verify(`booking ${purpose}`, id, token),
  };
}

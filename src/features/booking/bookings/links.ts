import type { Secrets } from '../../../platform/secrets.ts';

/** URLs for one person of one booking: the URL grants access. */
export interface BookingLinks {
  /** Returns the URL where the customer cancels or moves the booking. */
  manageUrl(bookingId: string): string;
  /** Returns the customer's link to the room. */
  joinUrl(booking: LinkedBooking): string;
  /** Returns the creator's link to the room. */
  hostUrl(booking: LinkedBooking): string;
  /** Reports whether the token was signed for this booking. */
  isManaged(bookingId: string, token: string): boolean;
  /** Returns OLD for a link from before a move, and BAD for a link of another booking. */
  stateOf(way: JoinRole, booking: LinkedBooking, token: string): 'GOOD' | 'OLD' | 'BAD';
}

/** Booking with the version of its valid room links. */
export interface LinkedBooking {
  id: string;
  link_revision: number;
}

export type JoinRole = 'join' | 'host';

/** @param deps.publicUrl base URL without a trailing slash. */
export function createBookingLinks({
  secrets,
  publicUrl,
}: {
  secrets: Pick<Secrets, 'sign' | 'verify'>;
  publicUrl: string;
}): BookingLinks {
  const signed = ({ id, link_revision: no }: LinkedBooking) => (no === 0 ? id : `${id} ${no}`);
  const wayUrl = (way: JoinRole, booking: LinkedBooking) =>
    `${publicUrl}/bookings/${booking.id}/${way}?token=${secrets.sign(`booking ${way}`, signed(booking))}`;
  const isOf = (way: JoinRole, booking: LinkedBooking, token: string) =>
    secrets.verify(`booking ${way}`, signed(booking), token);
  return {
    manageUrl: (id) => `${publicUrl}/bookings/${id}?token=${secrets.sign('booking manage', id)}`,
    joinUrl: (booking) => wayUrl('join', booking),
    hostUrl: (booking) => wayUrl('host', booking),
    isManaged: (id, token) => secrets.verify('booking manage', id, token),
    stateOf(way, booking, token) {
      if (isOf(way, booking, token)) return 'GOOD';
      for (let no = booking.link_revision - 1; no >= 0; no--) {
        if (isOf(way, { id: booking.id, link_revision: no }, token)) return 'OLD';
      }
      return 'BAD';
    },
  };
}

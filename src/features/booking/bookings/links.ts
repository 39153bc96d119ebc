import type { Secrets } from '../../../platform/secrets.ts';

/** Addresses that are for one person of one booking: whoever has them may act. */
export interface BookingLinks {
  /** Where the customer cancels or moves it. */
  manageUrl(bookingId: string): string;
  /** The customer's way into the room. */
  joinUrl(booking: LinkedBooking): string;
  /** The creator's. */
  hostUrl(booking: LinkedBooking): string;
  /** Was this token signed for it? */
  isManaged(bookingId: string, token: string): boolean;
  /** OLD: for it, before it was moved. BAD: not for it. */
  stateOf(way: JoinRole, booking: LinkedBooking, token: string): 'GOOD' | 'OLD' | 'BAD';
}

/** A booking, and which of the links to its room holds. */
export interface LinkedBooking {
  id: string;
  link_revision: number;
}

export type JoinRole = 'join' | 'host';

/** @param deps.publicUrl without a slash at the end. */
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

import { nextSequence } from '../../../events/index.ts';
import { formatInZone } from '../../../kernel/format-time.ts';
import { isSuspended } from '../../../platform/db/workspace.ts';
import type { ProductRow } from '../products/index.ts';
import { joinedEmail, spotOfferedEmail } from './emails.ts';
import { waitlistConverted, waitlistOffered } from './events.ts';
import type { TransactionContext, WaitlistPorts } from './ports.ts';
import type { EntryRow } from './repository.ts';
import * as repository from './repository.ts';
import { offerEnd, type Spot } from './rules.ts';
import { createSpots, type Spots } from './spots.ts';

/** Booking that may convert a waitlist entry. */
export interface Booked extends Spot {
  bookingId: string;
  workspaceId: string;
  productId: string;
  email: string;
  /** Waitlist entry whose emailed link was used. */
  entryId: string | null;
}

/**
 * Offers spots in the transactions that free them. Locks are taken in this order: the spot (a cohort, a
 * class, the calendar), then an entry.
 */
export interface Offers {
  places: Spots;
  /** Offers a spot that may be free: holds it for the first in line and sends the email. */
  freed(work: TransactionContext, workspaceId: string, productId: string, place: Spot): Promise<void>;
  /**
   * Ends an entry in the state that was read, and releases its spot. @returns null when its state has
   * changed.
   */
  end(
    work: TransactionContext,
    entry: EntryRow,
    to: { status: EntryRow['status']; bookingId: string | null },
  ): Promise<EntryRow | null>;
  /** Converts entries of a customer who booked: an offer by its link, a waiting entry also by the address. */
  converted(work: TransactionContext, booked: Booked): Promise<void>;
  /** Emails the position and the link. */
  greet(work: TransactionContext, product: ProductRow, entry: EntryRow): Promise<void>;
  /** Returns the URL where the customer sees the position, books the spot, or leaves. */
  linkOf(id: string): string;
  isLink(id: string, key: string): boolean;
}

const LINK = 'waitlist link';

export function createOffers(ports: WaitlistPorts): Offers {
  const places = createSpots(ports);
  const linkOf = (id: string) => `${ports.publicUrl}/waitlist/${id}?key=${ports.secrets.sign(LINK, id)}`;
  const offers: Offers = {
    places,
    linkOf,
    isLink: (id, key) => ports.secrets.verify(LINK, id, key),
    async freed(work, workspaceId, productId, place) {
      const product = await ports.products.find(work.tx, workspaceId, productId);
      if (product?.status !== 'PUBLISHED') return;
      // A suspended creator cannot be booked: the sweep offers the spot after the suspension.
      if (await isSuspended(work.tx, workspaceId)) return;
      while (await offerOne({ ports, places, linkOf }, work, product, place));
    },
    async end({ tx, append }, entry, { status, bookingId }) {
      if (entry.holds_spot) await places.giveUp(tx, entry);
      const ended = await repository.endEntry(tx, entry, { status, bookingId, now: ports.clock.now() });
      if (ended === undefined) return null;
      if (entry.holds_spot) {
        await offers.freed({ tx, append }, entry.workspace_id, entry.product_id, placeOf(entry));
      }
      return ended;
    },
    async converted(work, booked) {
      const { entryId } = booked;
      const offered = entryId === null ? undefined : await repository.findOffered(work.tx, booked, entryId);
      const entry = offered ?? (await repository.findWaiting(work.tx, booked));
      if (entry === undefined) return;
      const to = { status: 'CONVERTED', bookingId: booked.bookingId } as const;
      if ((await offers.end(work, entry, to)) === null) return;
      await work.append(waitlistConverted, entry.workspace_id, await dataOf(work, entry));
    },
    greet: (work, product, entry) => mail({ ports, places, linkOf }, work, product, entry),
  };
  return offers;
}

/** Returns the offered spot; before an offer, the requested one. */
export function placeOf(entry: EntryRow): Spot {
  return {
    cohortId: entry.offered_cohort_id ?? entry.cohort_id,
    startsAt: entry.offered_starts_at ?? entry.starts_at,
  };
}

export async function dataOf({ tx }: Pick<TransactionContext, 'tx'>, entry: EntryRow) {
  return {
    waitlistId: entry.id,
    productId: entry.product_id,
    cohortId: placeOf(entry).cohortId,
    position: entry.position,
    sequence: await nextSequence(tx, 'waitlist_entry', entry.id),
  };
}

interface Means {
  ports: WaitlistPorts;
  places: Spots;
  linkOf: Offers['linkOf'];
}

/** @returns whether another spot may be offered. */
async function offerOne(
  means: Means,
  work: TransactionContext,
  product: ProductRow,
  place: Spot,
): Promise<boolean> {
  const { ports, places } = means;
  const { tx } = work;
  const now = ports.clock.now();
  const of = { ...place, productId: product.id };
  const returning = await repository.findReturning(tx, of, now);
  const entry = returning ?? (await repository.findFirst(tx, of));
  if (entry === undefined) return false;
  const closesAt = await places.closesAt(tx, product, place);
  const expiresAt = closesAt && offerEnd(now, closesAt);
  if (expiresAt === null) return false;
  const kept = await places.keep(tx, product, place, entry.id);
  if (kept === null) return false;
  const { occurrenceId } = kept;
  const marked =
    returning === undefined
      ? await repository.markOffered(tx, entry.id, { ...place, occurrenceId, now, expiresAt })
      : await repository.markHeld(tx, entry.id, occurrenceId, now);
  // Another process used this entry: offer the spot to the next one.
  if (marked === undefined) {
    await places.giveUp(tx, { ...entry, ...columnsOf(place), occurrence_id: occurrenceId });
  } else if (returning === undefined) {
    await work.append(waitlistOffered, marked.workspace_id, await dataOf(work, marked));
    await mail(means, work, product, marked);
  }
  return true;
}

const columnsOf = ({ cohortId }: Spot) => ({ offered_cohort_id: cohortId });

async function mail(
  { ports, places, linkOf }: Means,
  { tx }: TransactionContext,
  product: ProductRow,
  entry: EntryRow,
): Promise<void> {
  const told = {
    to: entry.email,
    place: await places.nameOf(tx, product, placeOf(entry)),
    creator: await repository.creatorName(tx, entry.workspace_id),
    link: linkOf(entry.id),
  };
  const { status, confirmed_at: confirmedAt, offer_expires_at: until } = entry;
  if (status !== 'OFFERED' || until === null) {
    return ports.mailbox.enqueue(tx, joinedEmail({ ...told, isConfirmed: confirmedAt !== null }));
  }
  const { timezone } = await ports.availability.of(tx, entry.workspace_id);
  return ports.mailbox.enqueue(tx, spotOfferedEmail({ ...told, until: formatInZone(until, timezone) }));
}

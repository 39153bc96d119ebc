import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { parseEmail } from '../../../kernel/email.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import { toSingleLine } from '../../../kernel/single-line.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { CountMail } from '../../integration/mail/index.ts';
import { waitlistJoined } from './events.ts';
import { createOffers, dataOf, type Offers, placeOf } from './offers.ts';
import type { TransactionContext, WaitlistPorts } from './ports.ts';
import type { AwaitedSpot, EntryFilters, EntryRow, ProductSpot } from './repository.ts';
import * as repository from './repository.ts';
import { assertSpot, type Spot } from './rules.ts';
import type { WaitlistIn } from './schemas.ts';

/**
 * Waitlist for spots of booking products (docs/concepts/booking-waitlist.md). An ID of another workspace is
 * NOT_FOUND.
 */
export interface Waitlist {
  /**
   * Adds an entry. Joining again emails a typed address again; an API caller confirms an unconfirmed entry.
   *
   * @throws {AppError} BAD_REQUEST, field `email`, `startsAt` or `cohortId`; NOT_FOUND; CONFLICT when the
   *   address waits for this spot already (`email`, never for typed addresses), the spot is free, the line is
   *   full, or the product is archived.
   * @param how.isTyped typed on a public page, which does not verify the address: the entry counts once the
   *   emailed link confirms it. Otherwise the API caller vouches for the address.
   */
  join(
    workspaceId: string,
    productId: string,
    input: WaitlistIn,
    how: { isTyped: boolean; countMail: CountMail },
  ): Promise<EntryRow>;
  list(workspaceId: string, filters: EntryFilters, page: PageRequest): Promise<EntryRow[]>;
  get(workspaceId: string, id: string): Promise<EntryRow>;
  /** Removes an entry from the list. @throws {AppError} CONFLICT for an entry with a booking. */
  remove(workspaceId: string, id: string): Promise<EntryRow>;
  /** Reports whether this is the key of the emailed link. */
  isLink(id: string, key: string): boolean;
  /** Returns an entry in any workspace, for emailed links. */
  byId(id: string): Promise<{ entry: EntryRow; place: Spot }>;
  /** Confirms an entry in any workspace. Idempotent. */
  confirm(id: string): Promise<void>;
  /** Removes an entry in any workspace. @throws {AppError} as `remove`. */
  leave(id: string): Promise<EntryRow>;
  /** Reports whether this spot is held for the entry. */
  isKept(db: Db, place: ProductSpot, id: string): Promise<boolean>;
  /**
   * Releases the spot that is held for the entry to its booking. It is held again when the booking fails and
   * the offer is still valid.
   *
   * @returns false when none is held.
   * @throws {AppError} CONFLICT when the offer expires at the same moment.
   */
  take(tx: Tx, place: ProductSpot, id: string): Promise<boolean>;
  /** Expires offers, and offers spots that became free without an event; the worker calls it. */
  sweep(): Promise<void>;
  /** Offers, for event consumers. */
  offers: Offers;
}

/** Maximum confirmed entries in one line. */
const MAX_WAITING = 1000;
/** Maximum unconfirmed entries in one line: more than one IP can type within the time to confirm. */
const MAX_UNCONFIRMED = 5000;
const BATCH = 200;
const UNCONFIRMED_MS = 2 * DAY_MS;
const OPEN: readonly EntryRow['status'][] = ['WAITING', 'OFFERED'];

interface Deps extends WaitlistPorts {
  offers: Offers;
}

export function createWaitlist(ports: WaitlistPorts): Waitlist {
  const { db, events } = ports;
  const offers = createOffers(ports);
  const deps = { ...ports, offers };
  /** Last spot that a sweep checked. */
  let looked: AwaitedSpot | null = null;
  return {
    offers,
    join: (workspaceId, productId, input, how) =>
      events.transaction((tx, append) =>
        join(deps, { tx, append }, workspaceId, { productId, input, ...how }),
      ),
    list: (workspaceId, filters, page) => repository.listEntries(db, workspaceId, filters, page),
    get: async (workspaceId, id) => found(await repository.findEntry(db, id, workspaceId)),
    remove: (workspaceId, id) => endOne(deps, id, 'REMOVED', workspaceId),
    isLink: offers.isLink,
    async byId(id) {
      const entry = found(await repository.findEntry(db, id));
      return { entry, place: placeOf(entry) };
    },
    confirm: (id) => repository.confirmEntry(db, id, ports.clock.now()),
    leave: (id) => endOne(deps, id, 'REMOVED'),
    isKept: async (at, place, id) => (await findHolder(deps, at, place, id)) !== null,
    take: (tx, place, id) => take(deps, tx, place, id),
    async sweep() {
      const now = ports.clock.now();
      await repository.expireUnconfirmed(db, dateFromMs(now.getTime() - UNCONFIRMED_MS), now);
      const lapsed = await repository.listLapsed(db, ports.clock.now(), BATCH);
      for (const { id } of lapsed)
        await logFailure(deps, { waitlistId: id }, () => endOne(deps, id, 'EXPIRED'));
      const awaited = await repository.listAwaited(db, ports.clock.now(), { after: looked, limit: BATCH });
      // The next sweep continues after the last spot and starts over at the end.
      looked = awaited.length < BATCH ? null : (awaited.at(-1) ?? null);
      for (const place of awaited) await logFailure(deps, place, () => offerFree(deps, place));
    },
  };
}

interface Joining {
  productId: string;
  input: WaitlistIn;
  isTyped: boolean;
  countMail: CountMail;
}

async function join(
  { products, clock, offers }: Deps,
  work: TransactionContext,
  workspaceId: string,
  { productId, input, isTyped, countMail }: Joining,
): Promise<EntryRow> {
  const { tx, append } = work;
  if ((await products.find(tx, workspaceId, productId)) === undefined) throw notFound();
  const email = parseEmail(input.email);
  if (email === null) throw badRequest('email', 'Enter a valid email address, such as name@example.com.');
  const { cohortId = null, startsAt = null } = input;
  const name = toSingleLine(input.name ?? '') || null;
  const place = { cohortId, startsAt: startsAt === null ? null : instant(startsAt) };
  const now = clock.now();
  const product = await products.lock(tx, productId);
  if (product.status === 'ARCHIVED') throw new AppError('CONFLICT', { message: 'The product is archived.' });
  assertSpot(product.type, place, now);
  if (await offers.places.isFree(tx, product, place)) {
    const field = cohortId === null ? 'startsAt' : 'cohortId';
    throw new AppError('CONFLICT', { field, message: 'A spot is available. Book it instead.' });
  }
  const wanted = { ...place, productId };
  const known = await repository.lockWaiting(tx, { ...wanted, email });
  const line = await repository.countQueue(tx, wanted);
  // A page responds the same whether or not an address waits: this is private.
  if (isTyped || known === undefined) assertRoom(line, isTyped);
  const row =
    known === undefined
      ? await repository.insertEntry(tx, {
          id: newId('wl', clock),
          workspace_id: workspaceId,
          product_id: productId,
          cohort_id: cohortId,
          starts_at: place.startsAt,
          ...{ email, name },
          position: line.ever + 1,
          confirmed_at: isTyped ? null : now,
          created_at: now,
          updated_at: now,
        })
      : await joinAgain(tx, known, { isTyped, name, now });
  if (known === undefined) await append(waitlistJoined, workspaceId, await dataOf(work, row));
  await countMail(email);
  await offers.greet(work, product, row);
  return row;
}

function assertRoom(line: { confirmed: number; unconfirmed: number }, isTyped: boolean): void {
  if (line.confirmed >= MAX_WAITING) {
    throw new AppError('CONFLICT', { message: `The waitlist limit of ${MAX_WAITING} people is reached.` });
  }
  if (isTyped && line.unconfirmed >= MAX_UNCONFIRMED) {
    const message = 'Too many unconfirmed waitlist entries. Try again tomorrow.';
    throw new AppError('CONFLICT', { message });
  }
}

/** @returns the current entry. */
async function joinAgain(
  tx: Tx,
  known: EntryRow,
  { isTyped, name, now }: { isTyped: boolean; name: string | null; now: Date },
): Promise<EntryRow> {
  if (isTyped) return known.confirmed_at === null ? repository.resendConfirmation(tx, known.id, now) : known;
  if (known.confirmed_at === null) return repository.confirmOnBehalf(tx, known.id, { name, now });
  const message = 'This email address is already on the waitlist.';
  throw new AppError('CONFLICT', { field: 'email', message });
}

/** Another process changed the entry between the read and the change. */
const RACED = new Error('the entry was changed concurrently');

async function endOne(
  { events, offers, clock }: Deps,
  id: string,
  status: 'REMOVED' | 'EXPIRED',
  workspaceId?: string,
): Promise<EntryRow> {
  for (;;) {
    try {
      return await events.transaction(async (tx, append) => {
        const entry = found(await repository.findEntry(tx, id, workspaceId));
        if (status === 'EXPIRED' && !isLapsed(entry, clock.now())) return entry;
        if (entry.status === 'CONVERTED') {
          throw new AppError('CONFLICT', {
            message: 'This entry has been converted to a booking. Cancel the booking instead.',
          });
        }
        if (!OPEN.includes(entry.status)) return entry;
        const ended = await offers.end({ tx, append }, entry, { status, bookingId: null });
        if (ended === null) throw RACED;
        return ended;
      });
    } catch (error) {
      if (error !== RACED) throw error;
    }
  }
}

function isLapsed({ status, offer_expires_at: end }: EntryRow, now: Date): boolean {
  return status === 'OFFERED' && end !== null && end <= now;
}

/** Returns the entry that holds the spot; null also for an expired offer that no sweep has processed. */
async function findHolder({ clock }: Deps, db: Db, place: ProductSpot, id: string) {
  const entry = await repository.findOffered(db, place, id);
  return entry?.holds_spot === true && !isLapsed(entry, clock.now()) ? entry : null;
}

async function take(deps: Deps, tx: Tx, place: ProductSpot, id: string): Promise<boolean> {
  const entry = await findHolder(deps, tx, place, id);
  if (entry === null) return false;
  await deps.offers.places.giveUp(tx, entry);
  if (await repository.markClaimed(tx, entry.id, deps.clock.now())) return true;
  const field = place.cohortId === null ? 'startsAt' : 'cohortId';
  throw new AppError('CONFLICT', { field, message: 'The spot is no longer held for this offer.' });
}

/** Logs a failure, so that it does not block the others. */
async function logFailure({ log }: Deps, what: object, act: () => Promise<unknown>): Promise<void> {
  try {
    await act();
  } catch (error) {
    log.error({ err: error, ...what }, 'a waitlist could not be updated; will retry');
  }
}

/**
 * Offers a spot that became free without an event: a claimed seat that was released, a higher cohort
 * capacity, or less time off.
 */
async function offerFree(
  { db, events, offers, products, clock }: Deps,
  { workspaceId, productId, cohortId, startsAt }: AwaitedSpot,
): Promise<void> {
  const place = { cohortId, startsAt };
  const product = await products.find(db, workspaceId, productId);
  const closesAt = product && (await offers.places.closesAt(db, product, place));
  if (product === undefined || !closesAt || closesAt <= clock.now()) {
    await repository.expireQueue(db, { ...place, productId }, clock.now());
  } else if (await offers.places.isFree(db, product, place).catch(() => false)) {
    await events.transaction((tx, append) => offers.freed({ tx, append }, workspaceId, productId, place));
  }
}

function found(row: EntryRow | undefined): EntryRow {
  if (row === undefined) throw notFound();
  return row;
}

function instant(text: string): Date {
  return dateFromMs(Temporal.Instant.from(text).epochMilliseconds);
}

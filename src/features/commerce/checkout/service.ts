import type { Mode } from '../../../kernel/access.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import { parseEmail } from '../../../kernel/email.ts';
import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import { rethrowNotFoundAs } from '../../../kernel/not-found.ts';
import { toSingleLine } from '../../../kernel/single-line.ts';
import { normalizeTimezone } from '../../../kernel/timezone.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { BookingOffer, BookingPrice } from '../../booking/bookings/index.ts';
import type { CountMail } from '../../integration/mail/index.ts';
import type { Quote } from '../discount-codes/index.ts';
import type { TierRow } from '../tiers/index.ts';
import { checkoutCreated } from './events.ts';
import { emitCheckoutEvent } from './outcomes.ts';
import { payCheckout } from './pay.service.ts';
import type { CheckoutPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import { assertChargeable, CHECKOUT_TTL_MS, type CheckoutRow } from './rules.ts';
import type { BookingCheckoutIn, CheckoutSettings } from './schemas.ts';

interface Caller {
  workspaceId: string;
  mode: Mode;
}

/** Checkouts of a workspace (docs/concepts/checkout.md). An id that is not the workspace's is NOT_FOUND. */
export interface Checkouts {
  /**
   * @param idempotentRunId of the Idempotency-Key: the same one returns the same checkout.
   * @throws {AppError} BAD_REQUEST, field `successUrl`, `cancelUrl` or `customerEmail`; CONFLICT when the
   *   tier accepts no members, field `discountCode` when the code is not valid, when 1 to 49 cents would be
   *   due, and when the creator cannot take payments; SERVICE_UNAVAILABLE when the provider does not answer.
   */
  createForTier(
    caller: Caller,
    input: CheckoutSettings & { tierId: string },
    idempotentRunId: string | null,
  ): Promise<CheckoutRow>;
  /** @throws {AppError} as `createForTier`; CONFLICT for a video that is not sold. */
  createForVideo(caller: Caller, input: CheckoutSettings & { videoId: string }): Promise<CheckoutRow>;
  /**
   * Creates a booking and its checkout; a free one is COMPLETED immediately.
   *
   * @throws {AppError} as `createForTier`; BAD_REQUEST, field `startsAt`, `cohortId`, `customer.…` or
   *   `intakeAnswers.…`; CONFLICT for a product that is not published (`productId`), and for a slot or cohort
   *   that is taken (`startsAt`, `cohortId`).
   * @param how.countMail called before a free booking is confirmed to an unverified email address.
   * @param how.waitlistEntryId the waitlist entry whose emailed link the buyer has used: its spot is
   *   consumed.
   */
  createForBooking(
    caller: Caller,
    input: BookingCheckoutIn,
    how?: { countMail?: CountMail | undefined; waitlistEntryId?: string | undefined },
  ): Promise<CheckoutRow>;
  get(workspaceId: string, id: string): Promise<CheckoutRow>;
  /** Returns the booking of a COMPLETED checkout; null for any other. */
  bookingOf(id: string): Promise<string | null>;
}

/** Item for sale, as offered now. */
type Offer = Pick<CheckoutRow, 'kind' | 'tier_id' | 'video_id' | 'interval' | 'trial_days'> & {
  priceCents: number;
} & ({ title: string; booking: null } | { booking: BookingOffer });

export function createCheckouts(ports: CheckoutPorts): Checkouts {
  const { db } = ports;
  return {
    async createForTier(caller, input, idempotentRunId) {
      const known =
        idempotentRunId === null ? undefined : await repository.findByOperation(db, idempotentRunId);
      if (known !== undefined) return known;
      return create(ports, caller, input, await tierOffer(ports, caller, input.tierId), { idempotentRunId });
    },
    async createForVideo(caller, input) {
      return create(ports, caller, input, await videoOffer(ports, caller, input.videoId));
    },
    async createForBooking(caller, input, { countMail, waitlistEntryId = null } = {}) {
      const { customer, ...settings } = input;
      const booking = await bookingOffer(ports, caller, input, waitlistEntryId);
      const of = { tier_id: null, video_id: null, interval: null, trial_days: 0 };
      const offer = { kind: 'BOOKING' as const, ...of, priceCents: booking.priceCents, booking };
      const bought = { ...settings, customerEmail: booking.input.customer.email };
      return create(ports, caller, bought, offer, { countMail });
    },
    async bookingOf(id) {
      const row = await repository.findPublicCheckout(db, id);
      return row?.status === 'COMPLETED' ? row.booking_id : null;
    },
    async get(workspaceId, id) {
      const row = await repository.findCheckout(db, workspaceId, id);
      if (row === undefined) throw notFound();
      return row;
    },
  };
}

async function tierOffer({ tiers }: CheckoutPorts, { workspaceId }: Caller, id: string): Promise<Offer> {
  const tier = await tiers.get(workspaceId, id).catch(rethrowNotFoundAs('tierId'));
  assertTakesMembers(tier);
  return {
    kind: 'SUBSCRIPTION',
    tier_id: tier.id,
    video_id: null,
    title: tier.name,
    interval: tier.interval,
    trial_days: tier.trial_days,
    priceCents: tier.price_cents,
    booking: null,
  };
}

/** @throws {AppError} CONFLICT, field `tierId`, when the tier accepts no members. */
function assertTakesMembers(tier: TierRow): void {
  const refuse = (message: string) => new AppError('CONFLICT', { field: 'tierId', message });
  if (!tier.is_active || tier.archived_at !== null) throw refuse('The tier does not accept new members.');
  const taken = tier.member_count + tier.reserved_count;
  if (tier.max_members !== null && taken >= tier.max_members) throw refuse('The tier is full.');
}

async function videoOffer(ports: CheckoutPorts, { workspaceId }: Caller, id: string): Promise<Offer> {
  const { title, priceCents } = await ports.videoOf(workspaceId, id).catch(rethrowNotFoundAs('videoId'));
  if (priceCents === null) {
    const message = 'The video is not for sale: its visibility is not PURCHASE, or it has no price.';
    throw new AppError('CONFLICT', { field: 'videoId', message });
  }
  const of = { tier_id: null, video_id: id, interval: null, trial_days: 0, booking: null };
  return { kind: 'VIDEO', ...of, title, priceCents };
}

async function bookingOffer(
  { bookings }: CheckoutPorts,
  { workspaceId }: Caller,
  { productId, startsAt, cohortId, customer, intakeAnswers }: BookingCheckoutIn,
  waitlistEntryId: string | null,
): Promise<BookingOffer> {
  const email = parseEmail(customer.email);
  if (email === null) throw badRequest('customer.email', 'Enter a valid email address.');
  const name = toSingleLine(customer.name);
  if (name === '') throw badRequest('customer.name', 'The name must contain visible characters.');
  const timezone =
    customer.timezone == null ? null : normalizeTimezone(customer.timezone, 'customer.timezone');
  return bookings.offer(workspaceId, {
    ...{ productId, cohortId, intakeAnswers, waitlistEntryId },
    startsAt: startsAt === undefined ? undefined : toDate(startsAt),
    customer: { name, email, timezone },
  });
}

const toDate = (instant: string) => dateFromMs(Temporal.Instant.from(instant).epochMilliseconds);

async function create(
  ports: CheckoutPorts,
  caller: Caller,
  input: CheckoutSettings,
  offer: Offer,
  {
    idempotentRunId = null,
    countMail,
  }: { idempotentRunId?: string | null; countMail?: CountMail | undefined } = {},
): Promise<CheckoutRow> {
  const { workspaceId } = caller;
  const { priceCents } = offer;
  await assertAddress(ports, caller, 'successUrl', input.successUrl);
  await assertAddress(ports, caller, 'cancelUrl', input.cancelUrl);
  const email = input.customerEmail === undefined ? null : parseEmail(input.customerEmail);
  if (input.customerEmail !== undefined && email === null) {
    throw badRequest('customerEmail', 'Enter a valid email address.');
  }
  const sold = { priceCents, productId: offer.booking?.productId ?? null };
  const code =
    input.discountCode === undefined
      ? null
      : await ports.discountCodes.quote(workspaceId, input.discountCode, sold);
  const discountCents = code?.discountCents ?? 0;
  assertChargeable(priceCents - discountCents);
  // A subscription that begins for free is charged later.
  const isCharged = offer.booking === null ? priceCents > 0 : priceCents > discountCents;
  if (isCharged) await ports.payments.providerNow(workspaceId);
  const now = ports.clock.now();
  return ports.events.transaction(async (tx, append) => {
    await lockOfferedItems(ports, tx, workspaceId, { tierId: offer.tier_id, code });
    const price = {
      amountCents: priceCents - discountCents,
      discountCents,
      discountCode: code?.code ?? null,
    };
    const row = await repository.insertCheckout(tx, {
      ...(await columnsOf(ports, { tx, append }, offer, price)),
      id: newId('chk'),
      workspace_id: workspaceId,
      amount_cents: priceCents - discountCents,
      discount_cents: discountCents,
      discount_code_id: code?.id ?? null,
      discount_code: code?.code ?? null,
      customer_email: email,
      success_url: input.successUrl,
      cancel_url: input.cancelUrl,
      client_reference_id: input.clientReferenceId ?? null,
      metadata: input.metadata ?? {},
      operation_id: idempotentRunId,
      created_at: now,
    });
    if (row !== undefined) {
      await emitCheckoutEvent({ tx, append }, checkoutCreated, row);
      const isBooked = row.kind === 'BOOKING' && row.amount_cents === 0;
      return isBooked ? bookFree(ports, { tx, append }, row, countMail) : row;
    }
    // A concurrent run of the same operation has already committed.
    const made = idempotentRunId === null ? undefined : await repository.findByOperation(tx, idempotentRunId);
    if (made === undefined) throw new Error('a checkout was neither created nor found');
    return made;
  });
}

/**
 * Locks the items of the checkout, which may have been removed since they were offered, until the transaction
 * ends.
 *
 * @throws {AppError} as the offer.
 */
async function lockOfferedItems(
  { tiers, discountCodes }: CheckoutPorts,
  tx: Tx,
  workspaceId: string,
  { tierId, code }: { tierId: string | null; code: Quote | null },
): Promise<void> {
  if (tierId !== null) {
    assertTakesMembers(await tiers.keep(tx, workspaceId, tierId).catch(rethrowNotFoundAs('tierId')));
  }
  if (code !== null) await discountCodes.keep(tx, code);
}

/**
 * Returns the columns of the item. A booking is created in the transaction of its checkout, which expires
 * with its hold.
 */
async function columnsOf(ports: CheckoutPorts, work: TransactionContext, offer: Offer, price: BookingPrice) {
  const { kind, tier_id, video_id, interval, trial_days } = offer;
  const of = { kind, tier_id, video_id, interval, trial_days };
  if (offer.booking === null) {
    const expiresAt = dateFromMs(ports.clock.ms() + CHECKOUT_TTL_MS);
    return { ...of, title: offer.title, expires_at: expiresAt };
  }
  const { bookingId, title, expiresAt } = await ports.bookings.make(work, offer.booking, price);
  const { productId } = offer.booking;
  return { ...of, title, expires_at: expiresAt, booking_id: bookingId, product_id: productId };
}

/** Completes a free booking immediately. */
async function bookFree(
  ports: CheckoutPorts,
  work: TransactionContext,
  row: CheckoutRow,
  countMail: CountMail | undefined,
): Promise<CheckoutRow> {
  await payCheckout(ports, work, row, { email: '', card: null, isSandbox: false, method: null, countMail });
  const done = await repository.lockCheckout(work.tx, row.id);
  if (done === undefined) throw new Error(`checkout ${row.id} not found`);
  return done;
}

/** @throws {AppError} BAD_REQUEST, naming the field (docs/concepts/checkout.md#redirect-urls). */
async function assertAddress(
  ports: CheckoutPorts,
  caller: Caller,
  field: 'successUrl' | 'cancelUrl',
  text: string,
): Promise<void> {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw badRequest(field, `${field} must be a valid URL.`);
  if (url.username !== '' || url.password !== '') {
    throw badRequest(field, `${field} must not contain a username or password.`);
  }
  if (await ports.mayLeadTo(caller, url)) return;
  const message = `${field} must be an https address of this platform or of a verified integration domain.`;
  throw badRequest(field, message);
}

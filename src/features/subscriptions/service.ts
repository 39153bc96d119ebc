import { AppError, badRequest, notFound } from '../../kernel/errors.ts';
import { newId } from '../../kernel/ids.ts';
import type { PageRequest } from '../../kernel/page.ts';
import type { Db } from '../../platform/db/index.ts';
import type { SubscriptionCancelReason } from '../../platform/db/tables.generated.ts';
import { apply, toldOf } from './changes.ts';
import { subscriptionCreated } from './events.ts';
import { createLetters, type Letters } from './letters.service.ts';
import { createPaymentOutcomes, type PaymentOutcomes } from './outcomes.service.ts';
import type { SubscriptionPorts, Work } from './ports.ts';
import { createRenewals, type Renewals } from './renewals.service.ts';
import type { ShownSubscription, SubscriptionFilter } from './repository.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow, Terms } from './rules.ts';
import * as rules from './rules.ts';
import { awaitSwitch, beginSwitch } from './switch.service.ts';

/** A subscription that begins: its first period is paid, or costs nothing. */
export interface NewSubscription extends Terms {
  /** The one that the purchase was given; a new one where nothing was due. */
  id?: string | null;
  workspaceId: string;
  customerId: string;
  checkoutId: string | null;
  /** What paid for the first period. */
  purchaseId: string | null;
  /** 0: none, or the customer has had one (`trialDaysFor`). */
  trialDays: number;
  /** Off the charge that follows a trial; without a trial it is spent. */
  discountCents: number;
  discountCode: string | null;
  clientReferenceId: string | null;
  /** Nobody has given a card for it: a saved one is charged only when its holder confirms it. */
  asksBeforeCharge?: boolean;
  /** Its place in the tier was claimed. */
  wasClaimed: boolean;
}

export interface Cancellation {
  atPeriodEnd: boolean;
  by: Extract<SubscriptionCancelReason, 'MEMBER_CANCELED' | 'CREATOR_CANCELED'>;
}

/** Subscriptions of a workspace (docs/api/subscriptions.md). An id that is not the workspace's is NOT_FOUND. */
export interface Subscriptions {
  /** In the transaction of what paid for it. */
  begin(work: Work, input: NewSubscription): Promise<SubscriptionRow>;
  /** Days of the trial that a customer gets: one with each creator. Null: nobody in particular. */
  trialDaysFor(db: Db, customerId: string | null, trialDays: number): Promise<number>;
  list(workspaceId: string, filter: SubscriptionFilter, page: PageRequest): Promise<ShownSubscription[]>;
  listOfCustomer(customerId: string): Promise<ShownSubscription[]>;
  get(workspaceId: string, id: string): Promise<ShownSubscription>;
  /** @throws {AppError} CONFLICT when it is over. */
  cancel(workspaceId: string, id: string, how: Cancellation): Promise<ShownSubscription>;
  /** @throws {AppError} CONFLICT unless it is canceled and not over yet. */
  resume(workspaceId: string, id: string): Promise<ShownSubscription>;
  /** @throws {AppError} BAD_REQUEST, field `tierId`; CONFLICT, also for a declined card; SERVICE_UNAVAILABLE. */
  switchTier(workspaceId: string, id: string, tierId: string): Promise<ShownSubscription>;
  /** A card was given for what the customer has: it is charged from now on, and what was declined is tried again. */
  retryCharges(customerId: string): Promise<void>;
  /** Does the customer have one that opens what is for these tiers (none named: for any)? */
  opens(customerId: string, guarded: { workspaceId: string; tierIds: readonly string[] }): Promise<boolean>;
  /** The members of a tier pay this price from their next period on. */
  migratePrice(work: Work, workspaceId: string, tierId: string): Promise<void>;
  readonly renewals: Renewals;
  readonly letters: Letters;
  readonly outcomes: PaymentOutcomes;
}

export function createSubscriptions(ports: SubscriptionPorts): Subscriptions {
  const { db, clock } = ports;
  const renewals = createRenewals(ports);
  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findShown(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };
  const locked = async <T>(
    workspaceId: string,
    id: string,
    work: (work: Work, row: SubscriptionRow) => Promise<T>,
  ) =>
    ports.events.transaction(async (tx, append) => {
      const row = await repository.lockSubscription(tx, workspaceId, id);
      if (row === undefined) throw notFound();
      return work({ tx, append }, row);
    });
  return {
    get,
    renewals,
    letters: createLetters(ports),
    outcomes: createPaymentOutcomes(ports),
    begin: (work, input) => begin(ports, work, input),
    async trialDaysFor(where, customerId, trialDays) {
      if (trialDays === 0 || customerId === null) return trialDays;
      return (await repository.hadTrial(where, customerId)) ? 0 : trialDays;
    },
    list: (workspaceId, filter, page) => repository.listShown(db, workspaceId, filter, page),
    listOfCustomer: (customerId) => repository.listOfCustomer(db, customerId),
    async cancel(workspaceId, id, how) {
      await locked(workspaceId, id, (work, row) => cancel(ports, work, row, how));
      return get(workspaceId, id);
    },
    async resume(workspaceId, id) {
      await locked(workspaceId, id, async (work, row) => {
        const change = rules.resumed(row);
        if (change === null) throw conflict('Nothing is to be resumed: the subscription is not canceled.');
        await apply(ports, work, row, change);
      });
      return get(workspaceId, id);
    },
    async switchTier(workspaceId, id, tierId) {
      const paymentId = await locked(workspaceId, id, (work, row) => beginSwitch(ports, work, row, tierId));
      if (paymentId !== null) await awaitSwitch(ports, paymentId);
      return get(workspaceId, id);
    },
    async retryCharges(customerId) {
      await repository.agreeToCharges(db, customerId);
      await repository.hastenRetries(db, customerId, clock.now());
    },
    opens: (customerId, guarded) => repository.opensTier(db, customerId, guarded),
    async migratePrice({ tx }, workspaceId, tierId) {
      const tier = await repository.findTier(tx, workspaceId, tierId);
      if (tier === undefined) throw badRequest('tierId', 'There is no such tier.');
      await repository.migratePrice(tx, tierId, tier.price_cents, clock.now());
    },
  };
}

function conflict(message: string): AppError {
  return new AppError('CONFLICT', { message });
}

async function begin(
  ports: SubscriptionPorts,
  { tx, append }: Work,
  input: NewSubscription,
): Promise<SubscriptionRow> {
  const { workspaceId, trialDays } = input;
  const now = ports.clock.now();
  const { timezone } = await repository.zoneOf(tx, workspaceId);
  const row = await repository.insertSubscription(tx, {
    ...rules.begin(input, { now, timezone, trialDays }),
    id: input.id ?? newId('sub', ports.clock),
    workspace_id: workspaceId,
    customer_id: input.customerId,
    checkout_id: input.checkoutId,
    purchase_id: input.purchaseId,
    discount_code: input.discountCode,
    discount_cents: trialDays > 0 ? input.discountCents : 0,
    client_reference_id: input.clientReferenceId,
    asks_before_charge: input.asksBeforeCharge ?? false,
    event_sequence: 1,
    created_at: now,
    updated_at: now,
  });
  await ports.places.join(tx, row.tier_id, input.wasClaimed);
  await append(subscriptionCreated, workspaceId, toldOf(row, 1));
  return row;
}

async function cancel(
  ports: SubscriptionPorts,
  work: Work,
  row: SubscriptionRow,
  { atPeriodEnd, by }: Cancellation,
): Promise<void> {
  if (row.ended_at !== null) throw conflict('The subscription is over.');
  if (atPeriodEnd && row.cancel_at_period_end) return;
  const now = ports.clock.now();
  const change = atPeriodEnd
    ? rules.cancelAtPeriodEnd(row, by, now)
    : rules.ended({ ...row, cancel_reason: by }, 'ENDED', by, now);
  if (change !== null) await apply(ports, work, row, change);
}

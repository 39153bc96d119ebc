import { AppError, badRequest, notFound } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import type { SubscriptionCancelReason } from '../../../platform/db/tables.generated.ts';
import type { CollectedCard } from '../payments/index.ts';
import { apply, eventDataOf } from './changes.ts';
import { subscriptionCreated } from './events.ts';
import { createPaymentOutcomes, type PaymentOutcomes } from './outcomes.service.ts';
import type { SubscriptionPorts, TransactionContext } from './ports.ts';
import { createReminderEmails, type ReminderEmails } from './reminder-emails.service.ts';
import { createRenewals, type Renewals } from './renewals.service.ts';
import type { SubscriptionDetails, SubscriptionFilter } from './repository.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow, Terms } from './rules.ts';
import * as rules from './rules.ts';
import { askMember, awaitSwitch, beginSwitch, type SwitchRequest } from './switch.service.ts';

/** New subscription, whose first period is paid or free. */
export interface NewSubscription extends Terms {
  /** ID assigned to the purchase; a new one where nothing was due. */
  id?: string | null;
  workspaceId: string;
  customerId: string;
  checkoutId: string | null;
  /** Purchase that paid for the first period. */
  purchaseId: string | null;
  /** 0: no trial, or the customer has had one (`trialDaysFor`). */
  trialDays: number;
  /** Discount of the charge that follows a trial; without a trial it has been used. */
  discountCents: number;
  discountCode: string | null;
  clientReferenceId: string | null;
  /** Card given for the subscription: only this card is charged, and none when it is null. */
  paymentMethod: PaymentMethod | null;
  /** Whether its spot in the tier was reserved. */
  wasClaimed: boolean;
}

export interface Cancellation {
  atPeriodEnd: boolean;
  by: Extract<SubscriptionCancelReason, 'MEMBER_CANCELED' | 'CREATOR_CANCELED'>;
}

/** Subscriptions of a workspace (docs/concepts/subscriptions.md). An id that is not the workspace's is NOT_FOUND. */
export interface Subscriptions {
  /** Begins a subscription in the transaction of its payment. */
  begin(work: TransactionContext, input: NewSubscription): Promise<SubscriptionRow>;
  /** Returns the trial days of a customer: one trial per creator. Null: an unknown customer. */
  trialDaysFor(db: Db, customerId: string | null, trialDays: number): Promise<number>;
  list(workspaceId: string, filter: SubscriptionFilter, page: PageRequest): Promise<SubscriptionDetails[]>;
  listOfCustomer(customerId: string): Promise<SubscriptionDetails[]>;
  get(workspaceId: string, id: string): Promise<SubscriptionDetails>;
  /** @throws {AppError} CONFLICT when it has ended. */
  cancel(workspaceId: string, id: string, how: Cancellation): Promise<SubscriptionDetails>;
  /** @throws {AppError} CONFLICT unless its cancellation is planned and it has not ended. */
  resume(workspaceId: string, id: string): Promise<SubscriptionDetails>;
  /**
   * @throws {AppError} BAD_REQUEST, field `tierId`; CONFLICT, also for a declined card, and where a program would charge
   * a subscription that has no card of its own: its member is mailed where to agree; SERVICE_UNAVAILABLE.
   */
  switchTier(workspaceId: string, id: string, request: SwitchRequest): Promise<SubscriptionDetails>;
  /**
   * Assigns a card that its holder entered at the provider: to the subscription of a checkout, or as the
   * saved card of the member.
   */
  giveCard(card: CollectedCard): Promise<void>;
  /** Saves a card from the member page; no subscription is charged to it before the member selects it. */
  saveCard(customerId: string, method: PaymentMethod): Promise<void>;
  /**
   * Selects the member's saved card for this subscription; a declined renewal is retried.
   *
   * @throws {AppError} CONFLICT without a saved card, and when it has ended.
   */
  useSavedCard(workspaceId: string, id: string): Promise<void>;
  /** Reports whether the customer has a subscription to one of these tiers (none named: to any). */
  opens(customerId: string, guarded: { workspaceId: string; tierIds: readonly string[] }): Promise<boolean>;
  /** Applies the tier's price to its members from their next period on. */
  migratePrice(work: TransactionContext, workspaceId: string, tierId: string): Promise<void>;
  readonly renewals: Renewals;
  readonly letters: ReminderEmails;
  readonly outcomes: PaymentOutcomes;
}

export function createSubscriptions(ports: SubscriptionPorts): Subscriptions {
  const { db, clock } = ports;
  const renewals = createRenewals(ports);
  const get = async (workspaceId: string, id: string) => {
    const row = await repository.findSubscriptionDetails(db, workspaceId, id);
    if (row === undefined) throw notFound();
    return row;
  };
  const locked = async <T>(
    workspaceId: string,
    id: string,
    work: (work: TransactionContext, row: SubscriptionRow) => Promise<T>,
  ) =>
    ports.events.transaction(async (tx, append) => {
      const row = await repository.lockSubscription(tx, workspaceId, id);
      if (row === undefined) throw notFound();
      return work({ tx, append }, row);
    });
  return {
    get,
    renewals,
    letters: createReminderEmails(ports),
    outcomes: createPaymentOutcomes(ports),
    begin: (work, input) => begin(ports, work, input),
    async trialDaysFor(where, customerId, trialDays) {
      if (trialDays === 0 || customerId === null) return trialDays;
      return (await repository.hadTrial(where, customerId)) ? 0 : trialDays;
    },
    list: (workspaceId, filter, page) => repository.listSubscriptionDetails(db, workspaceId, filter, page),
    listOfCustomer: (customerId) => repository.listOfCustomer(db, customerId),
    async cancel(workspaceId, id, how) {
      await locked(workspaceId, id, (work, row) => cancel(ports, work, row, how));
      return get(workspaceId, id);
    },
    async resume(workspaceId, id) {
      await locked(workspaceId, id, async (work, row) => {
        const change = rules.resumed(row);
        if (change === null) throw conflict('The subscription is not canceled.');
        await apply(ports, work, row, change);
      });
      return get(workspaceId, id);
    },
    async switchTier(workspaceId, id, request) {
      const begun = await locked(workspaceId, id, (work, row) => beginSwitch(ports, work, row, request));
      if (begun !== 'DONE') {
        if ('asks' in begun) await askMember(ports, { workspaceId, id }, begun.asks);
        else await awaitSwitch(ports, begun.paymentId);
      }
      return get(workspaceId, id);
    },
    async giveCard({ customerId, method, checkoutId }) {
      await db.transaction().execute(async (tx) => {
        if (checkoutId === null) return ports.payments.saveMethod(tx, customerId, method);
        const row = await repository.lockOfCheckout(tx, { customerId, checkoutId });
        if (row !== undefined) await useCard(ports, tx, row, method);
      });
    },
    saveCard: (customerId, method) =>
      db.transaction().execute((tx) => ports.payments.saveMethod(tx, customerId, method)),
    useSavedCard: (workspaceId, id) =>
      locked(workspaceId, id, async ({ tx }, row) => {
        if (row.ended_at !== null) throw conflict('The subscription has ended.');
        const method = await ports.payments.savedMethodOf(tx, row.customer_id);
        if (method === null) throw conflict('Save a card first.');
        await useCard(ports, tx, row, method);
      }),
    opens: (customerId, guarded) => repository.hasTierAccess(db, customerId, guarded),
    async migratePrice({ tx }, workspaceId, tierId) {
      const tier = await repository.findTier(tx, workspaceId, tierId);
      if (tier === undefined) throw badRequest('tierId', 'Tier not found.');
      await repository.migratePrice(tx, tierId, tier.price_cents, clock.now());
    },
  };
}

function conflict(message: string): AppError {
  return new AppError('CONFLICT', { message });
}

async function begin(
  ports: SubscriptionPorts,
  { tx, append }: TransactionContext,
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
    payment_method: input.paymentMethod,
    event_sequence: 1,
    created_at: now,
    updated_at: now,
  });
  await ports.places.join(tx, row.tier_id, input.wasClaimed);
  await append(subscriptionCreated, workspaceId, eventDataOf(row, 1));
  return row;
}

async function cancel(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { atPeriodEnd, by }: Cancellation,
): Promise<void> {
  if (row.ended_at !== null) throw conflict('The subscription has ended.');
  if (atPeriodEnd && row.cancel_at_period_end) return;
  const now = ports.clock.now();
  const change = atPeriodEnd
    ? rules.cancelAtPeriodEnd(row, by, now)
    : rules.ended({ ...row, cancel_reason: by }, 'ENDED', by, now);
  if (change !== null) await apply(ports, work, row, change);
}

/** Sets the card to charge from now on; a declined renewal becomes due immediately. */
async function useCard(
  { clock }: SubscriptionPorts,
  tx: Tx,
  row: SubscriptionRow,
  method: PaymentMethod,
): Promise<void> {
  if (row.ended_at !== null) return;
  const now = clock.now();
  const isWaiting = row.status === 'PAST_DUE' && row.payment_id === null && row.next_charge_at !== null;
  await repository.updateSubscription(tx, row.id, {
    payment_method: method,
    updated_at: now,
    ...(isWaiting ? { next_charge_at: now } : {}),
  });
}

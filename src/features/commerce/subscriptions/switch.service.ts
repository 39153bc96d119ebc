import { AppError, badRequest } from '../../../kernel/errors.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { apply, emailContext, mailMember } from './changes.ts';
import * as mails from './emails.ts';
import type { SubscriptionPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow, Terms } from './rules.ts';
import * as rules from './rules.ts';
import * as switches from './switch.rules.ts';

const conflict = (message: string, field?: string) =>
  new AppError('CONFLICT', { message, ...(field === undefined ? {} : { field }) });

/** Requested tier, and the requester: the member who is present, or a program of the creator. */
export interface SwitchRequest {
  tierId: string;
  by: 'MEMBER' | 'CREATOR';
}

/** Charge that decides a switch; none where nothing is due, and none before the member has agreed to it. */
export type BegunSwitch = { paymentId: string } | 'DONE' | { asks: Terms & { dueCents: number } };

/**
 * Begins a switch of a locked subscription to another tier of its workspace.
 *
 * @throws {AppError} BAD_REQUEST, field `tierId`; CONFLICT.
 */
export async function beginSwitch(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { tierId, by }: SwitchRequest,
): Promise<BegunSwitch> {
  if (row.payment_id !== null && row.charge_kind === 'SWITCH' && row.charge_tier_id === tierId) {
    return { paymentId: row.payment_id };
  }
  assertSwitchable(row);
  const to = await termsOf(work.tx, row, tierId);
  const plan = switches.planSwitch(row, to);
  if (plan.when === 'now') {
    const { dueCents } = plan;
    assertChargeable(dueCents);
    const method = await methodFor(ports, work, row, by);
    if (method === null) return { asks: { ...to, dueCents } };
    return { paymentId: await switchNow(ports, work, row, { to, dueCents, method }) };
  }
  const isStep = plan.when === 'later';
  if (!isStep && row.pending_tier_id === null) throw conflict('This is already the current tier.', 'tierId');
  if (isStep && row.pending_tier_id === tierId) return 'DONE';
  const change = switches.pendingSwitch(row, isStep ? to : null, ports.clock.now());
  if (change !== null) await apply(ports, work, row, change);
  return 'DONE';
}

/**
 * The card that is charged with a switch: the subscription's own. A member who switches agrees to be charged, so the
 * card that they saved does as well.
 */
async function methodFor(
  { payments }: SubscriptionPorts,
  { tx }: TransactionContext,
  row: SubscriptionRow,
  by: SwitchRequest['by'],
): Promise<PaymentMethod | null> {
  if (row.payment_method !== null || by === 'CREATOR') return row.payment_method;
  const saved = await payments.savedMethodOf(tx, row.customer_id);
  if (saved === null) throw conflict('Save a card for this subscription first.', 'tierId');
  return saved;
}

function assertChargeable(dueCents: number): void {
  if (dueCents >= rules.MIN_CHARGE_CENTS) return;
  throw conflict('The price difference is below the minimum charge of 50 cents.', 'tierId');
}

function assertSwitchable(row: SubscriptionRow): void {
  if (row.ended_at !== null) throw conflict('The subscription has ended.');
  if (row.payment_id !== null) throw conflict('A charge is in progress. Try again in a minute.');
  if (row.status === 'PAST_DUE') throw conflict('A renewal is unpaid. Update the card first.');
  if (row.is_disputed) throw conflict('The last charge is disputed.');
  if (row.cancel_at_period_end) throw conflict('The subscription is canceled. Resume it first.');
}

/** The current tier retains the member's own price. */
async function termsOf(tx: TransactionContext['tx'], row: SubscriptionRow, tierId: string): Promise<Terms> {
  if (tierId === row.tier_id) return { tierId, priceCents: row.price_cents, interval: row.interval };
  const tier = await repository.findTier(tx, row.workspace_id, tierId);
  if (tier === undefined) throw badRequest('tierId', 'Tier not found.');
  if (!tier.is_active || tier.archived_at !== null) {
    throw conflict('This tier is closed to new members.', 'tierId');
  }
  return { tierId, priceCents: tier.price_cents, interval: tier.interval };
}

async function switchNow(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  { to, dueCents, method }: { to: Terms; dueCents: number; method: PaymentMethod },
): Promise<string> {
  if (!(await ports.places.claim(work.tx, to.tierId))) throw conflict('This tier is full.', 'tierId');
  // The reservation may have waited for a change of the tier.
  const tier = await repository.findTier(work.tx, row.workspace_id, to.tierId);
  if (tier?.price_cents !== to.priceCents) throw conflict('The price has changed. Try again.', 'tierId');
  const { paymentId } = await ports.payments.begin(work.tx, work.append, {
    workspaceId: row.workspace_id,
    customerId: row.customer_id,
    kind: 'SUBSCRIPTION',
    subscriptionId: row.id,
    tierId: to.tierId,
    amountCents: dueCents,
    discountCents: 0,
    discountCode: null,
    description: tier.name,
    // Counted, because a declined switch may be requested again.
    key: `${row.id}:${row.current_period_start.toISOString()}:switch:${await attemptOf(work.tx, row)}`,
    method,
    onSession: null,
  });
  await repository.updateSubscription(work.tx, row.id, switches.switching(to, paymentId));
  return paymentId;
}

async function attemptOf(tx: TransactionContext['tx'], { id }: SubscriptionRow): Promise<number> {
  return (await repository.countPurchases(tx, id)) + 1;
}

/**
 * Waits for the charge of a switch.
 *
 * @throws {AppError} CONFLICT, SERVICE_UNAVAILABLE.
 */
export async function awaitSwitch({ payments }: SubscriptionPorts, paymentId: string): Promise<void> {
  const settled = await payments.settle(paymentId);
  if (settled.status === 'SUCCEEDED') return;
  if (settled.status === 'FAILED') throw conflict(`The difference could not be charged. ${settled.message}`);
  const message = 'The payment is still pending at the payment provider. It is safe to repeat the request.';
  throw new AppError('SERVICE_UNAVAILABLE', { message });
}

/** Emails the member the charge of the creator's switch, and the page where they can agree to it. */
export async function askMember(
  ports: SubscriptionPorts,
  { workspaceId, id }: { workspaceId: string; id: string },
  asked: Terms & { dueCents: number },
): Promise<never> {
  await ports.db.transaction().execute(async (tx) => {
    const row = await repository.lockSubscription(tx, workspaceId, id);
    const tier = await repository.findTier(tx, workspaceId, asked.tierId);
    if (row === undefined || tier === undefined) return;
    const facts = await emailContext(ports, tx, row);
    await mailMember(ports, tx, mails.switchMail(facts, { ...asked, tierName: tier.name }));
  });
  const message =
    'No card is saved for this subscription. The member must agree to the charge first and has been emailed instructions.';
  throw conflict(message, 'tierId');
}

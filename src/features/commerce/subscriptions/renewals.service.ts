import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS } from '../../../kernel/durations.ts';
import { AppError, notFound } from '../../../kernel/errors.ts';
import { newUuid } from '../../../kernel/ids.ts';
import { isSuspended } from '../../../platform/db/workspace.ts';
import type { NewCharge } from '../payments/index.ts';
import { apply } from './changes.ts';
import type { SubscriptionPorts, TransactionContext } from './ports.ts';
import * as repository from './repository.ts';
import type { SubscriptionRow } from './rules.ts';
import * as rules from './rules.ts';

/** Ends of periods: charges, renewals and terminations (docs/decisions/money.md#renewals). */
export interface Renewals {
  /** Renews all subscriptions that are due. Concurrent nodes charge once. */
  renewDue(): Promise<void>;
  /** Ends the period of a subscription now, charging this card. */
  renewEarly(id: string, card: string | null): Promise<boolean>;
  /**
   * Charges a declined renewal with the member present; while that is pending, another call is the same
   * charge.
   *
   * @returns the URL to which the member is redirected first; null: it is paid.
   * @throws {AppError} CONFLICT where nothing is due, and for a declined card; SERVICE_UNAVAILABLE;
   *   NOT_FOUND.
   */
  payNow(workspaceId: string, id: string, how: PayNow): Promise<string | null>;
}

/** Payment by a member who is present. */
interface PayNow {
  returnUrl: string;
  /** Sandbox: the number of a test card; without one, the known card is charged. */
  card: string | null;
}

const BATCH = 50;
/** Maximum batches per run, so that a run does not delay the shutdown; the next run continues. */
const BATCHES_PER_RUN = 20;

export function createRenewals(ports: SubscriptionPorts): Renewals {
  const { db, clock } = ports;
  return {
    async renewDue() {
      for (let batch = 0; batch < BATCHES_PER_RUN; batch++) {
        const ids = await repository.listDue(db, clock.now(), BATCH);
        for (const id of ids) await renewIfPossible(ports, id);
        if (ids.length < BATCH) return;
      }
    },
    renewEarly: (id, card) => renew(ports, id, { isEarly: true, card }),
    payNow: (workspaceId, id, how) => payNow(ports, workspaceId, id, how),
  };
}

async function renewIfPossible(ports: SubscriptionPorts, id: string): Promise<void> {
  try {
    await renew(ports, id, { isEarly: false, card: null });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    ports.log.warn({ err: error, subscriptionId: id }, 'a subscription could not be renewed');
    // The creator cannot take payments at the moment: the member is not at fault, and it does not count as a
    // try.
    await postpone(ports, id);
  }
}

async function postpone({ db, clock }: SubscriptionPorts, id: string): Promise<void> {
  await db.transaction().execute(async (tx) => {
    const row = await repository.lockAny(tx, id);
    if (row === undefined || rules.dueAction(row, clock.now()) === 'NONE') return;
    await repository.updateSubscription(tx, id, { next_charge_at: dateFromMs(clock.ms() + DAY_MS) });
  });
}

/** Trigger of the end of a period. */
interface Way {
  isEarly: boolean;
  /** Sandbox: the test card that is charged instead of the member's. */
  card: string | null;
}

/**
 * Runs phase one in a transaction, then phase two.
 *
 * @returns false when nothing was due.
 */
async function renew(ports: SubscriptionPorts, id: string, way: Way): Promise<boolean> {
  const done = await ports.events.transaction(async (tx, append) => {
    const row = await repository.lockAnySkipLocked(tx, id);
    return row === undefined ? null : renewLocked(ports, { tx, append }, row, way);
  });
  if (done === null) return false;
  if (done.paymentId !== null) await settleLater(ports, done.paymentId);
  return true;
}

/** Settles the payment; if the provider does not answer, the reconciler retries. */
async function settleLater({ payments }: SubscriptionPorts, paymentId: string): Promise<void> {
  try {
    await payments.settle(paymentId);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
  }
}

type Begun = { paymentId: string | null };

async function renewLocked(
  ports: SubscriptionPorts,
  work: TransactionContext,
  row: SubscriptionRow,
  way: Way,
): Promise<Begun | null> {
  const now = ports.clock.now();
  const dueAt = row.next_charge_at ?? now;
  const duty = rules.dueAction(row, way.isEarly && dueAt > now ? dueAt : now);
  if (duty === 'NONE') return null;
  if (duty === 'END') {
    const change = rules.ended(row, 'PERIOD_ENDED', row.cancel_reason ?? 'MEMBER_CANCELED', now);
    if (change !== null) await apply(ports, work, row, change);
    return { paymentId: null };
  }
  const able = await withPlace(ports, work, row);
  const isClaimed = rules.nextTerms(able).tierId !== able.tier_id;
  const period = rules.nextPeriod(able, now);
  if (rules.dueCents(able) === 0) {
    const purchaseId = await payByCode(ports, work, able);
    const change = rules.completeRenewal(able, period, rules.nextTerms(able), purchaseId);
    if (change !== null) await apply(ports, work, able, change, isClaimed);
    return { paymentId: null };
  }
  const { publicUrl: url } = ports;
  const { card } = way;
  const onSession = card === null ? null : { card, returnUrl: url, cancelUrl: url, saveMethod: false };
  const method = card === null ? able.payment_method : null;
  const asked = { kind: 'RENEWAL', period, method, onSession, key: rules.renewalKey(able, period) } as const;
  return { paymentId: await charge(ports, work, able, asked) };
}

/**
 * Records a purchase of 0 for a period that a code covers in full.
 *
 * @returns null for a period that is free by itself.
 */
async function payByCode(
  { payments }: SubscriptionPorts,
  { tx, append }: TransactionContext,
  row: SubscriptionRow,
): Promise<string | null> {
  const { tierId, priceCents } = rules.nextTerms(row);
  if (priceCents === 0 || row.discount_cents < priceCents) return null;
  const tier = await repository.findTier(tx, row.workspace_id, tierId);
  const { purchaseId } = await payments.begin(tx, append, {
    workspaceId: row.workspace_id,
    customerId: row.customer_id,
    kind: 'SUBSCRIPTION',
    subscriptionId: row.id,
    tierId,
    amountCents: 0,
    discountCents: priceCents,
    discountCode: row.discount_code,
    description: tier?.name ?? 'Subscription',
    key: `${row.id}:code`,
    method: row.payment_method,
    onSession: null,
  });
  return purchaseId;
}

async function payNow(
  ports: SubscriptionPorts,
  workspaceId: string,
  id: string,
  { returnUrl, card }: PayNow,
): Promise<string | null> {
  const paymentId = await ports.events.transaction(async (tx, append) => {
    const row = await repository.lockSubscription(tx, workspaceId, id);
    if (row === undefined) throw notFound();
    if (row.payment_id !== null && row.charge_kind === 'CONFIRMATION') return row.payment_id;
    const isClosed = await isSuspended(tx, workspaceId);
    if (row.payment_id !== null || isClosed || !rules.isConfirmable(row)) {
      throw new AppError('CONFLICT', { message: 'No payment is due.' });
    }
    const work = { tx, append };
    const able = await withPlace(ports, work, row);
    const period = rules.nextPeriod(able, ports.clock.now());
    const saved = await ports.payments.savedMethodOf(tx, row.customer_id);
    const method = card === null ? (row.payment_method ?? saved) : null;
    const onSession = { card, returnUrl, cancelUrl: returnUrl, saveMethod: true };
    const key = `${rules.renewalKey(able, period)}:${newUuid()}`;
    return charge(ports, work, able, { kind: 'CONFIRMATION', period, method, onSession, key });
  });
  const settled = await ports.payments.settle(paymentId);
  if (settled.status === 'SUCCEEDED') return null;
  if (settled.status === 'ACTION') return settled.url;
  if (settled.status === 'FAILED') throw new AppError('CONFLICT', { message: settled.message });
  throw new AppError('SERVICE_UNAVAILABLE', {
    message: 'The payment is still processing. Try again in a minute.',
  });
}

/**
 * Reserves a spot in the tier of the next period; where that is full, the member stays in the current one.
 */
async function withPlace(
  { places }: SubscriptionPorts,
  { tx }: TransactionContext,
  row: SubscriptionRow,
): Promise<SubscriptionRow> {
  const { tierId } = rules.nextTerms(row);
  if (tierId === row.tier_id || (await places.claim(tx, tierId))) return row;
  return repository.updateSubscription(tx, row.id, rules.onPlannedTierFull(row));
}

interface Asked extends Pick<NewCharge, 'method' | 'onSession' | 'key'> {
  kind: 'RENEWAL' | 'CONFIRMATION';
  period: ReturnType<typeof rules.nextPeriod>;
}

async function charge(
  ports: SubscriptionPorts,
  { tx, append }: TransactionContext,
  row: SubscriptionRow,
  { kind, period, method, onSession, key }: Asked,
): Promise<string> {
  const { tierId, priceCents } = rules.nextTerms(row);
  const amountCents = rules.dueCents(row);
  const tier = await repository.findTier(tx, row.workspace_id, tierId);
  const unpaid = await ports.payments.unpaidOf(tx, row.id);
  const isSame = unpaid?.amount_cents === amountCents && unpaid.tier_id === tierId;
  if (unpaid !== undefined && !isSame) await ports.payments.abandon(tx, unpaid.id);
  const { paymentId } = await ports.payments.begin(tx, append, {
    workspaceId: row.workspace_id,
    customerId: row.customer_id,
    kind: 'SUBSCRIPTION',
    subscriptionId: row.id,
    purchaseId: isSame ? unpaid.id : null,
    tierId,
    amountCents,
    discountCents: priceCents - amountCents,
    discountCode: amountCents < priceCents ? row.discount_code : null,
    description: tier?.name ?? 'Subscription',
    key,
    method,
    onSession,
  });
  await repository.updateSubscription(tx, row.id, rules.startRenewal(row, period, { paymentId, kind }));
  return paymentId;
}

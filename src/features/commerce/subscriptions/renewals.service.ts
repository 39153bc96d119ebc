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

/** Ends of periods: what is charged, renewed or ended (docs/decisions/money.md#renewals). */
export interface Renewals {
  /** All that is due by now. Nodes that do it at once charge once. */
  renewDue(): Promise<void>;
  /**
   * The end of a subscription's period as if it were now, and of its charge with this card.
   *
   * @returns false when there is nothing to be done.
   */
  renewEarly(id: string, card: string | null): Promise<boolean>;
  /**
   * The member pays a renewal that was declined, being there; while they do, once more is the same charge.
   *
   * @returns where they go first; null: it is paid.
   * @throws {AppError} CONFLICT where nothing is to be paid, and for a declined card; SERVICE_UNAVAILABLE; NOT_FOUND.
   */
  payNow(workspaceId: string, id: string, how: PayNow): Promise<string | null>;
}

/** How a member pays who is present. */
interface PayNow {
  returnUrl: string;
  /** Sandbox: the number of a test card; without one, the card that is known. */
  card: string | null;
}

const BATCH = 50;
/** A run ends after so many, so that it does not hold up stopping; the next one goes on. */
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
    // The creator cannot take money just now: that is no fault of the member, and counts as no try.
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

/** How the end of a period came. */
interface Way {
  isEarly: boolean;
  /** Sandbox: the test card that is charged instead of the member's. */
  card: string | null;
}

/** Phase one in a transaction, then phase two. @returns false when there was nothing to be done. */
async function renew(ports: SubscriptionPorts, id: string, way: Way): Promise<boolean> {
  const done = await ports.events.transaction(async (tx, append) => {
    const row = await repository.lockAnySkipLocked(tx, id);
    return row === undefined ? null : renewLocked(ports, { tx, append }, row, way);
  });
  if (done === null) return false;
  if (done.paymentId !== null) await settleLater(ports, done.paymentId);
  return true;
}

/** A provider that does not answer is asked again by the reconciler. */
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

/** A period that a code makes free is a purchase of 0. @returns null for one that costs nothing by itself. */
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

/** With a place in the tier of the next period; where that has none, the member stays in the present one. */
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

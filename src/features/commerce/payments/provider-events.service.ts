import { dateFromMs } from '../../../kernel/clock.ts';
import { DAY_MS, MINUTE_MS } from '../../../kernel/durations.ts';
import type { DisputeService } from './disputes.service.ts';
import type { PayoutService } from './payouts.service.ts';
import type { PaymentPorts } from './ports.ts';
import type { ProviderEventRow } from './provider-events.repository.ts';
import * as hints from './provider-events.repository.ts';
import { providerOf } from './provider-selection.ts';
import type { PaymentProvider, ProviderEvent, ProviderName } from './providers/provider.ts';
import { syncRefund } from './refund-sync.service.ts';
import { recordRefundResult } from './refunds.service.ts';
import type { PaymentRow } from './repository.ts';
import * as repository from './repository.ts';
import { ASK_PAUSE_MS, ProviderBusyError } from './settle.service.ts';

/** What providers tell: kept by its id, so that what comes twice is done once, and never believed. */
export interface ProviderEventService {
  /** Keeps it, for the worker; one that is known is not kept again. @returns whether it is new. */
  keep(provider: ProviderName, hint: ProviderEvent): Promise<boolean>;
  /** Keeps it and acts on it at once; what fails is tried again by the worker. */
  receive(provider: ProviderName, hint: ProviderEvent): Promise<void>;
  /** The worker's round. */
  run(): Promise<void>;
  /** Asks Stripe what it has told since it was last asked: a message may be lost. */
  catchUp(): Promise<void>;
}

/** Of other kinds of hints: who acts on them. */
export interface ProviderEventHandlers {
  account(hint: StoredProviderEvent): Promise<void>;
  card(hint: StoredProviderEvent): Promise<void>;
}

interface Deps extends PaymentPorts {
  disputes: DisputeService;
  payouts: PayoutService;
  settle(payment: PaymentRow): Promise<unknown>;
  takers: ProviderEventHandlers;
}

const BATCH = 50;
/** Messages may overtake each other by so much; and Stripe repeats its own for so long. */
const OVERLAP_MS = 30 * MINUTE_MS;
const BACK_MAX_MS = 3 * DAY_MS;
const ATTEMPTS_MAX = 20;
const PAUSE_MAX_MS = 60 * MINUTE_MS;

export function createProviderEventService(deps: Deps): ProviderEventService {
  const { db, clock } = deps;
  const keep: ProviderEventService['keep'] = (provider, hint) =>
    hints.insertProviderEvent(db, {
      provider,
      id: hint.id,
      kind: hint.kind,
      object_ref: hint.objectRef,
      account_ref: hint.accountRef,
      received_at: clock.now(),
      next_attempt_at: clock.now(),
    });
  return {
    keep,
    async receive(provider, hint) {
      if (!(await keep(provider, hint))) return;
      await attempt(deps, {
        provider,
        id: hint.id,
        kind: hint.kind,
        object_ref: hint.objectRef,
        account_ref: hint.accountRef,
        attempts: 0,
      });
    },
    async run() {
      for (const row of await hints.listDueProviderEvents(db, clock.now(), BATCH)) await attempt(deps, row);
    },
    async catchUp() {
      const { STRIPE: stripe } = deps.providers;
      if (stripe === null) return;
      const now = clock.now();
      const last = await hints.getSyncedUntil(db, stripe.name);
      const since = Math.max(now.getTime() - BACK_MAX_MS, (last?.getTime() ?? 0) - OVERLAP_MS);
      for (const hint of await stripe.toldSince(dateFromMs(since))) await keep(stripe.name, hint);
      await hints.setSyncedUntil(db, stripe.name, now);
    },
  };
}

export type StoredProviderEvent = Pick<
  ProviderEventRow,
  'provider' | 'id' | 'kind' | 'object_ref' | 'account_ref' | 'attempts'
>;

async function attempt(deps: Deps, row: StoredProviderEvent): Promise<void> {
  const { db, clock, log } = deps;
  try {
    await act(deps, row);
    await hints.updateProviderEvent(db, row, { handled_at: clock.now(), next_attempt_at: null, error: null });
  } catch (error) {
    if (error instanceof ProviderBusyError) {
      return hints.updateProviderEvent(db, row, { next_attempt_at: dateFromMs(clock.ms() + ASK_PAUSE_MS) });
    }
    log.warn({ err: error, hintId: row.id, kind: row.kind }, 'what a payment provider told was not handled');
    const attempts = row.attempts + 1;
    const pause = Math.min(PAUSE_MAX_MS, MINUTE_MS * 2 ** (attempts - 1));
    await hints.updateProviderEvent(db, row, {
      attempts,
      next_attempt_at: attempts < ATTEMPTS_MAX ? dateFromMs(clock.ms() + pause) : null,
      error: error instanceof Error ? error.name : 'Error',
    });
  }
}

async function act(deps: Deps, row: StoredProviderEvent): Promise<void> {
  const provider = providerOf(deps, row);
  switch (row.kind) {
    case 'PAYMENT': {
      const payment = await findCharge(deps, provider, row, row.object_ref);
      if (payment !== undefined) await deps.settle(payment);
      return;
    }
    case 'REFUND':
      return actOnRefund(deps, provider, row);
    case 'DISPUTE':
      return actOnDispute(deps, provider, row);
    case 'PAYOUT':
      return deps.payouts.follow(provider.name, { ref: row.object_ref, accountRef: row.account_ref });
    case 'ACCOUNT':
      return deps.takers.account(row);
    case 'CARD':
      return deps.takers.card(row);
  }
}

/** Our charge of this name at the provider, though its answer may not have come yet; undefined for what is not ours. */
async function findCharge(
  { db }: Deps,
  provider: PaymentProvider,
  { account_ref: accountRef }: StoredProviderEvent,
  ref: string,
): Promise<PaymentRow | undefined> {
  const known = await repository.findByRef(db, provider.name, ref);
  if (known !== undefined) return known;
  const key = (await provider.fetchPayment({ ref, accountRef }))?.key;
  return key == null ? undefined : repository.findByKey(db, key);
}

async function actOnRefund(deps: Deps, provider: PaymentProvider, row: StoredProviderEvent): Promise<void> {
  const fetched = await provider.fetchRefund({ ref: row.object_ref, accountRef: row.account_ref });
  if (fetched === null) return;
  const payment =
    (fetched.key === null ? undefined : await repository.findByKey(deps.db, fetched.key)) ??
    (await repository.findByRef(deps.db, provider.name, row.object_ref));
  if (payment !== undefined) {
    if (payment.type === 'REFUND') await recordRefundResult(deps, payment, fetched.answer);
    return;
  }
  const charge = await findCharge(deps, provider, row, fetched.paymentRef);
  if (charge === undefined) return;
  // What was given back was paid, whoever tells of it first.
  if (charge.status === 'PENDING') await deps.settle(charge);
  await syncRefund(deps, charge, row.object_ref, fetched);
}

async function actOnDispute(deps: Deps, provider: PaymentProvider, row: StoredProviderEvent): Promise<void> {
  const object = { ref: row.object_ref, accountRef: row.account_ref };
  const dispute = await provider.fetchDispute(object);
  if (dispute === null) return;
  const charge = await findCharge(deps, provider, row, dispute.paymentRef);
  if (charge === undefined) return;
  // What is disputed was paid, whoever tells of it first.
  if (charge.status === 'PENDING') await deps.settle(charge);
  await deps.disputes.follow(charge, row.object_ref, dispute);
}

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

/**
 * Incoming provider events: stored by ID, so that duplicates are processed once; their data is never trusted.
 */
export interface ProviderEventService {
  /**
   * Stores an event for the worker, unless it is known.
   *
   * @returns whether it is new.
   */
  keep(provider: ProviderName, hint: ProviderEvent): Promise<boolean>;
  /** Stores the event and processes it immediately; the worker retries failures. */
  receive(provider: ProviderName, hint: ProviderEvent): Promise<void>;
  /** Processes the events that are due; called by the worker. */
  run(): Promise<void>;
  /** Fetches the events that Stripe has emitted since the last call: a webhook may be lost. */
  catchUp(): Promise<void>;
}

/** Handlers of other kinds of provider events. */
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
/** Overlap of two fetches, since events may arrive out of order; Stripe retries its own for `BACK_MAX_MS`. */
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
    log.warn({ err: error, hintId: row.id, kind: row.kind }, 'a provider event could not be processed');
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

/**
 * Finds the charge with this provider reference, even before the provider's response is stored; undefined for
 * unknown charges.
 */
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
  // A refunded charge was paid, regardless of which event arrives first.
  if (charge.status === 'PENDING') await deps.settle(charge);
  await syncRefund(deps, charge, row.object_ref, fetched);
}

async function actOnDispute(deps: Deps, provider: PaymentProvider, row: StoredProviderEvent): Promise<void> {
  const object = { ref: row.object_ref, accountRef: row.account_ref };
  const dispute = await provider.fetchDispute(object);
  if (dispute === null) return;
  const charge = await findCharge(deps, provider, row, dispute.paymentRef);
  if (charge === undefined) return;
  // A disputed charge was paid, regardless of which event arrives first.
  if (charge.status === 'PENDING') await deps.settle(charge);
  await deps.disputes.follow(charge, row.object_ref, dispute);
}

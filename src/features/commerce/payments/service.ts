import { AppError, notFound } from '../../../kernel/errors.ts';
import type { Db, Tx } from '../../../platform/db/index.ts';
import { isTransientError } from '../../../platform/db/index.ts';
import type { PaymentMethod } from '../../../platform/db/json-columns.ts';
import { refreshOwn } from './accounts.service.ts';
import { type ChargeService, createChargeService } from './charge.service.ts';
import { createDisputeService } from './disputes.service.ts';
import { createPayoutService, type PayoutService } from './payouts.service.ts';
import type { PaymentPorts } from './ports.ts';
import {
  createProviderEventService,
  type ProviderEventHandlers,
  type ProviderEventService,
} from './provider-events.service.ts';
import { type SelectedProvider, selectProvider } from './provider-selection.ts';
import { createRefundService, type RefundService, settleRefund } from './refunds.service.ts';
import type { CustomerRow, PaymentRow, PurchaseRow } from './repository.ts';
import * as repository from './repository.ts';
import { createChargeSettler, ProviderBusyError, type SettledPayment, settledOf } from './settle.service.ts';

/** Charges and refunds (docs/decisions/money.md#two-phases). */
export interface Payments extends ChargeService, RefundService {
  /**
   * Returns the provider that would take the payments of a workspace.
   *
   * @throws {AppError} CONFLICT, with a message for the buyer, where there is none.
   */
  providerOf(workspaceId: string): Promise<SelectedProvider>;
  /**
   * Returns the provider by the current state of the creator's account there. The query leaves no trace at
   * the provider.
   *
   * @throws {AppError} as `providerOf`; SERVICE_UNAVAILABLE when the provider does not answer.
   */
  providerNow(workspaceId: string): Promise<SelectedProvider>;
  /**
   * Settles a payment (phase two): calls the provider, outside any transaction, and stores its response with
   * the events and their consequences. Idempotent. A provider is called about a payment by one caller at a
   * time, and at most once in 3 s: other calls return the known state.
   *
   * @throws {AppError} SERVICE_UNAVAILABLE when the provider does not answer: the payment stays PENDING and
   *   is checked later; NOT_FOUND.
   */
  settle(paymentId: string): Promise<SettledPayment>;
  /** Settles a payment for which no caller waits: logs a failure, which the reconciler retries. */
  trySettle(paymentId: string): Promise<void>;
  /** Ends a charge that waits for its buyer; SUCCEEDED when it was too late. @throws {AppError} as `settle`. */
  cancel(paymentId: string): Promise<SettledPayment>;
  /**
   * Returns a purchase to consumers, in their transaction.
   *
   * @throws {AppError} NOT_FOUND.
   */
  purchaseOf(db: Db, purchaseId: string): Promise<PurchaseRow>;
  /** @throws {AppError} NOT_FOUND. */
  customerOf(db: Db, customerId: string): Promise<CustomerRow>;
  /** Returns the provider of a payment, and the card that was charged or stored with it. */
  paymentOf(db: Db, paymentId: string): Promise<Pick<PaymentRow, 'provider' | 'payment_method'>>;
  /**
   * Returns the card that the customer saved on the member page, which is charged only for the subscriptions
   * it is selected for.
   */
  savedMethodOf(db: Db, customerId: string): Promise<PaymentMethod | null>;
  /** Saves a card that its holder entered in an authenticated session. */
  saveMethod(tx: Tx, customerId: string, method: PaymentMethod): Promise<void>;
  /** Returns the unpaid purchase of a subscription: another try pays the same purchase. */
  unpaidOf(tx: Tx, subscriptionId: string): Promise<PurchaseRow | undefined>;
  /**
   * Marks a purchase that will not be paid anymore as FAILED (its checkout has ended, its renewals have
   * failed).
   */
  abandon(tx: Tx, purchaseId: string): Promise<void>;
  hints: ProviderEventService;
  payouts: PayoutService;
  /** Settles the payments that are due; called by the worker. */
  reconcile(): Promise<void>;
}

interface Deps extends PaymentPorts {
  takers: ProviderEventHandlers;
}

const BATCH = 100;

export function createPayments(deps: Deps): Payments {
  const { db } = deps;
  const charges = createChargeSettler(deps);
  const disputes = createDisputeService(deps);
  const payouts = createPayoutService(deps);
  const find = async (paymentId: string): Promise<PaymentRow> => {
    const row = await repository.findPayment(db, paymentId);
    if (row === undefined) throw notFound();
    return row;
  };
  const settle = async (row: PaymentRow): Promise<SettledPayment> => {
    if (row.type === 'CHARGE') return charges.settle(row);
    if (row.type === 'REFUND') return settleRefund(deps, row);
    return row.type === 'DISPUTE' ? disputes.settle(row) : settledOf(row);
  };
  const unlessBusy = async (
    settling: Promise<SettledPayment>,
    paymentId: string,
  ): Promise<SettledPayment> => {
    try {
      return await settling;
    } catch (error) {
      if (!(error instanceof ProviderBusyError)) throw error;
      return settledOf(await find(paymentId));
    }
  };
  const trySettle = async (paymentId: string) => {
    await unlessBusy(settle(await find(paymentId)), paymentId).catch((error: unknown) =>
      leave(deps, paymentId, error),
    );
  };
  return {
    ...createChargeService(deps),
    ...createRefundService(deps),
    hints: createProviderEventService({ ...deps, disputes, payouts, settle }),
    payouts,
    providerOf: (workspaceId) => selectProvider(deps, db, workspaceId),
    async providerNow(workspaceId) {
      await refreshOwn(deps, workspaceId);
      return selectProvider(deps, db, workspaceId);
    },
    settle: async (paymentId) => unlessBusy(settle(await find(paymentId)), paymentId),
    trySettle,
    cancel: async (paymentId) => unlessBusy(charges.cancel(await find(paymentId)), paymentId),
    async purchaseOf(where, purchaseId) {
      const row = await repository.findPurchase(where, purchaseId);
      if (row === undefined) throw notFound();
      return row;
    },
    async customerOf(where, customerId) {
      const row = await repository.findCustomer(where, customerId);
      if (row === undefined) throw notFound();
      return row;
    },
    paymentOf: repository.getPayment,
    async savedMethodOf(where, customerId) {
      const row = await repository.findCustomer(where, customerId);
      return row === undefined ? null : repository.savedMethodOf(row);
    },
    saveMethod: (tx, customerId, method) => repository.saveMethod(tx, customerId, method, deps.clock.now()),
    unpaidOf: repository.findUnpaid,
    async abandon(tx, purchaseId) {
      const row = await repository.lockPurchase(tx, purchaseId);
      if (row?.status !== 'PENDING' || (await repository.listOpen(tx, row.id, 'CHARGE')).length > 0) return;
      await repository.updatePurchase(tx, row.id, { status: 'FAILED' });
    },
    async reconcile() {
      for (const id of await repository.listDue(db, deps.clock.now(), BATCH)) {
        await trySettle(id);
      }
    },
  };
}

/** Logs a payment that cannot be settled now, so that the others are not delayed. */
function leave({ log }: Deps, paymentId: string, error: unknown): void {
  const isDown = error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE';
  if (!isDown && !isTransientError(error))
    log.error({ err: error, paymentId }, 'a payment could not be settled');
}

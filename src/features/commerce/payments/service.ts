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

/** How money is taken and given back (docs/decisions/money.md#two-phases). */
export interface Payments extends ChargeService, RefundService {
  /**
   * Who would take the money of a workspace.
   *
   * @throws {AppError} CONFLICT, in words for the buyer, where nobody can.
   */
  providerOf(workspaceId: string): Promise<SelectedProvider>;
  /**
   * The same by what the provider says now of the creator's account. Asking leaves nothing there.
   *
   * @throws {AppError} as `providerOf`; SERVICE_UNAVAILABLE when the provider does not answer.
   */
  providerNow(workspaceId: string): Promise<SelectedProvider>;
  /**
   * Phase two: asks the provider, outside any transaction, and writes down what it answers, with the events and what
   * follows from them. Again changes nothing. A provider is asked about a payment by one caller at a time, and at most
   * once in 3 s: meanwhile what is known is returned.
   *
   * @throws {AppError} SERVICE_UNAVAILABLE when the provider does not answer: the payment stays PENDING and is looked
   * after; NOT_FOUND.
   */
  settle(paymentId: string): Promise<SettledPayment>;
  /** Settles a payment for which nobody waits: logs a failure, which the reconciler retries. */
  trySettle(paymentId: string): Promise<void>;
  /** Ends a charge that waits for its buyer; SUCCEEDED when it was too late. @throws {AppError} as `settle`. */
  cancel(paymentId: string): Promise<SettledPayment>;
  /** For consumers, in their transaction. @throws {AppError} NOT_FOUND. */
  purchaseOf(db: Db, purchaseId: string): Promise<PurchaseRow>;
  /** @throws {AppError} NOT_FOUND. */
  customerOf(db: Db, customerId: string): Promise<CustomerRow>;
  /** The provider of a payment, and the card that it used or that was given with it. */
  paymentOf(db: Db, paymentId: string): Promise<Pick<PaymentRow, 'provider' | 'payment_method'>>;
  /** The card that the customer saved on the member page: it is charged for nothing that they did not choose it for. */
  savedMethodOf(db: Db, customerId: string): Promise<PaymentMethod | null>;
  /** Saves a card that its holder gave in a session that proves who they are. */
  saveMethod(tx: Tx, customerId: string, method: PaymentMethod): Promise<void>;
  /** What of a subscription is to be paid: another try pays the same purchase. */
  unpaidOf(tx: Tx, subscriptionId: string): Promise<PurchaseRow | undefined>;
  /** A purchase that nobody pays any more (its checkout is over, its renewals have failed) is FAILED from here on. */
  abandon(tx: Tx, purchaseId: string): Promise<void>;
  hints: ProviderEventService;
  payouts: PayoutService;
  /** The worker's round: settles what is due. */
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

/** One payment that cannot be settled now does not keep the others waiting. */
function leave({ log }: Deps, paymentId: string, error: unknown): void {
  const isDown = error instanceof AppError && error.code === 'SERVICE_UNAVAILABLE';
  if (!isDown && !isTransientError(error))
    log.error({ err: error, paymentId }, 'a payment could not be settled');
}

import type { Mode } from '../../../kernel/access.ts';
import { AppError } from '../../../kernel/errors.ts';
import type { PageRequest } from '../../../kernel/page.ts';
import type { PaymentPorts } from './ports.ts';
import type { BuyerPurchaseRow, PaymentFilter, PurchaseFilter, SaleRow } from './purchases.repository.ts';
import * as lists from './purchases.repository.ts';
import type { PaymentRow } from './repository.ts';
import * as repository from './repository.ts';
import type { Payments } from './service.ts';

/** Purchases and their payments (docs/concepts/purchases.md, docs/concepts/payments.md). */
export interface Purchases {
  list(workspaceId: string, filter: PurchaseFilter, page: PageRequest): Promise<SaleRow[]>;
  /** @throws {AppError} NOT_FOUND for a video that is not the workspace's. */
  listOfVideo(
    workspaceId: string,
    videoId: string,
    filter: Omit<PurchaseFilter, 'videoId'>,
    page: PageRequest,
  ): Promise<SaleRow[]>;
  /** Lists the account's own purchases. */
  listOwn(buyer: { accountId: string; mode: Mode }, page: PageRequest): Promise<BuyerPurchaseRow[]>;
  payments(workspaceId: string, filter: PaymentFilter, page: PageRequest): Promise<PaymentRow[]>;
  /** Yields all payments page by page, oldest first. */
  everyPayment(workspaceId: string, filter: PaymentFilter): AsyncGenerator<PaymentRow>;
  /**
   * Refunds a purchase and waits for the provider.
   *
   * @throws {AppError} NOT_FOUND; CONFLICT where it cannot be refunded, or the provider rejects it;
   *   SERVICE_UNAVAILABLE when the provider does not answer: the refund is completed later, and the same
   *   `requestId` may be sent again.
   */
  refund(workspaceId: string, purchaseId: string, refund: RefundInput): Promise<PaymentRow>;
}

interface RefundInput {
  amountCents?: number;
  reason?: string;
  requestId: string;
}

interface Deps extends Pick<PaymentPorts, 'db' | 'events'> {
  money: Pick<Payments, 'refund' | 'settle'>;
  videos: { get(workspaceId: string, id: string): Promise<unknown> };
}

const EXPORT_ROWS = 1000;

export function createPurchases({ db, events, money, videos }: Deps): Purchases {
  return {
    list: (workspaceId, filter, page) => lists.listSales(db, workspaceId, filter, page),
    async listOfVideo(workspaceId, videoId, filter, page) {
      await videos.get(workspaceId, videoId);
      return lists.listSales(db, workspaceId, { ...filter, videoId }, page);
    },
    listOwn: ({ accountId, mode }, page) => lists.listOwnPurchases(db, accountId, mode, page),
    payments: (workspaceId, filter, page) => lists.listPayments(db, workspaceId, filter, page),
    async *everyPayment(workspaceId, filter) {
      const bounds = { limit: EXPORT_ROWS, fetchLimit: EXPORT_ROWS, createdAfter: null, createdBefore: null };
      let after: string | null = null;
      for (;;) {
        const page: PageRequest = { ...bounds, order: 'asc', after };
        const rows: PaymentRow[] = await lists.listPayments(db, workspaceId, filter, page);
        yield* rows;
        const last = rows.at(-1);
        if (last === undefined || rows.length < EXPORT_ROWS) return;
        after = last.id;
      }
    },
    async refund(workspaceId, purchaseId, { amountCents = null, reason = null, requestId }) {
      const asked = { workspaceId, purchaseId, amountCents, reason, requestId, isSettledByCaller: true };
      const { paymentId } = await events.transaction((tx) => money.refund(tx, asked));
      const settled = await money.settle(paymentId);
      if (settled.status === 'FAILED') throw new AppError('CONFLICT', { message: settled.message });
      return repository.getPayment(db, paymentId);
    },
  };
}

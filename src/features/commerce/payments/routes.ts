import Type from 'typebox';
import { anyKey, requiresGate } from '../../../http/access.ts';
import { ListReader, listQuery } from '../../../http/pagination.ts';
import { defineRoute, type Route } from '../../../http/route.ts';
import { CommaList, IdParams, parseList } from '../../../http/schema.ts';
import { dateFromMs } from '../../../kernel/clock.ts';
import type { CursorCodec } from '../../../kernel/cursor.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { ConnectAccounts } from './accounts.service.ts';
import type { Purchases } from './purchases.service.ts';
import {
  ConnectLink,
  ConnectPage,
  ConnectStatus,
  OwnPurchase,
  Payment,
  Purchase,
  RefundIn,
  toOwnPurchase,
  toPayment,
  toPurchase,
} from './schemas.ts';

const { purchase, payment } = VALUES;

interface Deps {
  purchases: Purchases;
  accounts: ConnectAccounts;
  /** Returns the email address of an account. */
  emailOf(accountId: string): Promise<string>;
  cursors: CursorCodec;
}

const period = {
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only purchases at or after this time.' }),
  ),
  to: Type.Optional(Type.String({ format: 'date-time', description: 'Only purchases before this time.' })),
};
const sold = {
  status: CommaList(purchase.status),
  kind: CommaList(purchase.kind),
  ...period,
};
const paid = {
  type: CommaList(payment.type),
  status: CommaList(payment.status),
  purchaseId: Type.Optional(Type.String({ maxLength: 64, description: 'Only payments of this purchase.' })),
  ...period,
};

interface Period {
  from?: string;
  to?: string;
}

const toDate = (instant: string | undefined) =>
  instant === undefined ? undefined : dateFromMs(Temporal.Instant.from(instant).epochMilliseconds);
const inPeriod = ({ from, to }: Period) => ({ from: toDate(from), to: toDate(to) });

function soldFilter(query: Period & { status?: string; kind?: string }) {
  const status = parseList('status', purchase.status, query.status);
  return { status, kind: parseList('kind', purchase.kind, query.kind), ...inPeriod(query) };
}

function paidFilter(query: Period & { type?: string; status?: string; purchaseId?: string }) {
  const type = parseList('type', payment.type, query.type);
  const status = parseList('status', payment.status, query.status);
  return { type, status, purchaseId: query.purchaseId, ...inPeriod(query) };
}

/** `/purchases`, `/videos/{id}/purchases`, `/me/purchases` (docs/concepts/purchases.md). */
export function purchaseRoutes({ purchases, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'purchases.list',
      method: 'GET',
      path: '/purchases',
      summary: 'List sales',
      description: 'Includes the buyer, the fee and refunds.',
      query: listQuery({
        ...sold,
        videoId: Type.Optional(Type.String({ maxLength: 64, description: 'Only purchases of this video.' })),
        subscriptionId: Type.Optional(
          Type.String({ maxLength: 64, description: 'Only purchases of this subscription.' }),
        ),
      }),
      reply: { status: 200, schema: Purchase, list: true },
      async handler({ caller: { workspaceId, mode } }, { query }) {
        const list = new ListReader(cursors, `purchases:${workspaceId}`, query);
        const { videoId, subscriptionId } = query;
        const filter = { ...soldFilter(query), videoId, subscriptionId };
        const rows = await purchases.list(workspaceId, filter, list.request);
        return list.page(rows, (row) => toPurchase(row, mode));
      },
    }),
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'purchases.ofVideo',
      method: 'GET',
      path: '/videos/{id}/purchases',
      summary: 'List sales of a video',
      description: 'Same as `GET /purchases`, for one video.',
      params: IdParams('vid', 'video'),
      query: listQuery(sold),
      reply: { status: 200, schema: Purchase, list: true },
      async handler({ caller: { workspaceId, mode } }, { params: { id }, query }) {
        const list = new ListReader(cursors, `purchases:${workspaceId}:${id}`, query);
        const rows = await purchases.listOfVideo(workspaceId, id, soldFilter(query), list.request);
        return list.page(rows, (row) => toPurchase(row, mode));
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'purchases.own',
      method: 'GET',
      path: '/me/purchases',
      summary: 'List your purchases',
      description: "Purchases made with the account's verified email address, from any creator.",
      query: listQuery({}),
      reply: { status: 200, schema: OwnPurchase, list: true },
      async handler({ caller: { accountId, mode } }, { query }) {
        const list = new ListReader(cursors, `own-purchases:${accountId}:${mode}`, query);
        const rows = await purchases.listOwn({ accountId, mode }, list.request);
        return list.page(rows, (row) => toOwnPurchase(row, mode));
      },
    }),
    defineRoute({
      ...requiresGate('finance-write'),
      operationId: 'purchases.refund',
      method: 'POST',
      path: '/purchases/{id}/refund',
      summary: 'Refund a purchase',
      description:
        'Refunds the remaining amount, or part of it. Repeating a `requestId` returns the same refund.',
      params: IdParams('pur', 'purchase'),
      body: RefundIn,
      reply: { status: 201, schema: Payment },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: async ({ caller }, { params, body }) =>
        toPayment(await purchases.refund(caller.workspaceId, params.id, body)),
    }),
  ];
}

/** `/monetization/payments`, `/monetization/connect-*` (docs/concepts/payments.md). */
export function paymentRoutes({ purchases, accounts, emailOf, cursors }: Deps): Route[] {
  return [
    defineRoute({
      ...requiresGate('finance-read'),
      operationId: 'monetization.payments',
      method: 'GET',
      path: '/monetization/payments',
      summary: 'List payments',
      description: 'With `Accept: text/csv`, all matching rows are returned, oldest first.',
      query: listQuery(paid),
      reply: { status: 200, schema: Payment, list: true, csv: PAYMENT_COLUMNS },
      async handler({ caller: { workspaceId }, acceptsCsv }, { query }) {
        const list = new ListReader(cursors, `payments:${workspaceId}`, query);
        const filter = paidFilter(query);
        if (acceptsCsv) return paymentLines(purchases.everyPayment(workspaceId, filter));
        return list.page(await purchases.payments(workspaceId, filter, list.request), toPayment);
      },
    }),
    defineRoute({
      ...anyKey,
      operationId: 'monetization.connectStatus',
      method: 'GET',
      path: '/monetization/connect-status',
      summary: 'Get payment account status',
      description: "Capabilities of the creator's account with the payment provider.",
      reply: { status: 200, schema: ConnectStatus },
      handler: ({ caller }) => accounts.status(caller.workspaceId),
    }),
    defineRoute({
      ...requiresGate('session-owner'),
      operationId: 'monetization.connectOnboard',
      method: 'POST',
      path: '/monetization/connect-onboard',
      summary: 'Create an onboarding link',
      description: 'Creates the payment account if there is none.',
      reply: { status: 200, schema: ConnectLink },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      async handler({ caller: { accountId, workspaceId } }) {
        const email = await emailOf(accountId);
        const { url, expiresAt } = await accounts.onboard({ workspaceId, email });
        return { url, expiresAt: expiresAt.toISOString() };
      },
    }),
    defineRoute({
      ...requiresGate('session-owner'),
      operationId: 'monetization.connectDashboard',
      method: 'GET',
      path: '/monetization/connect-dashboard',
      summary: 'Create a payment dashboard link',
      description: 'Creators see payouts and respond to disputes there.',
      reply: { status: 200, schema: ConnectPage },
      errors: ['CONFLICT', 'SERVICE_UNAVAILABLE'],
      handler: ({ caller }) => accounts.dashboard(caller.workspaceId),
    }),
  ];
}

const PAYMENT_COLUMNS = [
  'id',
  'purchaseId',
  'type',
  'amountCents',
  'currency',
  'status',
  'failureCode',
  'provider',
  'createdAt',
] as const;

async function* paymentLines(rows: ReturnType<Purchases['everyPayment']>) {
  for await (const row of rows) {
    const shown = toPayment(row);
    yield PAYMENT_COLUMNS.map((column) => shown[column]);
  }
}

import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { IdOf, Instant, Nullable, OneOf } from '../../../http/schema.ts';
import { VALUES } from '../../../platform/db/tables.generated.ts';
import type { PayoutRow } from './payouts.repository.ts';
import { BUCKETS, GROUPINGS, type RevenueReport } from './revenue.service.ts';
import type { RevenueDelta } from './rules.ts';

const SUMS = {
  grossCents: Type.Integer({ description: 'Gross amount paid by buyers.' }),
  feeCents: Type.Integer({ description: 'Platform fee, net of refunds.' }),
  refundCents: Type.Integer({ description: 'Refunds and lost disputes.' }),
  netCents: Type.Integer({ description: 'Gross minus fees and refunds.' }),
  count: Type.Integer({ description: 'Number of sales.' }),
};
const Sums = Type.Object(SUMS);
const sums = { grossCents: 5000, feeCents: 500, refundCents: 1000, netCents: 3500, count: 5 };

export const RevenueQuery = Type.Object({
  from: Type.Optional(
    Type.String({ description: 'A date or date-time. Defaults to 28 days before `to`.', maxLength: 40 }),
  ),
  to: Type.Optional(
    Type.String({ description: 'A date or date-time, exclusive. Defaults to tomorrow.', maxLength: 40 }),
  ),
  granularity: OneOf(BUCKETS, { default: 'DAY', description: 'Weeks start on Monday.' }),
  groupBy: OneOf(GROUPINGS, { default: 'kind', description: 'Dimension of the `breakdown` rows.' }),
  timezone: Type.String({
    default: 'UTC',
    description: 'IANA time zone used for day boundaries.',
    maxLength: 100,
  }),
});

export const RevenueOut = namedSchema(
  'Revenue',
  Type.Object({
    from: Instant,
    to: Instant,
    timezone: Type.String(),
    granularity: OneOf(BUCKETS),
    currency: Type.Literal('USD'),
    totals: Sums,
    series: Type.Array(
      Type.Object({
        date: Type.String({ format: 'date', description: 'First local day of the bucket.' }),
        ...SUMS,
      }),
    ),
    breakdown: Type.Array(
      Type.Object({
        key: Type.String({ description: 'Item type, or ID of the item sold.' }),
        label: Type.String(),
        ...SUMS,
      }),
    ),
  }),
  {
    from: '2026-11-20T00:00:00.000Z',
    to: '2026-11-21T00:00:00.000Z',
    timezone: 'UTC',
    granularity: 'DAY',
    currency: 'USD',
    totals: sums,
    series: [{ date: '2026-11-20', ...sums }],
    breakdown: [{ key: 'VIDEO', label: 'Videos', ...sums }],
  },
);

export const PayoutOut = namedSchema(
  'Payout',
  Type.Object({
    id: IdOf('pyo'),
    amountCents: Type.Integer({ description: 'In the smallest unit of `currency`.' }),
    currency: Type.String({
      pattern: '^[A-Z]{3}$',
      description: 'ISO 4217. Currencies other than USD are not included in totals or balances.',
    }),
    status: OneOf(VALUES.payout.status),
    arrivalAt: Nullable(Type.String({ ...Instant, description: 'Actual or expected arrival at the bank.' })),
    failureCode: Nullable(Type.String()),
    createdAt: Instant,
  }),
  {
    id: 'pyo_01kafe3n4pfx2v9yq6m8d7t5zr',
    amountCents: 12_500,
    currency: 'USD',
    status: 'PAID',
    arrivalAt: '2026-11-21T00:00:00.000Z',
    failureCode: null,
    createdAt: '2026-11-20T00:00:00.000Z',
  },
);

export const PayoutIn = namedSchema(
  'PayoutCreate',
  Type.Object({
    workspaceId: Type.String({ maxLength: 100, description: 'ID of the workspace to pay out.' }),
    amountCents: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Defaults to the full balance.' }),
    ),
    outcome: Type.Optional(
      OneOf(['PAID', 'FAILED'], {
        default: 'PAID',
        description: 'Simulated outcome at the sandbox bank.',
      }),
    ),
  }),
  { workspaceId: 'wsp_01kafe3n4pfx2v9yq6m8d7t5zr' },
);

export function toRevenue({ range, totals, series, breakdown }: RevenueReport): Static<typeof RevenueOut> {
  return {
    from: range.from.toISOString(),
    to: range.to.toISOString(),
    timezone: range.timezone,
    granularity: range.granularity,
    currency: 'USD',
    totals: withNet(totals),
    series: series.map(({ date, ...rest }) => ({ date, ...withNet(rest) })),
    breakdown: breakdown.map(({ key, label, ...rest }) => ({ key, label, ...withNet(rest) })),
  };
}

function withNet({ grossCents, feeCents, refundCents, count }: RevenueDelta) {
  return { grossCents, feeCents, refundCents, netCents: grossCents - feeCents - refundCents, count };
}

export function toPayout(row: PayoutRow): Static<typeof PayoutOut> {
  return {
    id: row.id,
    amountCents: row.amount_cents,
    currency: row.currency,
    status: row.status,
    arrivalAt: row.arrival_at?.toISOString() ?? null,
    failureCode: row.failure_code,
    createdAt: row.created_at.toISOString(),
  };
}

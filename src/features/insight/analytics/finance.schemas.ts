import Type, { type Static } from 'typebox';
import { namedSchema } from '../../../http/named-schema.ts';
import { Nullable } from '../../../http/schema.ts';
import {
  followersIn,
  type PeriodBalance,
  type PeriodFigures,
  type StatsReport,
  type SummaryReport,
} from './finance.service.ts';
import { toHead } from './presenter.ts';
import { percent, ratio, seconds } from './reads.rules.ts';
import { HEAD, RANGE } from './schemas.ts';

export const FinanceQuery = Type.Object(RANGE);

const Sum = Type.Integer();
const FiguresOut = namedSchema(
  'AnalyticsFigures',
  Type.Object({
    views: Sum,
    watchTimeSec: Sum,
    followers: Type.Integer({ description: 'All-time: current count. Range: gained minus lost.' }),
    grossCents: Sum,
    netCents: Sum,
    subscribers: Type.Integer({ description: 'Memberships started.' }),
    purchases: Type.Integer({ description: 'Number of sales.' }),
  }),
);

export const StatsOut = namedSchema(
  'AnalyticsStats',
  Type.Object({
    ...HEAD,
    lifetime: FiguresOut,
    period: FiguresOut,
    averages: Type.Object({
      revenuePerView: Nullable(
        Type.Number({ description: 'Net cents per view in the period; null without views.' }),
      ),
      revenuePerMember: Nullable(
        Type.Number({ description: 'Net cents in the period per member at its end; null without members.' }),
      ),
    }),
    currency: Type.Literal('USD'),
  }),
);

const Card = namedSchema(
  'AnalyticsFigure',
  Type.Object({
    value: Nullable(Type.Number()),
    previous: Nullable(Type.Number({ description: 'Value in the preceding period.' })),
    changePercent: Nullable(Type.Number({ description: 'Null if the preceding value is zero.' })),
  }),
);

export const SUMMARY_METRICS = [
  'views',
  'watchTimeSec',
  'followers',
  'activeSubscribers',
  'mrrCents',
  'grossCents',
  'netCents',
  'refundsCents',
  'churnPercent',
] as const;

export const SummaryOut = namedSchema(
  'AnalyticsSummary',
  Type.Object({
    ...HEAD,
    views: Card,
    watchTimeSec: Card,
    followers: Card,
    activeSubscribers: Card,
    mrrCents: Card,
    grossCents: Card,
    netCents: Card,
    refundsCents: Card,
    churnPercent: Card,
    currency: Type.Literal('USD'),
  }),
);

const netOf = ({ money }: PeriodFigures): number => money.grossCents - money.feeCents - money.refundCents;

function toFigures(figures: PeriodFigures): Static<typeof FiguresOut> {
  const { sums, money, began } = figures;
  return {
    views: sums.views,
    watchTimeSec: seconds(sums.watchMs),
    followers: followersIn(sums),
    grossCents: money.grossCents,
    netCents: netOf(figures),
    subscribers: began,
    purchases: money.count,
  };
}

export function toStats({
  head,
  lifetime,
  period,
  followers,
  members,
}: StatsReport): Static<typeof StatsOut> {
  return {
    ...toHead(head),
    lifetime: { ...toFigures(lifetime), followers },
    period: toFigures(period),
    averages: {
      revenuePerView: ratio(netOf(period), period.sums.views),
      revenuePerMember: ratio(netOf(period), members),
    },
    currency: 'USD',
  };
}

export function toSummary({ head, period, previous }: SummaryReport): Static<typeof SummaryOut> {
  const card = (of: (standing: PeriodBalance) => number | null): Static<typeof Card> => {
    const [value, before] = [of(period), of(previous)];
    const changePercent =
      value === null || before === null ? null : percent(value - before, Math.abs(before));
    return { value, previous: before, changePercent };
  };
  return {
    ...toHead(head),
    views: card(({ sums }) => sums.views),
    watchTimeSec: card(({ sums }) => seconds(sums.watchMs)),
    followers: card(({ followers }) => followers),
    activeSubscribers: card(({ members }) => members),
    mrrCents: card(({ mrrCents }) => mrrCents),
    grossCents: card(({ money }) => money.grossCents),
    netCents: card(netOf),
    refundsCents: card(({ money }) => money.refundCents),
    churnPercent: card(({ ended, membersAtStart }) => percent(ended, membersAtStart)),
    currency: 'USD',
  };
}

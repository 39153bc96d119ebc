import { Group, NativeSelect, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { serverNow } from '../../app/server-clock.ts';
import type { Shape } from '../../app/shape.ts';
import { DescriptionList } from '../../components/description-list.tsx';
import { TIME_ZONE, useFormat } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { FilterSelect } from './filters.tsx';
import { MoneyPage } from './money-page.tsx';
import { RevenueChart } from './revenue-chart.tsx';
import { GRANULARITIES, GROUPINGS, RANGES } from './search.ts';

type Revenue = Shape<'Revenue'>;

const DEFAULT_DAYS = 28;
/** Numbers of buckets that remain distinguishable on a phone. */
const GRANULARITY_OF = { 7: 'DAY', 28: 'DAY', 90: 'WEEK', 365: 'MONTH' } as const;

/** Returns the first of the last `days` days, including today, as `2026-11-20`. */
function firstDay(days: number): string {
  const at = new Date(serverNow());
  at.setDate(at.getDate() - (days - 1));
  const two = (value: number) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

/** Shows revenue over time and by source. */
export function RevenuePage() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization' });
  const { days = DEFAULT_DAYS, groupBy = 'kind' } = search;
  const granularity = search.granularity ?? GRANULARITY_OF[days];
  const query = $api.useQuery('get', '/monetization/revenue', {
    params: { query: { from: firstDay(days), granularity, groupBy, timezone: TIME_ZONE } },
  });
  return (
    <MoneyPage name="revenue">
      <Filters />
      <Loaded query={query}>
        {({ data }) => (
          <Stack>
            <Totals totals={data.totals} />
            <Panel title={t('revenue.overTime')}>
              {data.totals.count === 0 && <Text>{t('revenue.nothing')}</Text>}
              <RevenueChart series={data.series} granularity={granularity} />
              <TimeZoneNote />
            </Panel>
            <Breakdown rows={data.breakdown} isByKind={groupBy === 'kind'} />
          </Stack>
        )}
      </Loaded>
    </MoneyPage>
  );
}

function Filters() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization' });
  const { days = DEFAULT_DAYS, granularity, groupBy = 'kind' } = search;
  const navigate = useNavigate({ from: '/monetization' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  return (
    <Group align="flex-end">
      <NativeSelect
        size="md"
        label={t('revenue.range')}
        value={String(days)}
        onChange={({ currentTarget: { value } }) =>
          change({ days: RANGES.find((one) => String(one) === value), granularity: undefined })
        }
        data={RANGES.map((count) => ({ value: String(count), label: t('revenue.days', { count }) }))}
      />
      <FilterSelect
        label={t('revenue.pieces')}
        any={t('revenue.automatic')}
        values={GRANULARITIES}
        wordOf={(value) => t(`granularity.${value}`)}
        value={granularity}
        onChange={(value) => change({ granularity: value })}
      />
      <SegmentedControl
        aria-label={t('revenue.groupBy')}
        value={groupBy}
        onChange={(value) => change({ groupBy: value })}
        data={GROUPINGS.map((value) => ({ value, label: t(`groupBy.${value}`) }))}
      />
    </Group>
  );
}

function Totals({ totals }: { totals: Revenue['totals'] }) {
  const { t } = useTranslation('monetization');
  const { money, number } = useFormat();
  const { grossCents, feeCents, refundCents, netCents, count } = totals;
  return (
    <Panel title={t('revenue.totals')}>
      <DescriptionList
        facts={[
          { label: t('sum.net'), value: money(netCents, 'USD') },
          { label: t('sum.gross'), value: money(grossCents, 'USD') },
          { label: t('sum.refund'), value: money(refundCents, 'USD') },
          { label: t('sum.fee'), value: money(feeCents, 'USD') },
          { label: t('sum.count'), value: number(count) },
        ]}
      />
    </Panel>
  );
}

function Breakdown({ rows, isByKind }: { rows: Revenue['breakdown']; isByKind: boolean }) {
  const { t } = useTranslation('monetization');
  const { money, number } = useFormat();
  if (rows.length === 0) return null;
  const names = ['net', 'gross', 'refund', 'fee', 'count'] as const;
  return (
    <Panel title={t('revenue.bySold')}>
      <RowsTable
        label={t('revenue.bySold')}
        columns={[t('column.what'), ...names.map((name) => t(`sum.${name}`))]}
      >
        {rows.map(({ key, label, netCents, grossCents, refundCents, feeCents, count }) => (
          <Table.Tr key={key}>
            <Table.Td className="breaks">
              <bdi>{isByKind ? t(`saleKind.${key}`) : label}</bdi>
            </Table.Td>
            <Table.Td>{money(netCents, 'USD')}</Table.Td>
            <Table.Td>{money(grossCents, 'USD')}</Table.Td>
            <Table.Td>{money(refundCents, 'USD')}</Table.Td>
            <Table.Td>{money(feeCents, 'USD')}</Table.Td>
            <Table.Td>{number(count)}</Table.Td>
          </Table.Tr>
        ))}
      </RowsTable>
    </Panel>
  );
}

import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { BarChart } from '../../components/bar-chart.tsx';
import { useFormat } from '../../components/format.ts';
import { RowsTable } from '../../components/rows-table.tsx';

type RevenueBucket = Shape<'Revenue'>['series'][number];
type Granularity = Shape<'Revenue'>['granularity'];

/** A day of the series, whatever the zone of the browser. */
const dayOf = (date: string) => new Date(`${date}T12:00`);

/** Shows the net revenue of each interval of the range as bars, and as a table. */
export function RevenueChart({
  series,
  granularity,
}: {
  series: readonly RevenueBucket[];
  granularity: Granularity;
}) {
  const { t } = useTranslation('monetization');
  const { money, date } = useFormat();
  const [first, last] = [series[0], series.at(-1)];
  if (first === undefined || last === undefined) return null;
  const best = series.reduce((most, piece) => (piece.netCents > most.netCents ? piece : most), first);
  const words = t('revenue.chart', {
    pieces: t(`granularity.${granularity}`),
    from: date(dayOf(first.date)),
    to: date(dayOf(last.date)),
    most: money(best.netCents, 'USD'),
    at: date(dayOf(best.date)),
  });
  const bars = series.map(({ date: day, netCents }) => ({
    key: day,
    name: date(dayOf(day)),
    value: netCents,
    shown: money(netCents, 'USD'),
  }));
  const table = { open: t('revenue.table'), rows: <SeriesTable series={series} /> };
  return <BarChart bars={bars} words={words} table={table} />;
}

function SeriesTable({ series }: { series: readonly RevenueBucket[] }) {
  const { t } = useTranslation('monetization');
  const { money, number, date } = useFormat();
  const names = ['net', 'gross', 'refund', 'fee', 'count'] as const;
  return (
    <RowsTable
      label={t('revenue.overTime')}
      columns={[t('column.at'), ...names.map((name) => t(`sum.${name}`))]}
    >
      {series.map((piece) => (
        <Table.Tr key={piece.date}>
          <Table.Td>{date(dayOf(piece.date))}</Table.Td>
          <Table.Td>{money(piece.netCents, 'USD')}</Table.Td>
          <Table.Td>{money(piece.grossCents, 'USD')}</Table.Td>
          <Table.Td>{money(piece.refundCents, 'USD')}</Table.Td>
          <Table.Td>{money(piece.feeCents, 'USD')}</Table.Td>
          <Table.Td>{number(piece.count)}</Table.Td>
        </Table.Tr>
      ))}
    </RowsTable>
  );
}

import './chart.css';
import { Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';
import { RowsTable } from './rows-table.tsx';

type Piece = Shape<'Revenue'>['series'][number];
type Granularity = Shape<'Revenue'>['granularity'];

const HEIGHT = 100;
const STEP = 10;
const BAR = 8;

/** A day of the series, whatever the zone of the browser. */
const dayOf = (date: string) => new Date(`${date}T12:00`);

/** What was left of each piece of the range, as bars; the same as a table for those who want the figures. */
export function RevenueChart({
  series,
  granularity,
}: {
  series: readonly Piece[];
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
  return (
    <figure className="chart">
      <Bars series={series} label={words} />
      <div className="chart-ends">
        <span>{date(dayOf(first.date))}</span>
        <span>{date(dayOf(last.date))}</span>
      </div>
      <figcaption>{words}</figcaption>
      <details>
        <summary>{t('revenue.table')}</summary>
        <SeriesTable series={series} />
      </details>
    </figure>
  );
}

function Bars({ series, label }: { series: readonly Piece[]; label: string }) {
  const { money, date } = useFormat();
  const nets = series.map(({ netCents }) => netCents);
  const most = Math.max(0, ...nets);
  const least = Math.min(0, ...nets);
  const scale = HEIGHT / Math.max(1, most - least);
  const zero = most * scale;
  return (
    <svg
      viewBox={`0 0 ${series.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {series.map((piece, index) => {
        const height = Math.abs(piece.netCents) * scale;
        return (
          <rect
            key={piece.date}
            x={index * STEP + (STEP - BAR) / 2}
            y={piece.netCents < 0 ? zero : zero - height}
            width={BAR}
            height={height}
            className={piece.netCents < 0 ? 'chart-loss' : 'chart-gain'}
          >
            <title>{`${date(dayOf(piece.date))}: ${money(piece.netCents, 'USD')}`}</title>
          </rect>
        );
      })}
      <line x1="0" x2={series.length * STEP} y1={zero} y2={zero} className="chart-zero" />
    </svg>
  );
}

function SeriesTable({ series }: { series: readonly Piece[] }) {
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

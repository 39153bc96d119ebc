import { Group, NativeSelect, Table } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { BarChart } from '../../components/bar-chart.tsx';
import { laterDay } from '../../components/days.ts';
import { DescriptionList } from '../../components/description-list.tsx';
import { TIME_ZONE, useFormat } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';
import { RowsTable } from '../../components/rows-table.tsx';

type Report = Shape<'Usage'>;
type Granularity = keyof typeof DAYS;

/** Number of days shown at each granularity. */
const DAYS = { HOUR: 2, DAY: 28, MONTH: 365 } as const;
const GRANULARITIES = ['HOUR', 'DAY', 'MONTH'] as const;
const NAMES = [
  'storageBytes',
  'egressBytes',
  'encodeMinutes',
  'liveMinutes',
  'roomMinutes',
  'apiRequests',
  'webhookDeliveries',
] as const;
type Name = (typeof NAMES)[number];

/** Shows usage over time: one measure as bars, all of them as a table. */
export function UsagePanel() {
  const { t } = useTranslation('limits');
  const [granularity, setGranularity] = useState<Granularity>('DAY');
  const [name, setName] = useState<Name>('storageBytes');
  const query = {
    from: laterDay(undefined, 1 - DAYS[granularity]),
    to: laterDay(undefined, 1),
    granularity,
    timezone: TIME_ZONE,
  };
  const usage = $api.useQuery('get', '/usage', { params: { query } });
  return (
    <Panel title={t('usage.title')}>
      <Group align="flex-end">
        <NativeSelect
          size="md"
          label={t('usage.time')}
          value={granularity}
          onChange={({ currentTarget: { value } }) =>
            setGranularity(GRANULARITIES.find((one) => one === value) ?? 'DAY')
          }
          data={GRANULARITIES.map((value) => ({ value, label: t(`usage.pieces.${value}`) }))}
        />
        <NativeSelect
          size="md"
          label={t('usage.shows')}
          value={name}
          onChange={({ currentTarget: { value } }) => setName(NAMES.find((one) => one === value) ?? name)}
          data={NAMES.map((value) => ({ value, label: t(`usage.name.${value}`) }))}
        />
      </Group>
      <Loaded query={usage}>{({ data }) => <UsageChart report={data} name={name} />}</Loaded>
    </Panel>
  );
}

function UsageChart({ report: { granularity, series, totals }, name }: { report: Report; name: Name }) {
  const { t } = useTranslation('limits');
  const { bytes, number, date, dateTime } = useFormat();
  const shown = (one: Name, value: number) =>
    one === 'storageBytes' || one === 'egressBytes' ? bytes(value) : number(value);
  const nameOf = (at: string) => (granularity === 'HOUR' ? dateTime(at) : date(new Date(`${at}T12:00`)));
  const bars = series.map((piece) => {
    const value = piece[name] ?? 0;
    return { key: piece.date, name: nameOf(piece.date), value, shown: shown(name, value) };
  });
  const words = t('usage.words', {
    name: t(`usage.name.${name}`),
    time: t(`usage.pieces.${granularity}`),
    total: shown(name, totals[name] ?? 0),
  });
  const rows = (
    <RowsTable
      label={t('usage.title')}
      columns={[t('usage.at'), ...NAMES.map((one) => t(`usage.name.${one}`))]}
    >
      {series.map((piece) => (
        <Table.Tr key={piece.date}>
          <Table.Td>{nameOf(piece.date)}</Table.Td>
          {NAMES.map((one) => (
            <Table.Td key={one}>{shown(one, piece[one] ?? 0)}</Table.Td>
          ))}
        </Table.Tr>
      ))}
    </RowsTable>
  );
  return (
    <>
      <DescriptionList
        facts={NAMES.map((one) => ({
          label: t(`usage.name.${one}`),
          value: shown(one, totals[one] ?? 0),
        }))}
      />
      <BarChart bars={bars} words={words} table={{ open: t('usage.table'), rows }} />
    </>
  );
}

import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { BarChart } from '../../components/bar-chart.tsx';
import { DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { MeasureChoice } from './range.tsx';
import type { STREAM_MEASURES } from './search.ts';

type Granularity = Shape<'AccountAnalytics'>['granularity'];

/** Figures that are lengths of time, and those that are parts of a whole. */
const TIMES = new Set(['watchTimeSec', 'avgViewDurationSec']);

export type Measure =
  | (typeof STREAM_MEASURES)[number]
  | 'avgViewDurationSec'
  | 'avgPercentViewed'
  | 'impressions'
  | 'plays'
  | 'newFollowers'
  | 'broadcasts'
  | 'liveMinutes'
  | 'peakConcurrent'
  | 'avgConcurrent'
  | 'bitrateKbps';

/** Returns the localized names of the measures. */
function useMeasureWords() {
  const { t } = useTranslation('analytics');
  return (name: Measure): string => t(`measure.${name}`);
}

/** Returns a formatter for measures; null is shown as unknown. */
export function useShown() {
  const { number, duration } = useFormat();
  return (name: string, value: number | null): string => {
    if (value === null) return '–';
    return TIMES.has(name) ? duration(value) : number(value);
  };
}

export interface TotalsProps<Name extends Measure> {
  names: readonly Name[];
  totals: { [name in Name]: number | null };
  previous: { [name in Name]: number | null } | null;
  freshUntil: string | null;
}

/** Shows the totals of the range, next to those of the previous period. */
export function Totals<Name extends Measure>({ names, totals, previous, freshUntil }: TotalsProps<Name>) {
  const { t } = useTranslation('analytics');
  const { number } = useFormat();
  const shown = useShown();
  const wordOf = useMeasureWords();
  const beside = (name: Name) => {
    const before = previous?.[name];
    if (before === undefined || before === null) return null;
    const now = totals[name];
    const change = now === null || before === 0 ? null : ((now - before) / before) * 100;
    const words = t('totals.before', { value: shown(name, before) });
    const sign = change !== null && change > 0 ? '+' : '';
    return (
      <Text size="sm" c="dimmed">
        {change === null ? words : t('totals.change', { words, change: `${sign}${number(change)}` })}
      </Text>
    );
  };
  return (
    <Panel title={t('totals.title')}>
      <DescriptionList
        facts={names.map((name) => ({
          label: wordOf(name),
          value: (
            <>
              <span>{shown(name, totals[name])}</span>
              {beside(name)}
            </>
          ),
        }))}
      />
      {freshUntil !== null && (
        <Text size="sm" c="dimmed">
          {t('totals.fresh')} <RelativeTime at={freshUntil} />
        </Text>
      )}
    </Panel>
  );
}

type SeriesBucket<Name extends Measure> = { date: string } & { [name in Name]: number | null };

export interface SeriesProps<Name extends Measure> {
  series: readonly SeriesBucket<Name>[];
  granularity: Granularity;
  measures: readonly Name[];
  measure: Name;
  onMeasure: (name: Name | undefined) => void;
}

/** One figure over time, as bars and as a table of all. */
export function SeriesPanel<Name extends Measure>(props: SeriesProps<Name>) {
  const { series, granularity, measures, measure, onMeasure } = props;
  const { t } = useTranslation('analytics');
  const { date, dateTime } = useFormat();
  const shown = useShown();
  const wordOf = useMeasureWords();
  const nameOf = (at: string) => (granularity === 'HOUR' ? dateTime(at) : date(new Date(`${at}T12:00`)));
  const bars = series.map((piece) => ({
    key: piece.date,
    name: nameOf(piece.date),
    value: piece[measure] ?? 0,
    shown: shown(measure, piece[measure]),
  }));
  const best = bars.reduce((most, bar) => (bar.value > most.value ? bar : most), bars[0] ?? NO_BAR);
  const words = t('chart.words', {
    measure: wordOf(measure),
    pieces: t(`pieces.${granularity}`),
    most: best.shown,
    at: best.name,
  });
  const rows = (
    <RowsTable label={t('chart.title')} columns={[t('chart.at'), ...measures.map(wordOf)]}>
      {series.map((piece) => (
        <Table.Tr key={piece.date}>
          <Table.Td>{nameOf(piece.date)}</Table.Td>
          {measures.map((name) => (
            <Table.Td key={name}>{shown(name, piece[name])}</Table.Td>
          ))}
        </Table.Tr>
      ))}
    </RowsTable>
  );
  return (
    <Panel title={t('chart.title')}>
      <MeasureChoice measures={measures} value={measure} wordOf={wordOf} onChange={onMeasure} />
      <BarChart bars={bars} words={words} table={{ open: t('chart.table'), rows }} />
      <TimeZoneNote />
    </Panel>
  );
}

const NO_BAR = { key: '', name: '', value: 0, shown: '' };

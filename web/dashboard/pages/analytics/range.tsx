import { Group, NativeSelect, SegmentedControl, Switch, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { laterDay } from '../../components/days.ts';
import { TIME_ZONE } from '../../components/format.ts';
import { RANGES, type RangeSearch } from './search.ts';

const DEFAULT_DAYS = 28;
/** Numbers of buckets that remain distinguishable on a phone. */
const PIECES = [
  { most: 2, granularity: 'HOUR' },
  { most: 45, granularity: 'DAY' },
  { most: 180, granularity: 'WEEK' },
] as const;

const isChosen = ({ from, to }: RangeSearch) => from !== undefined || to !== undefined;

function daysOf({ days = DEFAULT_DAYS, ...search }: RangeSearch) {
  if (!isChosen(search)) return { from: laterDay(undefined, 1 - days), to: laterDay(undefined, 0) };
  const to = search.to ?? laterDay(undefined, 0);
  return { from: search.from ?? laterDay(to, 1 - days), to };
}

/** Returns the API query for the range in the URL. */
export function rangeQuery(search: RangeSearch) {
  const { from, to } = daysOf(search);
  const count = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
  const granularity = PIECES.find(({ most }) => count <= most)?.granularity ?? ('MONTH' as const);
  return {
    from,
    to: laterDay(to, 1),
    granularity,
    timezone: TIME_ZONE,
    compare: search.compare === true ? ('PREVIOUS' as const) : ('NONE' as const),
  };
}

/** Returns the API query for the range without the parameters that lists do not accept. */
export function rowsQuery(search: RangeSearch) {
  const { compare: _, granularity: __, ...query } = rangeQuery(search);
  return query;
}

interface Props {
  search: RangeSearch;
  onChange: (change: {
    days?: RangeSearch['days'] | undefined;
    from?: string | undefined;
    to?: string | undefined;
    compare?: true | undefined;
  }) => void;
}

/** Selects the days, and whether they are compared with the previous period. */
export function RangeFilters({ search, onChange }: Props) {
  const { t } = useTranslation('analytics');
  const { from, to } = daysOf(search);
  const choose = (value: string) =>
    onChange(
      value === 'custom'
        ? { days: undefined, from, to }
        : { days: RANGES.find((one) => String(one) === value), from: undefined, to: undefined },
    );
  return (
    <Group align="flex-end">
      <NativeSelect
        size="md"
        label={t('range.label')}
        value={isChosen(search) ? 'custom' : String(search.days ?? DEFAULT_DAYS)}
        onChange={({ currentTarget: { value } }) => choose(value)}
        data={[
          ...RANGES.map((count) => ({ value: String(count), label: t('range.days', { count }) })),
          { value: 'custom', label: t('range.custom') },
        ]}
      />
      {isChosen(search) && (
        <>
          <TextInput
            type="date"
            size="md"
            label={t('range.from')}
            value={from}
            onChange={({ currentTarget: { value } }) => value !== '' && onChange({ from: value, to })}
          />
          <TextInput
            type="date"
            size="md"
            label={t('range.to')}
            value={to}
            onChange={({ currentTarget: { value } }) => value !== '' && onChange({ from, to: value })}
          />
        </>
      )}
      <Switch
        size="md"
        pb="xs"
        label={t('range.compare')}
        checked={search.compare === true}
        onChange={({ currentTarget: { checked } }) => onChange({ compare: checked ? true : undefined })}
      />
    </Group>
  );
}

/** Selects the measure of the chart. */
export function MeasureChoice<Name extends string>({
  measures,
  value,
  wordOf,
  onChange,
}: {
  measures: readonly Name[];
  value: Name;
  wordOf: (name: Name) => string;
  onChange: (name: Name | undefined) => void;
}) {
  const { t } = useTranslation('analytics');
  return (
    <SegmentedControl
      aria-label={t('chart.measure')}
      value={value}
      onChange={(chosen) => onChange(measures.find((name) => name === chosen))}
      data={measures.map((name) => ({ value: name, label: wordOf(name) }))}
    />
  );
}

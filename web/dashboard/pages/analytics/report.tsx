import { Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Breakdown, type BreakdownProps } from './breakdown.tsx';
import { type Measure, SeriesPanel, type SeriesProps, Totals, type TotalsProps } from './figures.tsx';

interface ReportProps<Total extends Measure, Name extends Measure>
  extends Omit<SeriesProps<Name>, 'series' | 'granularity'> {
  data: Pick<TotalsProps<Total>, 'totals' | 'previous'> &
    Pick<SeriesProps<Name>, 'series' | 'granularity'> &
    BreakdownProps & { dataFreshUntil: string | null };
  /** Measures of the whole range. */
  names: readonly Total[];
  /** Panels specific to this kind of content. */
  children: ReactNode;
}

/** Renders the part of a report that the account, videos and streams share. */
export function Report<Total extends Measure, Name extends Measure>(props: ReportProps<Total, Name>) {
  const { data, names, measures, measure, onMeasure, children } = props;
  const { totals, previous, dataFreshUntil, series, granularity, breakdown, sources } = data;
  return (
    <Stack>
      <Totals names={names} totals={totals} previous={previous} freshUntil={dataFreshUntil} />
      <SeriesPanel
        series={series}
        granularity={granularity}
        measures={measures}
        measure={measure}
        onMeasure={onMeasure}
      />
      {children}
      <Breakdown breakdown={breakdown} sources={sources} />
    </Stack>
  );
}

import { SimpleGrid, Table, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { currentLocale } from '../../app/i18n.ts';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';

type Value = Shape<'AnalyticsValue'>;

const DEVICES = ['DESKTOP', 'MOBILE', 'TABLET', 'TV', 'OTHER'] as const;
const SOURCES = ['DIRECT', 'SEARCH', 'SOCIAL', 'LINK'] as const;
const MOST_ROWS = 10;

type Dimension = keyof Shape<'AnalyticsBreakdown'> | 'quality' | 'source';

export interface BreakdownProps {
  breakdown: Shape<'AnalyticsBreakdown'> & { quality?: Value[] };
  sources: Value[];
}

/** Breaks views down by country, device and source. */
export function Breakdown({ breakdown, sources }: BreakdownProps) {
  const { country, device, browser, os, referrer, quality } = breakdown;
  const tables: [Dimension, Value[]][] = [
    ['country', country],
    ['device', device],
    ['referrer', referrer],
    ['source', sources],
    ['browser', browser],
    ['os', os],
  ];
  if (quality !== undefined) tables.push(['quality', quality]);
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      {tables.map(([dimension, values]) => (
        <Values key={dimension} dimension={dimension} values={values} />
      ))}
    </SimpleGrid>
  );
}

function useWords() {
  const { t } = useTranslation('analytics');
  const countries = new Intl.DisplayNames([currentLocale()], { type: 'region', fallback: 'code' });
  return (dimension: Dimension, { key, label }: Value): string => {
    if (dimension === 'country') return key === 'ZZ' ? t('unknown') : (countries.of(key) ?? key);
    const device = DEVICES.find((one) => one === key);
    if (dimension === 'device' && device !== undefined) return t(`device.${device}`);
    const source = SOURCES.find((one) => one === key);
    if (dimension === 'source' && source !== undefined) return t(`source.${source}`);
    if (key === '') return dimension === 'referrer' ? t('source.DIRECT') : t('unknown');
    return label;
  };
}

function Values({ dimension, values }: { dimension: Dimension; values: readonly Value[] }) {
  const { t } = useTranslation('analytics');
  const words = useWords();
  return (
    <ViewsPanel
      title={t(`by.${dimension}`)}
      rows={values.slice(0, MOST_ROWS).map((value) => ({ ...value, name: words(dimension, value) }))}
    />
  );
}

export interface ViewsRow {
  key: string;
  name: ReactNode;
  views: number;
  watchTimeSec: number;
}

/** Lists the rows by views, most viewed first. */
export function ViewsPanel({ title, rows }: { title: string; rows: readonly ViewsRow[] }) {
  const { t } = useTranslation('analytics');
  const { number, duration } = useFormat();
  return (
    <Panel title={title}>
      {rows.length === 0 ? (
        <Text c="dimmed">{t('nothing')}</Text>
      ) : (
        <Table aria-label={title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('column.what')}</Table.Th>
              <Table.Th>{t('measure.views')}</Table.Th>
              <Table.Th>{t('measure.watchTimeSec')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map(({ key, name, views, watchTimeSec }) => (
              <Table.Tr key={key}>
                <Table.Td className="breaks">
                  <bdi>{name}</bdi>
                </Table.Td>
                <Table.Td>{number(views)}</Table.Td>
                <Table.Td>{duration(watchTimeSec)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      )}
    </Panel>
  );
}

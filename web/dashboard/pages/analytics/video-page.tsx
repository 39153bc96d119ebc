import { Group, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { BarChart } from '../../components/bar-chart.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { RangeFilters, rangeQuery } from './range.tsx';
import { Report } from './report.tsx';
import { MEASURES } from './search.ts';

const TOTALS = [
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'avgViewDurationSec',
  'avgPercentViewed',
  'impressions',
  'plays',
] as const;

/** Shows the analytics of one video: watch time, retention and audience. */
export function VideoPage() {
  const { t } = useTranslation('analytics');
  const { id } = useParams({ from: '/workspace/analytics/videos/$id' });
  const search = useSearch({ from: '/workspace/analytics/videos/$id' });
  const navigate = useNavigate({ from: '/analytics/videos/$id' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  const params = { path: { id }, query: rangeQuery(search) };
  const query = $api.useQuery('get', '/analytics/videos/{id}', { params });
  const video = query.data?.data;
  return (
    <Stack>
      <Group>
        <TextLink to="/analytics" size="sm">
          {t('back')}
        </TextLink>
        {video?.deletedAt === null && (
          <TextLink to="/videos/$id" params={{ id }} size="sm">
            {t('video.open')}
          </TextLink>
        )}
      </Group>
      <PageHeader
        title={video?.title ?? t('video.title')}
        description={<IdLine id={id} label={t('video.copyId')} />}
      />
      <RangeFilters search={search} onChange={change} />
      <Loaded query={query}>
        {({ data }) => (
          <Report
            data={data}
            names={TOTALS}
            measures={MEASURES}
            measure={search.measure ?? 'views'}
            onMeasure={(measure) => change({ measure })}
          >
            <Retention seconds={data.retention} />
          </Report>
        )}
      </Loaded>
    </Stack>
  );
}

/** Maximum number of bars that remain distinguishable on a phone. */
const MOST_BARS = 100;

/** Groups consecutive seconds into buckets of equal length with their mean. */
function piecesOf(seconds: Shape<'VideoAnalytics'>['retention']) {
  const length = Math.max(1, Math.ceil(seconds.length / MOST_BARS));
  const starts = seconds.filter((_, index) => index % length === 0);
  return starts.map(({ second }, index) => {
    const piece = seconds.slice(index * length, (index + 1) * length);
    const sum = piece.reduce((all, { percent }) => all + (percent ?? 0), 0);
    return { second, percent: sum / piece.length };
  });
}

function Retention({ seconds }: { seconds: Shape<'VideoAnalytics'>['retention'] }) {
  const { t } = useTranslation('analytics');
  const { duration, percent } = useFormat();
  const pieces = piecesOf(seconds);
  const bars = pieces.map((piece) => ({
    key: String(piece.second),
    name: duration(piece.second),
    value: piece.percent,
    shown: percent(piece.percent / 100),
  }));
  const [first, last] = [bars[0], bars.at(-1)];
  if (first === undefined || last === undefined) {
    return (
      <Panel title={t('retention.title')}>
        <Text c="dimmed">{t('nothing')}</Text>
      </Panel>
    );
  }
  const rows = (
    <RowsTable label={t('retention.title')} columns={[t('retention.second'), t('retention.percent')]}>
      {bars.map(({ key, name, shown }) => (
        <Table.Tr key={key}>
          <Table.Td>{name}</Table.Td>
          <Table.Td>{shown}</Table.Td>
        </Table.Tr>
      ))}
    </RowsTable>
  );
  const words = t('retention.words', { first: first.shown, last: last.shown, at: last.name });
  return (
    <Panel title={t('retention.title')}>
      <Text size="sm" c="dimmed">
        {t('retention.about')}
      </Text>
      <BarChart bars={bars} words={words} table={{ open: t('chart.table'), rows }} />
    </Panel>
  );
}

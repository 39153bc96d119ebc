import { SimpleGrid, Stack } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { ViewsPanel } from './breakdown.tsx';
import { RangeFilters, rangeQuery, rowsQuery } from './range.tsx';
import { Report } from './report.tsx';
import { MEASURES, type RangeSearch } from './search.ts';

const TOTALS = [
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'avgViewDurationSec',
  'newFollowers',
  'liveMinutes',
  'peakConcurrent',
] as const;
const TOP_ROWS = 10;

/** Shows the analytics of all content in the workspace: watched content, watch time and audience. */
export function OverviewPage() {
  const { t } = useTranslation('analytics');
  const search = useSearch({ from: '/workspace/analytics' });
  const navigate = useNavigate({ from: '/analytics' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  const query = $api.useQuery('get', '/analytics/account', { params: { query: rangeQuery(search) } });
  return (
    <Stack>
      <PageHeader title={t('overview.title')} description={t('overview.about')} />
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
            <Tops search={search} />
          </Report>
        )}
      </Loaded>
    </Stack>
  );
}

function Tops({ search }: { search: RangeSearch }) {
  const { t } = useTranslation('analytics');
  const params = { query: { ...rowsQuery(search), limit: TOP_ROWS } };
  const videos = $api.useQuery('get', '/analytics/videos', { params });
  const streams = $api.useQuery('get', '/analytics/streams', { params });
  return (
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Loaded query={videos}>
        {({ data }) => (
          <ViewsPanel
            title={t('overview.videos')}
            rows={data.rows.map(({ videoId: id, title, ...row }) => ({
              ...row,
              key: id,
              name: (
                <TextLink to="/analytics/videos/$id" params={{ id }} search={kept(search)}>
                  {title ?? id}
                </TextLink>
              ),
            }))}
          />
        )}
      </Loaded>
      <Loaded query={streams}>
        {({ data }) => (
          <ViewsPanel
            title={t('overview.streams')}
            rows={data.rows.map(({ streamId: id, title, ...row }) => ({
              ...row,
              key: id,
              name: (
                <TextLink to="/analytics/streams/$id" params={{ id }} search={kept(search)}>
                  {title ?? id}
                </TextLink>
              ),
            }))}
          />
        )}
      </Loaded>
    </SimpleGrid>
  );
}

/** Links to a single item preserve the selected days. */
const kept = ({ days, from, to, compare }: RangeSearch): RangeSearch =>
  withoutUndefined({ days, from, to, compare });

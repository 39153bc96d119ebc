import { Group, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
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
import { STREAM_MEASURES } from './search.ts';

const TOTALS = [
  'views',
  'uniqueViewers',
  'watchTimeSec',
  'broadcasts',
  'liveMinutes',
  'peakConcurrent',
  'avgConcurrent',
  'chatMessages',
  'bitrateKbps',
] as const;

/** Shows the analytics of one stream: the viewers of its broadcasts over time. */
export function StreamPage() {
  const { t } = useTranslation('analytics');
  const { id } = useParams({ from: '/workspace/analytics/streams/$id' });
  const search = useSearch({ from: '/workspace/analytics/streams/$id' });
  const navigate = useNavigate({ from: '/analytics/streams/$id' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  const params = { path: { id }, query: rangeQuery(search) };
  const query = $api.useQuery('get', '/analytics/streams/{id}', { params });
  const stream = query.data?.data;
  return (
    <Stack>
      <Group>
        <TextLink to="/analytics" size="sm">
          {t('back')}
        </TextLink>
        {stream?.deletedAt === null && (
          <TextLink to="/live/$id" params={{ id }} size="sm">
            {t('stream.open')}
          </TextLink>
        )}
      </Group>
      <PageHeader
        title={stream?.title ?? t('stream.title')}
        description={<IdLine id={id} label={t('stream.copyId')} />}
      />
      <RangeFilters search={search} onChange={change} />
      <Loaded query={query}>
        {({ data }) => (
          <Report
            data={data}
            names={TOTALS}
            measures={STREAM_MEASURES}
            measure={search.measure ?? 'views'}
            onMeasure={(measure) => change({ measure })}
          >
            <Sessions sessions={data.sessions} />
          </Report>
        )}
      </Loaded>
    </Stack>
  );
}

function Sessions({ sessions }: { sessions: Shape<'StreamAnalytics'>['sessions'] }) {
  const { t } = useTranslation('analytics');
  const { number, duration, dateTime } = useFormat();
  return (
    <Panel title={t('sessions.title')}>
      {sessions.length === 0 ? (
        <Text c="dimmed">{t('nothing')}</Text>
      ) : (
        <RowsTable
          label={t('sessions.title')}
          columns={[
            t('sessions.started'),
            t('sessions.length'),
            t('measure.peakConcurrent'),
            t('measure.uniqueViewers'),
          ]}
        >
          {sessions.map(({ sessionId, startedAt, durationSec, peakConcurrent, uniqueViewers }) => (
            <Table.Tr key={sessionId}>
              <Table.Td>{dateTime(startedAt)}</Table.Td>
              <Table.Td>{durationSec === null ? t('sessions.on') : duration(durationSec)}</Table.Td>
              <Table.Td>{number(peakConcurrent)}</Table.Td>
              <Table.Td>{number(uniqueViewers)}</Table.Td>
            </Table.Tr>
          ))}
        </RowsTable>
      )}
    </Panel>
  );
}

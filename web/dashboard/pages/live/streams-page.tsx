import { Group, SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { curlLine } from '../../components/curl.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { VisibilityName } from '../../components/visibility.tsx';
import { VisibilityFilter } from '../../components/visibility-filter.tsx';
import { NewStream } from './new-stream.tsx';
import type { StreamsSearch } from './search.ts';
import { StatusBadge } from './status-badge.tsx';

const REFRESH_MS = 5000;
const PAGE_ROWS = 50;

/** Lists all streams, newest first; new ones are created in place. */
export function StreamsPage() {
  const { t } = useTranslation('live');
  const search = useSearch({ from: '/workspace/live' });
  const navigate = useNavigate({ from: '/live' });
  const setNew = (isNew: boolean) =>
    void navigate({
      search: ({ new: _, ...rest }) => (isNew ? { ...rest, new: true } : rest),
      replace: true,
    });
  return (
    <Stack>
      <PageHeader
        title={t('list.title')}
        description={t('list.description')}
        actions={search.new !== true && <EditButton onClick={() => setNew(true)}>{t('list.new')}</EditButton>}
      />
      {search.new === true && <NewStream onCancel={() => setNew(false)} />}
      <Filters search={search} />
      <Streams search={search} onNew={() => setNew(true)} />
    </Stack>
  );
}

function Filters({ search }: { search: StreamsSearch }) {
  const { t } = useTranslation('live');
  const navigate = useNavigate({ from: '/live' });
  return (
    <Group align="flex-end">
      <SegmentedControl
        aria-label={t('list.show')}
        value={search.show ?? 'all'}
        onChange={(value) =>
          void navigate({
            search: ({ show: _, ...rest }) =>
              value === 'live' || value === 'signal' ? { ...rest, show: value } : rest,
            replace: true,
          })
        }
        data={[
          { value: 'all', label: t('list.all') },
          { value: 'live', label: t('list.live') },
          { value: 'signal', label: t('list.signal') },
        ]}
      />
      <VisibilityFilter
        value={search.visibility}
        onChange={(value) =>
          void navigate({
            search: ({ visibility: _, ...rest }) =>
              value === undefined ? rest : { ...rest, visibility: value },
            replace: true,
          })
        }
      />
    </Group>
  );
}

function Streams({ search, onNew }: { search: StreamsSearch; onNew: () => void }) {
  const { t } = useTranslation('live');
  const { show, visibility } = search;
  const query = $api.useInfiniteQuery(
    'get',
    '/streams',
    {
      params: {
        query: {
          limit: PAGE_ROWS,
          ...(show === 'live' ? { isLive: true } : {}),
          ...(show === 'signal' ? { hasSignal: true } : {}),
          ...(visibility === undefined ? {} : { visibility: [visibility] }),
        },
      },
    },
    pollEvery(REFRESH_MS),
  );
  const isFiltered = show !== undefined || visibility !== undefined;
  const empty = isFiltered ? (
    <Text>{t('list.nothing')}</Text>
  ) : (
    <EmptyState
      title={t('empty.title')}
      text={t('empty.text')}
      action={<EditButton onClick={onNew}>{t('list.new')}</EditButton>}
      curl={curlLine('POST', '/streams', { title: 'Friday night live' })}
    />
  );
  return (
    <CursorList query={query} empty={empty}>
      {(rows) => (
        <>
          <StreamTable rows={rows} />
          <TimeZoneNote />
        </>
      )}
    </CursorList>
  );
}

function StreamTable({ rows }: { rows: Shape<'Stream'>[] }) {
  const { t } = useTranslation('live');
  return (
    <Table aria-label={t('list.title')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('column.title')}</Table.Th>
          <Table.Th>{t('column.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('column.visibility')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('column.lastSignal')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((stream) => (
          <StreamRow key={stream.id} stream={stream} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function StreamRow({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/live/$id" params={{ id: stream.id }} className="breaks" fw={500}>
          <bdi>{stream.title}</bdi>
        </TextLink>
      </Table.Td>
      <Table.Td>
        <StatusBadge status={stream.status} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <VisibilityName visibility={stream.visibility} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {stream.lastSignalAt === null ? t('list.never') : <RelativeTime at={stream.lastSignalAt} />}
      </Table.Td>
    </Table.Tr>
  );
}

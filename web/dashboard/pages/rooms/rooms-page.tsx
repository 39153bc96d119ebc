import { SegmentedControl, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { curlLine } from '../../components/curl.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { NewRoom } from './new-room.tsx';
import { ROOM_STATES, type RoomsSearch } from './search.ts';
import { StatusBadge } from './status-badge.tsx';

const REFRESH_MS = 5000;
const PAGE_ROWS = 50;

/** Lists all rooms, newest first; new ones are created in place. */
export function RoomsPage() {
  const { t } = useTranslation('rooms');
  const search = useSearch({ from: '/workspace/rooms' });
  const navigate = useNavigate({ from: '/rooms' });
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
      {search.new === true && <NewRoom onCancel={() => setNew(false)} />}
      <StatusFilter status={search.status} />
      <Rooms search={search} onNew={() => setNew(true)} />
    </Stack>
  );
}

function StatusFilter({ status }: { status: RoomsSearch['status'] | undefined }) {
  const { t } = useTranslation('rooms');
  const navigate = useNavigate({ from: '/rooms' });
  const choose = (value: string) => {
    const chosen = ROOM_STATES.find((state) => state === value);
    void navigate({
      search: ({ status: _, ...rest }) => (chosen === undefined ? rest : { ...rest, status: chosen }),
      replace: true,
    });
  };
  return (
    <div>
      <SegmentedControl
        aria-label={t('list.show')}
        value={status ?? 'all'}
        onChange={choose}
        data={[
          { value: 'all', label: t('list.all') },
          ...ROOM_STATES.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
      />
    </div>
  );
}

function Rooms({ search: { status }, onNew }: { search: RoomsSearch; onNew: () => void }) {
  const { t } = useTranslation('rooms');
  const query = $api.useInfiniteQuery(
    'get',
    '/rooms',
    { params: { query: { limit: PAGE_ROWS, ...(status === undefined ? {} : { status: [status] }) } } },
    pollEvery(REFRESH_MS),
  );
  const empty =
    status !== undefined ? (
      <Text>{t('list.nothing')}</Text>
    ) : (
      <EmptyState
        title={t('empty.title')}
        text={t('empty.text')}
        action={<EditButton onClick={onNew}>{t('list.new')}</EditButton>}
        curl={curlLine('POST', '/rooms', { name: 'Monday class' })}
      />
    );
  return (
    <CursorList query={query} empty={empty}>
      {(rows) => (
        <>
          <RoomTable rows={rows} />
          <TimeZoneNote />
        </>
      )}
    </CursorList>
  );
}

function RoomTable({ rows }: { rows: Shape<'Room'>[] }) {
  const { t } = useTranslation('rooms');
  return (
    <Table aria-label={t('list.title')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('column.name')}</Table.Th>
          <Table.Th>{t('column.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('column.people')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('column.created')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((room) => (
          <RoomRow key={room.id} room={room} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function RoomRow({ room }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  const { number } = useFormat();
  const { participantCount, maxParticipants } = room;
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/rooms/$id" params={{ id: room.id }} className="breaks" fw={500}>
          <bdi>{room.name}</bdi>
        </TextLink>
      </Table.Td>
      <Table.Td>
        <StatusBadge status={room.status} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {t('list.people', { count: number(participantCount), max: number(maxParticipants) })}
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <RelativeTime at={room.createdAt} />
      </Table.Td>
    </Table.Tr>
  );
}

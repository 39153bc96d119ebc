import { SimpleGrid, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { EndPanel } from './end-panel.tsx';
import { InvitePanel } from './invite-panel.tsx';
import { PeoplePanel } from './people-panel.tsx';
import { RecordingPanel } from './recording-panel.tsx';
import { SettingsForm } from './settings-form.tsx';
import { StatusBadge } from './status-badge.tsx';

const POLL_MS = 3000;

/** Shows one room: invite, moderate, record, edit and end it. Its data is at most three seconds old. */
export function RoomPage() {
  const { t } = useTranslation('rooms');
  const { id } = useParams({ from: '/workspace/rooms/$id' });
  const query = $api.useQuery(
    'get',
    '/rooms/{id}',
    { params: { path: { id } } },
    { refetchInterval: ({ state }) => (state.error === null ? POLL_MS : false) },
  );
  const room = query.data?.data;
  return (
    <Stack>
      <TextLink to="/rooms" size="sm">
        {t('page.back')}
      </TextLink>
      <PageHeader
        title={room?.name ?? t('page.title')}
        actions={room && <StatusBadge status={room.status} />}
      />
      <Loaded query={query}>{({ data }) => <Room room={data} />}</Loaded>
    </Stack>
  );
}

function Room({ room }: { room: Shape<'Room'> }) {
  const isOver = room.status === 'ENDED';
  return (
    <>
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        {isOver ? <Ended room={room} /> : <InvitePanel room={room} />}
        <PeoplePanel room={room} />
      </SimpleGrid>
      <RecordingPanel room={room} />
      {!isOver && <SettingsForm room={room} />}
      <EndPanel room={room} />
    </>
  );
}

function Ended({ room: { endedAt, endReason } }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  return (
    <Panel title={t('ended.title')}>
      <Text>{t('ended.text')}</Text>
      <Text>
        {endReason !== null && t(`endReason.${endReason}`)}{' '}
        {endedAt !== null && <RelativeTime at={endedAt} />}
      </Text>
    </Panel>
  );
}

import { Group, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { Panel } from '../../components/panel.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { refreshRoom } from './refresh.ts';

const POLL_MS = 3000;
const PAGE_ROWS = 100;

type Person = Shape<'RoomParticipant'>;

/** Lists participants and the waiting room, with the host's actions. */
export function PeoplePanel({ room }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  const query = $api.useInfiniteQuery(
    'get',
    '/rooms/{id}/participants',
    { params: { path: { id: room.id }, query: { state: ['ACTIVE', 'JOINING'], limit: PAGE_ROWS } } },
    pollEvery(POLL_MS),
  );
  return (
    <Panel title={t('people.title')}>
      <CursorList
        query={query}
        empty={
          <Text role="status" size="sm">
            {t('people.nobody')}
          </Text>
        }
      >
        {(people) => (
          <Stack>
            <Text role="status" size="sm">
              {t('people.count', counts(people, room))}
            </Text>
            <PeopleTable roomId={room.id} people={people} />
          </Stack>
        )}
      </CursorList>
    </Panel>
  );
}

function counts(people: Person[], room: Shape<'Room'>) {
  const waiting = people.filter(({ state }) => state === 'JOINING').length;
  return { there: room.participantCount, max: room.maxParticipants, waiting };
}

function PeopleTable({ roomId, people }: { roomId: string; people: Person[] }) {
  const { t } = useTranslation('rooms');
  const waitingFirst = people.toSorted((a, b) => rank(a) - rank(b));
  return (
    <Table aria-label={t('people.title')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('people.name')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('people.since')}</Table.Th>
          <Table.Th>{t('people.acts')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {waitingFirst.map((person) => (
          <PersonRow key={person.identity} roomId={roomId} person={person} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

const rank = ({ state }: Person) => (state === 'JOINING' ? 0 : 1);

function PersonRow({ roomId, person }: { roomId: string; person: Person }) {
  const { t } = useTranslation('rooms');
  const name = person.name ?? person.identity;
  return (
    <Table.Tr>
      <Table.Td>
        <Text fw={500} className="breaks">
          <bdi>{name}</bdi>
        </Text>
        <Text size="sm" c="dimmed">
          {t(`role.${person.role}`)}
          {person.tracks.map(({ source }) => `, ${t(`track.${source}`)}`)}
        </Text>
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {person.joinedAt === null ? t('people.waiting') : <RelativeTime at={person.joinedAt} />}
      </Table.Td>
      <Table.Td>
        {person.state === 'JOINING' ? (
          <WaitingActs roomId={roomId} person={person} name={name} />
        ) : (
          <PresentActs roomId={roomId} person={person} name={name} />
        )}
      </Table.Td>
    </Table.Tr>
  );
}

interface ActsProps {
  roomId: string;
  person: Person;
  name: string;
}

function WaitingActs({ roomId, person: { identity }, name }: ActsProps) {
  const { t } = useTranslation('rooms');
  const params = { path: { id: roomId, identity } };
  const done = { onSettled: refreshRoom };
  const admit = $api.useMutation('post', '/rooms/{id}/participants/{identity}/admit', done);
  const deny = $api.useMutation('post', '/rooms/{id}/participants/{identity}/deny', done);
  return (
    <Group gap="xs">
      <EditButton
        size="sm"
        loading={admit.isPending}
        aria-label={t('people.admitWho', { name })}
        onClick={() => admit.mutate({ params })}
      >
        {t('people.admit')}
      </EditButton>
      <EditButton
        size="sm"
        variant="default"
        loading={deny.isPending}
        aria-label={t('people.denyWho', { name })}
        onClick={() => deny.mutate({ params })}
      >
        {t('people.deny')}
      </EditButton>
    </Group>
  );
}

function PresentActs({ roomId, person: { identity, tracks }, name }: ActsProps) {
  const { t } = useTranslation('rooms');
  const params = { path: { id: roomId, identity } };
  const done = { onSettled: refreshRoom };
  const mute = $api.useMutation('post', '/rooms/{id}/participants/{identity}/mute', done);
  const kick = $api.useMutation('delete', '/rooms/{id}/participants/{identity}', done);
  const isHeard = tracks.some(({ source, muted }) => source === 'MICROPHONE' && !muted);
  return (
    <Group gap="xs">
      {isHeard && (
        <EditButton
          size="sm"
          variant="default"
          loading={mute.isPending}
          aria-label={t('people.muteWho', { name })}
          onClick={() => mute.mutate({ params, body: { kind: 'AUDIO' } })}
        >
          {t('people.mute')}
        </EditButton>
      )}
      <ConfirmAction
        size="sm"
        label={t('people.remove')}
        title={t('people.removeWho', { name })}
        text={t('people.removeMeans')}
        isPending={kick.isPending}
        onConfirm={() => kick.mutateAsync({ params })}
      />
    </Group>
  );
}

import { Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';

const REFRESH_MS = 10_000;

const KNOWN_ERRORS = [
  'DURATION_EXCEEDED',
  'QUOTA_EXCEEDED',
  'UNSUPPORTED_CODEC',
  'NO_TRANSCODE_CAPACITY',
  'RESOLUTION_CHANGED',
  'BITRATE_OVER_PLAN',
] as const;

/** Lists past broadcasts: time, duration, viewers, recording, and why a broadcast was cut off. */
export function SessionsList({ streamId }: { streamId: string }) {
  const { t } = useTranslation('live');
  const query = $api.useInfiniteQuery(
    'get',
    '/streams/{id}/sessions',
    { params: { path: { id: streamId }, query: { limit: 25 } } },
    pollEvery(REFRESH_MS),
  );
  return (
    <CursorList query={query} empty={<Text>{t('sessions.empty')}</Text>}>
      {(rows) => (
        <Stack>
          <SessionTable rows={rows} />
          <TimeZoneNote />
        </Stack>
      )}
    </CursorList>
  );
}

function SessionTable({ rows }: { rows: Shape<'StreamSession'>[] }) {
  const { t } = useTranslation('live');
  return (
    <Table aria-label={t('tab.sessions')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('sessions.started')}</Table.Th>
          <Table.Th>{t('sessions.duration')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('sessions.peak')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('sessions.unique')}</Table.Th>
          <Table.Th>{t('sessions.outcome')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((session) => (
          <SessionRow key={session.id} session={session} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function SessionRow({ session }: { session: Shape<'StreamSession'> }) {
  const { dateTime, duration, exact, number } = useFormat();
  const startedAt = session.broadcastStartedAt ?? session.signalStartedAt;
  return (
    <Table.Tr>
      <Table.Td>
        <time dateTime={startedAt} title={exact(startedAt)}>
          {dateTime(startedAt)}
        </time>
      </Table.Td>
      <Table.Td>
        {session.durationSec === null ? <Unfinished session={session} /> : duration(session.durationSec)}
      </Table.Td>
      <Table.Td visibleFrom="sm">{number(session.peakViewers)}</Table.Td>
      <Table.Td visibleFrom="sm">{number(session.uniqueViewers)}</Table.Td>
      <Table.Td>
        <Outcome session={session} />
      </Table.Td>
    </Table.Tr>
  );
}

function Unfinished({ session }: { session: Shape<'StreamSession'> }) {
  const { t } = useTranslation('live');
  if (session.broadcastStartedAt === null) return t('sessions.previewOnly');
  return session.broadcastEndedAt === null ? t('sessions.running') : t('sessions.noMedia');
}

function Outcome({ session: { error, recordingVideoId } }: { session: Shape<'StreamSession'> }) {
  const { t } = useTranslation('live');
  const known = KNOWN_ERRORS.find((code) => code === error);
  return (
    <>
      {recordingVideoId !== null && (
        <TextLink to="/videos/$id" params={{ id: recordingVideoId }}>
          {t('sessions.recording')}
        </TextLink>
      )}
      {error !== null && <Text size="sm">{known === undefined ? error : t(`sessionError.${known}`)}</Text>}
      {recordingVideoId === null && error === null && t('sessions.noRecording')}
    </>
  );
}

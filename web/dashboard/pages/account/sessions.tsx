import { Badge, Group, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { useFormat } from '../../components/format.ts';
import { RelativeTime } from '../../components/relative-time.tsx';

/** Lists the user's sessions, each of which can be ended remotely. */
export function Sessions() {
  const { t } = useTranslation('account');
  const sessions = $api.useInfiniteQuery('get', '/auth/sessions', {}, byCursor);
  return (
    <CursorList query={sessions} empty={<Text>{t('sessions.none')}</Text>}>
      {(rows) => (
        <Stack>
          {rows.map((session) => (
            <SessionRow key={session.id} session={session} />
          ))}
        </Stack>
      )}
    </CursorList>
  );
}

function SessionRow({ session }: { session: Shape<'Session'> }) {
  const { t } = useTranslation('account');
  const { dateTime } = useFormat();
  const end = $api.useMutation('delete', '/auth/sessions/{id}', {
    onSuccess: () => queries.invalidateQueries({ queryKey: ['get', '/auth/sessions'] }),
  });
  return (
    <Group justify="space-between">
      <Stack gap={2} miw={0} flex="1 1 16rem">
        <Text className="breaks">{session.userAgent || t('sessions.unknown')}</Text>
        <Text size="sm" c="dimmed" className="breaks">
          {session.ip !== null && `${session.ip} · `}
          {t('sessions.since', { at: dateTime(session.createdAt) })}
          {' · '}
          {t('sessions.seen')} <RelativeTime at={session.lastSeenAt} />
        </Text>
      </Stack>
      {session.isCurrent ? (
        <Badge variant="light" color="green">
          {t('sessions.this')}
        </Badge>
      ) : (
        <ConfirmAction
          label={t('sessions.end')}
          title={t('sessions.endTitle')}
          text={t('sessions.endText')}
          onConfirm={() => end.mutateAsync({ params: { path: { id: session.id } } })}
          isPending={end.isPending}
        />
      )}
    </Group>
  );
}

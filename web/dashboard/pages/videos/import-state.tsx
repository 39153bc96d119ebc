import { Alert, Code, Group, Progress, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { useFormat } from '../../components/format.ts';

const POLL_MS = 2000;

function isUnderWay({ status }: Shape<'Import'>): boolean {
  return status === 'PENDING' || status === 'DOWNLOADING';
}

/** Shows the source of an import and its progress. */
export function ImportState({ importId }: { importId: string }) {
  const { t } = useTranslation('videos');
  const query = $api.useQuery(
    'get',
    '/imports/{id}',
    { params: { path: { id: importId } } },
    {
      refetchInterval: ({ state: { data } }) =>
        data !== undefined && isUnderWay(data.data) ? POLL_MS : false,
    },
  );
  const found = query.data?.data;
  if (found === undefined) return null;
  return (
    <Stack gap="xs">
      <Text size="sm" className="breaks">
        {t('import.from')} <bdi>{found.sourceUrl}</bdi>
      </Text>
      {isUnderWay(found) && <Download found={found} />}
      {(found.status === 'FAILED' || found.status === 'CANCELED') && <Ended found={found} />}
    </Stack>
  );
}

function Download({ found }: { found: Shape<'Import'> }) {
  const { t } = useTranslation('videos');
  const { bytes } = useFormat();
  const cancel = $api.useMutation('post', '/imports/{id}/cancel', { onSuccess: refresh });
  const size = found.bytesTotal === null ? t('unfinished.unknown') : bytes(found.bytesTotal);
  return (
    <>
      <Progress.Root size="lg">
        <Progress.Section value={found.progressPercent} aria-label={t('import.progress')} />
      </Progress.Root>
      <Group justify="space-between">
        <Text size="sm">{t('queue.sent', { sent: bytes(found.bytesReceived), size })}</Text>
        <EditButton
          variant="default"
          loading={cancel.isPending}
          onClick={() => cancel.mutate({ params: { path: { id: found.id } } })}
        >
          {t('import.stop')}
        </EditButton>
      </Group>
    </>
  );
}

function Ended({ found }: { found: Shape<'Import'> }) {
  const { t } = useTranslation('videos');
  const navigate = useNavigate();
  const retry = $api.useMutation('post', '/imports/{id}/retry', {
    onSuccess: async ({ data: { videoId } }) => {
      await refresh();
      // Processing had begun, so the retry has created another video.
      if (videoId !== null) await navigate({ to: '/videos/$id', params: { id: videoId } });
    },
  });
  return (
    <Alert color="red" title={found.status === 'CANCELED' ? t('import.canceled') : t('import.failed')}>
      <Stack align="flex-start" gap="xs">
        {found.error !== null && (
          <Text size="sm" className="breaks">
            <Code>{found.error.code}</Code> {found.error.message}
          </Text>
        )}
        <EditButton
          variant="default"
          loading={retry.isPending}
          onClick={() => retry.mutate({ params: { path: { id: found.id } } })}
        >
          {t('import.again')}
        </EditButton>
      </Stack>
    </Alert>
  );
}

async function refresh(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['get', '/imports/{id}'] });
  await queries.invalidateQueries({ queryKey: ['get', '/videos/{id}'] });
  await queries.invalidateQueries({ queryKey: ['get', '/videos'] });
}

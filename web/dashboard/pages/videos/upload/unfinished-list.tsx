import { Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../../app/api.ts';
import { useMode } from '../../../app/mode.ts';
import type { Shape } from '../../../app/shape.ts';
import { useStore } from '../../../app/store.ts';
import { ConfirmAction } from '../../../components/confirm-action.tsx';
import { useFormat } from '../../../components/format.ts';
import { TextLink } from '../../../components/links.tsx';
import { Panel } from '../../../components/panel.tsx';
import { RelativeTime } from '../../../components/relative-time.tsx';
import { items } from './items.ts';
import { resumeUpload } from './queue.ts';

const MAX_SHOWN = 100;

/** Lists unfinished uploads of this and other browsers; choosing the file resumes one at its offset. */
export function UnfinishedList() {
  const { t } = useTranslation('videos');
  const mode = useMode();
  const here = new Set(
    useStore(items)
      .filter((item) => item.mode === mode)
      .map(({ uploadId }) => uploadId),
  );
  const query = $api.useQuery('get', '/upload', {
    params: { query: { status: ['WAITING', 'UPLOADING'], limit: MAX_SHOWN } },
  });
  const rows = query.data?.data.filter(({ id }) => !here.has(id)) ?? [];
  if (rows.length === 0) return null;
  return (
    <Panel title={t('unfinished.title')}>
      <Text size="sm">{t('unfinished.text')}</Text>
      <Stack component="ul" className="upload-queue">
        {rows.map((upload) => (
          <Unfinished key={upload.id} upload={upload} />
        ))}
      </Stack>
    </Panel>
  );
}

function Unfinished({ upload }: { upload: Shape<'Upload'> }) {
  const { t } = useTranslation('videos');
  const { bytes } = useFormat();
  const { filename, receivedBytes, sizeBytes, expiresAt, videoId } = upload;
  const [isOther, setOther] = useState(false);
  const choose = (file: File | null) => {
    if (file === null) return;
    const fits = file.name === filename && (sizeBytes === null || file.size === sizeBytes);
    setOther(!fits);
    if (fits) resumeUpload(upload, file);
  };
  return (
    <Stack component="li" gap={6}>
      <TextLink to="/videos/$id" params={{ id: videoId }} className="breaks" fw={500}>
        <bdi>{filename}</bdi>
      </TextLink>
      <Text size="sm" c="dimmed">
        {t('queue.sent', {
          sent: bytes(receivedBytes),
          size: sizeBytes === null ? t('unfinished.unknown') : bytes(sizeBytes),
        })}{' '}
        · {t('unfinished.expires')} <RelativeTime at={expiresAt} />
      </Text>
      <Text size="sm" c="var(--mantine-color-error)" role="alert">
        {isOther && t('unfinished.other')}
      </Text>
      <Group>
        <FileButton onChange={choose}>
          {(props) => (
            <Button {...props} variant="default" aria-label={t('unfinished.resumeFile', { name: filename })}>
              {t('unfinished.resume')}
            </Button>
          )}
        </FileButton>
        <GiveUp upload={upload} />
      </Group>
    </Stack>
  );
}

async function refresh(): Promise<void> {
  await queries.invalidateQueries({ queryKey: ['get', '/upload'] });
  await queries.invalidateQueries({ queryKey: ['get', '/videos'] });
}

/** Cancels an upload and deletes its draft; a video with a file to replace is not deleted. */
function GiveUp({ upload: { videoId: id, replaces } }: { upload: Shape<'Upload'> }) {
  const { t } = useTranslation('videos');
  const remove = $api.useMutation('delete', '/videos/{id}', { onSuccess: refresh });
  const cancel = $api.useMutation('delete', '/videos/{id}/replacement', { onSuccess: refresh });
  const { isPending, mutateAsync } = replaces ? cancel : remove;
  return (
    <ConfirmAction
      variant="subtle"
      label={t('queue.cancel')}
      title={t('queue.cancelTitle')}
      text={replaces ? t('replace.cancelText') : t('queue.cancelText')}
      isPending={isPending}
      onConfirm={() => mutateAsync({ params: { path: { id } } })}
    />
  );
}

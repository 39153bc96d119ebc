import { Button, Code, Group, Progress, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, queries } from '../../../app/api.ts';
import { errorMessage } from '../../../app/error-message.ts';
import { useMode } from '../../../app/mode.ts';
import { useStore } from '../../../app/store.ts';
import { showError } from '../../../app/toasts.ts';
import { ConfirmAction } from '../../../components/confirm-action.tsx';
import { useFormat } from '../../../components/format.ts';
import { TextLink } from '../../../components/links.tsx';
import { Panel } from '../../../components/panel.tsx';
import { refreshVideo } from '../refresh.ts';
import { isUnfinished, items, type UploadItem } from './items.ts';
import { continueUpload, dismissUpload, pauseUpload, pump } from './queue.ts';
import { remainingSec } from './speed.ts';

/** Lists the files queued in this tab, or the unfinished one of a video, each with its state and actions. */
export function QueueList({ videoId }: { videoId?: string }) {
  const { t } = useTranslation('videos');
  const mode = useMode();
  const own = useStore(items).filter(
    (item) =>
      item.mode === mode && (videoId === undefined || (item.videoId === videoId && item.state !== 'done')),
  );
  // Start uploads that waited for this workspace to be shown.
  useEffect(pump, []);
  if (own.length === 0) return null;
  return (
    <Panel title={t('queue.title')}>
      {own.some(isUnfinished) && <Text size="sm">{t('queue.stay')}</Text>}
      <Stack component="ul" className="upload-queue">
        {own.map((item) => (
          <QueueItem key={item.key} item={item} />
        ))}
      </Stack>
    </Panel>
  );
}

function QueueItem({ item }: { item: UploadItem }) {
  const { t } = useTranslation('videos');
  const { state, file, sentBytes, videoId, failure } = item;
  const percent = file.size === 0 ? 0 : (sentBytes / file.size) * 100;
  return (
    <Stack component="li" gap={6}>
      <Group justify="space-between">
        <Text fw={500} className="breaks" flex={1} miw={0}>
          <bdi>{file.name}</bdi>
        </Text>
        {videoId !== null && (
          <TextLink to="/videos/$id" params={{ id: videoId }}>
            {state === 'done' ? t('queue.open') : t('queue.describe')}
          </TextLink>
        )}
      </Group>
      <Progress.Root size="lg">
        <Progress.Section
          value={percent}
          color={state === 'failed' ? 'red' : state === 'done' ? 'green' : 'marquee'}
          aria-label={t('queue.progress', { name: file.name })}
        />
      </Progress.Root>
      <Text size="sm" role="status">
        {t(`state.${state}`)}
      </Text>
      <Figures item={item} />
      {failure !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role={state === 'failed' ? 'alert' : undefined}>
          {errorMessage(failure)} <Code>{failure.code}</Code>
        </Text>
      )}
      <Actions item={item} />
    </Stack>
  );
}

function Figures({ item: { state, file, sentBytes, speed, retryAt } }: { item: UploadItem }) {
  const { t } = useTranslation('videos');
  const { bytes, duration } = useFormat();
  const left = remainingSec(file.size - sentBytes, speed);
  const parts = [t('queue.sent', { sent: bytes(sentBytes), size: bytes(file.size) })];
  if (state === 'sending' && speed !== null) parts.push(t('queue.speed', { speed: bytes(speed) }));
  if (state === 'sending' && left !== null) parts.push(t('queue.left', { time: duration(left) }));
  return (
    <Text size="sm" c="dimmed">
      {parts.join(' · ')} {state === 'waiting' && retryAt !== null && <Countdown to={retryAt} />}
    </Text>
  );
}

const SECOND_MS = 1000;

function Countdown({ to }: { to: number }) {
  const { t } = useTranslation('videos');
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return t('queue.retryIn', { count: Math.max(0, Math.ceil((to - now) / SECOND_MS)) });
}

function Actions({ item }: { item: UploadItem }) {
  const { t } = useTranslation('videos');
  const { key, state, file, replaces } = item;
  const isRunning = state === 'sending' || state === 'preparing' || state === 'queued';
  const name = file.name;
  if (state === 'done') {
    return (
      <Group>
        <Button
          variant="default"
          onClick={() => dismissUpload(key)}
          aria-label={t('queue.dismissFile', { name })}
        >
          {t('queue.dismiss')}
        </Button>
      </Group>
    );
  }
  return (
    <Group>
      {!isRunning && (
        <Button
          variant="default"
          onClick={() => continueUpload(key)}
          aria-label={t('queue.resumeFile', { name })}
        >
          {state === 'paused' ? t('queue.resume') : t('queue.retry')}
        </Button>
      )}
      {(isRunning || state === 'waiting') && (
        <Button
          variant="default"
          onClick={() => pauseUpload(key)}
          aria-label={t('queue.pauseFile', { name })}
        >
          {t('queue.pause')}
        </Button>
      )}
      <ConfirmAction
        variant="subtle"
        label={t('queue.cancel')}
        title={t('queue.cancelTitle')}
        text={replaces ? t('replace.cancelText') : t('queue.cancelText')}
        onConfirm={() => cancel(item)}
      />
    </Group>
  );
}

/** Cancels an upload and deletes its draft; a video with a file to replace is not deleted. */
async function cancel({ key, videoId, uploadId, replaces }: UploadItem): Promise<void> {
  pauseUpload(key);
  // A rejected replacement has no session to cancel.
  if (videoId !== null && (!replaces || uploadId !== null)) {
    const params = { path: { id: videoId } };
    const end = replaces
      ? api.DELETE('/videos/{id}/replacement', { params })
      : api.DELETE('/videos/{id}', { params });
    await end.catch((error: unknown) => {
      showError(error);
      throw error;
    });
  }
  dismissUpload(key);
  void refreshVideo();
  void queries.invalidateQueries({ queryKey: ['get', '/upload'] });
}

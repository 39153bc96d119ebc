import { Group, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { useMode } from '../../app/mode.ts';
import { serverNow } from '../../app/server-clock.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { refreshStream } from './refresh.ts';
import { TestSignal } from './test-signal.tsx';

type Props = { stream: Shape<'Stream'> };

/** Starts and stops the broadcast, and describes what viewers see now. */
export function BroadcastControl({ stream }: Props) {
  const { t } = useTranslation('live');
  const mode = useMode();
  return (
    <Panel title={t('control.title')}>
      <Text role="status">{t(`means.${stream.status}`)}</Text>
      {stream.isLive && <LiveFacts stream={stream} />}
      <Group>
        {stream.isLive ? <Stop stream={stream} /> : <GoLive stream={stream} />}
        {mode === 'test' && <TestSignal stream={stream} />}
      </Group>
    </Panel>
  );
}

function GoLive({ stream: { id, hasSignal, enabled } }: Props) {
  const { t } = useTranslation('live');
  const start = $api.useMutation('post', '/streams/{id}/start', { onSuccess: refreshStream });
  const variables = { params: { path: { id } } };
  if (!enabled) return null;
  if (hasSignal) {
    return (
      <EditButton size="lg" loading={start.isPending} onClick={() => start.mutate(variables)}>
        {t('control.start')}
      </EditButton>
    );
  }
  return (
    <ConfirmAction
      size="lg"
      color="marquee"
      label={t('control.start')}
      title={t('control.blindTitle')}
      text={t('control.blindText')}
      isPending={start.isPending}
      onConfirm={() => start.mutateAsync(variables)}
    />
  );
}

function Stop({ stream: { id, record } }: Props) {
  const { t } = useTranslation('live');
  const stop = $api.useMutation('post', '/streams/{id}/stop', { onSuccess: refreshStream });
  return (
    <ConfirmAction
      size="lg"
      variant="filled"
      label={t('control.stop')}
      title={t('control.stopTitle')}
      text={record ? t('control.stopRecorded') : t('control.stopText')}
      isPending={stop.isPending}
      onConfirm={() => stop.mutateAsync({ params: { path: { id } } })}
    />
  );
}

function LiveFacts({ stream: { startedAt, viewerCount, peakViewers } }: Props) {
  const { t } = useTranslation('live');
  const { number } = useFormat();
  const facts: DescriptionItem[] = [
    { label: t('control.onFor'), value: startedAt === null ? '–' : <Elapsed since={startedAt} /> },
    { label: t('control.viewers'), value: number(viewerCount) },
    { label: t('control.peak'), value: number(peakViewers) },
  ];
  return <DescriptionList facts={facts} />;
}

const SECOND_MS = 1000;

function Elapsed({ since }: { since: string }) {
  const { duration } = useFormat();
  const [now, setNow] = useState(serverNow);
  useEffect(() => {
    const timer = setInterval(() => setNow(serverNow()), SECOND_MS);
    return () => clearInterval(timer);
  }, []);
  return duration((now - Date.parse(since)) / SECOND_MS);
}

import { Group, List, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { TextLink } from '../../components/links.tsx';
import { Panel } from '../../components/panel.tsx';
import { refreshRoom } from './refresh.ts';

/** Starts and stops a recording, and links to the videos of earlier ones. */
export function RecordingPanel({ room }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  const done = { onSettled: refreshRoom };
  const start = $api.useMutation('post', '/rooms/{id}/recording/start', done);
  const stop = $api.useMutation('post', '/rooms/{id}/recording/stop', done);
  const { id, recording, recordEnabled, canRecord, status, recordingVideoIds } = room;
  const params = { path: { id } };
  return (
    <Panel title={t('recording.title')}>
      <Text role="status">{recording ? t('recording.on') : t('recording.off')}</Text>
      {!recordEnabled && status !== 'ENDED' && <Text size="sm">{t('recording.notEnabled')}</Text>}
      {recordEnabled && !canRecord && status !== 'ENDED' && <Text size="sm">{t('recording.cannot')}</Text>}
      {status === 'ACTIVE' && canRecord && (
        <Group>
          {recording ? (
            <EditButton loading={stop.isPending} onClick={() => stop.mutate({ params })}>
              {t('recording.stop')}
            </EditButton>
          ) : (
            <EditButton variant="default" loading={start.isPending} onClick={() => start.mutate({ params })}>
              {t('recording.start')}
            </EditButton>
          )}
        </Group>
      )}
      {recordingVideoIds.length > 0 && (
        <List>
          {recordingVideoIds.map((videoId, index) => (
            <List.Item key={videoId}>
              <TextLink to="/videos/$id" params={{ id: videoId }}>
                {t('recording.video', { number: index + 1 })}
              </TextLink>
            </List.Item>
          ))}
        </List>
      )}
    </Panel>
  );
}

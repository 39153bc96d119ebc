import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { Panel } from '../../components/panel.tsx';
import { PlayerFrame, PlayerPlaceholder } from '../../components/player-frame.tsx';

/** Shows the incoming signal before and during the broadcast, always in the same place. */
export function PreviewPanel({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const src = previewPath(stream);
  return (
    <Panel title={t('preview.title')}>
      {src === null ? (
        <PlayerPlaceholder>
          <Text fw={600}>{stream.isLive ? t('preview.lost') : t('preview.none')}</Text>
          <Text c="dimmed">{stream.isLive ? t('preview.lostText') : t('preview.noneText')}</Text>
        </PlayerPlaceholder>
      ) : (
        <>
          <PlayerFrame src={src} title={t('preview.player')} />
          <Text size="sm" c="dimmed">
            {stream.isLive ? t('preview.behindLive') : t('preview.behind')}
          </Text>
        </>
      )}
    </Panel>
  );
}

/** The embedded player with the token of the preview, which is the same for an hour. */
function previewPath({ id, previewUrl }: Shape<'Stream'>): string | null {
  const token = previewUrl === null ? null : new URL(previewUrl).searchParams.get('token');
  return token === null ? null : `/embed/${id}?token=${encodeURIComponent(token)}`;
}

import { Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useParams } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ownPath } from '../../components/addresses.ts';
import { EditorsOnly } from '../../components/change-button.tsx';
import { ClipOfVideo } from '../../components/clip-panel.tsx';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { PlayerFrame, PlayerPlaceholder } from '../../components/player-frame.tsx';
import { ShareFields } from '../../components/share-fields.tsx';
import { TakedownNotice } from '../../components/takedown-notice.tsx';
import { CaptionsPanel } from './captions-panel.tsx';
import { DeleteVideo } from './delete-video.tsx';
import { DetailsForm } from './details-form.tsx';
import { DownloadPanel } from './download-panel.tsx';
import { ProcessingPanel } from './processing-panel.tsx';
import { PublishPanel } from './publish-panel.tsx';
import { ReplacePanel } from './replace-panel.tsx';
import { isInProgress, StatusBadge } from './status-badge.tsx';
import { QueueList } from './upload/queue-list.tsx';

const POLL_MS = 2000;

/** One video: watch it, follow its processing, describe, publish and share it. */
export function VideoPage() {
  const { t } = useTranslation('videos');
  const { id } = useParams({ from: '/workspace/videos/$id' });
  const query = $api.useQuery(
    'get',
    '/videos/{id}',
    { params: { path: { id } } },
    {
      refetchInterval: ({ state: { data } }) =>
        data !== undefined && isInProgress(data.data) ? POLL_MS : false,
    },
  );
  const video = query.data?.data;
  return (
    <Stack>
      <Group>
        <TextLink to="/videos" size="sm">
          {t('page.back')}
        </TextLink>
        <TextLink to="/analytics/videos/$id" params={{ id }} size="sm">
          {t('page.analytics')}
        </TextLink>
      </Group>
      <PageHeader
        title={video?.title ?? t('page.title')}
        description={<IdLine id={id} label={t('page.copyId')} />}
        actions={video && <StatusBadge video={video} />}
      />
      <QueueList videoId={id} />
      <Loaded query={query}>{({ data }) => <VideoView key={data.id} video={data} />}</Loaded>
    </Stack>
  );
}

function VideoView({ video }: { video: Shape<'Video'> }) {
  const { t } = useTranslation('videos');
  return (
    <>
      <TakedownNotice takedown={video.takedown} title={t('takedown.title')} text={t('takedown.text')} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Stack>
          <PlayerPanel video={video} />
          <ProcessingPanel video={video} />
          {video.status === 'READY' && (
            <EditorsOnly>
              <ClipOfVideo video={video} />
            </EditorsOnly>
          )}
        </Stack>
        <Stack>
          <PublishPanel video={video} />
          <ShareVideo video={video} />
          <DownloadPanel video={video} />
          <CaptionsPanel video={video} />
          <ReplacePanel video={video} />
        </Stack>
      </SimpleGrid>
      <DetailsForm video={video} />
      <DeleteVideo video={video} />
    </>
  );
}

function PlayerPanel({ video }: { video: Shape<'Video'> }) {
  const { t } = useTranslation('videos');
  const { playbackUrl, embedUrl, visibility, uploadId } = video;
  // A replaced file has another session, with which the player restarts.
  const src = useSteady(
    `${playbackUrl !== null}:${visibility}:${uploadId}`,
    embedUrl === null ? null : ownPath(embedUrl),
  );
  return (
    <Panel title={t('player.title')}>
      {playbackUrl === null || src === null ? (
        <PlayerPlaceholder>
          <Text fw={600}>{video.status === 'FAILED' ? t('player.failed') : t('player.waits')}</Text>
          <Text c="dimmed">{video.status === 'FAILED' ? t('player.failedText') : t('player.waitsText')}</Text>
        </PlayerPlaceholder>
      ) : (
        <PlayerFrame src={src} title={t('player.frame')} />
      )}
    </Panel>
  );
}

/** Returns the first value for each `key`: a new token in the URL must not restart the player. */
function useSteady<T>(key: string, value: T): T {
  const [kept, setKept] = useState({ key, value });
  if (kept.key === key) return kept.value;
  setKept({ key, value });
  return value;
}

const TOKEN_SEC = 43_200;

function ShareVideo({ video: { id, title, embedUrl, visibility } }: { video: Shape<'Video'> }) {
  const { t } = useTranslation('videos');
  const make = $api.useMutation('post', '/videos/{id}/playback-tokens');
  if (embedUrl === null) return null;
  return (
    <Panel title={t('share.title')}>
      <ShareFields
        title={title}
        embedUrl={embedUrl}
        visibility={visibility}
        makeLinks={async () =>
          (await make.mutateAsync({ params: { path: { id } }, body: { ttlSec: TOKEN_SEC } })).data
        }
      />
    </Panel>
  );
}

import { Group, SimpleGrid, Stack, Tabs } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditorsOnly } from '../../components/change-button.tsx';
import { ClipOfStream } from '../../components/clip-panel.tsx';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Panel } from '../../components/panel.tsx';
import { ShareFields } from '../../components/share-fields.tsx';
import { TakedownNotice } from '../../components/takedown-notice.tsx';
import { BroadcastControl } from './broadcast-control.tsx';
import { ConnectPanel } from './connect-panel.tsx';
import { DeleteStream } from './delete-stream.tsx';
import { PreviewPanel } from './preview-panel.tsx';
import { RecipesPanel } from './recipes-panel.tsx';
import { STREAM_TABS } from './search.ts';
import { SessionsList } from './sessions-list.tsx';
import { SettingsForm } from './settings-form.tsx';
import { SignalPanel } from './signal-panel.tsx';
import { StatusBadge } from './status-badge.tsx';

const POLL_MS = 2000;

/**
 * Shows one stream: connect an encoder, check the signal, go live, stop. Its data is at most two seconds old.
 */
export function StreamPage() {
  const { t } = useTranslation('live');
  const { id } = useParams({ from: '/workspace/live/$id' });
  const query = $api.useQuery(
    'get',
    '/streams/{id}',
    { params: { path: { id } } },
    { refetchInterval: ({ state }) => (state.error === null ? POLL_MS : false) },
  );
  const stream = query.data?.data;
  return (
    <Stack>
      <Group>
        <TextLink to="/live" size="sm">
          {t('page.back')}
        </TextLink>
        <TextLink to="/analytics/streams/$id" params={{ id }} size="sm">
          {t('page.analytics')}
        </TextLink>
      </Group>
      <PageHeader
        title={stream?.title ?? t('page.title')}
        description={<IdLine id={id} label={t('page.copyId')} />}
        actions={stream && <StatusBadge status={stream.status} />}
      />
      <Loaded query={query}>{({ data }) => <Studio stream={data} />}</Loaded>
    </Stack>
  );
}

function Studio({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  return (
    <>
      <TakedownNotice takedown={stream.takedown} title={t('takedown.title')} text={t('takedown.text')} />
      <SimpleGrid cols={{ base: 1, lg: 2 }}>
        <Stack>
          <PreviewPanel stream={stream} />
          <BroadcastControl stream={stream} />
          {stream.isLive && stream.startedAt !== null && (
            <EditorsOnly>
              <ClipOfStream stream={stream} />
            </EditorsOnly>
          )}
          <SignalPanel stream={stream} />
        </Stack>
        <Stack>
          <ConnectPanel stream={stream} />
          <RecipesPanel stream={stream} />
        </Stack>
      </SimpleGrid>
      <StreamTabs stream={stream} />
    </>
  );
}

function StreamTabs({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const { tab = 'share' } = useSearch({ from: '/workspace/live/$id' });
  const navigate = useNavigate({ from: '/live/$id' });
  const choose = (value: string | null) => {
    const next = STREAM_TABS.find((name) => name === value);
    void navigate({ search: next === undefined ? {} : { tab: next }, replace: true, resetScroll: false });
  };
  return (
    <Tabs value={tab} onChange={choose} keepMounted={false}>
      <Tabs.List mb="md">
        {STREAM_TABS.map((name) => (
          <Tabs.Tab key={name} value={name}>
            {t(`tab.${name}`)}
          </Tabs.Tab>
        ))}
      </Tabs.List>
      <Tabs.Panel value="share">
        <ShareStream stream={stream} />
      </Tabs.Panel>
      <Tabs.Panel value="settings">
        <Stack>
          <SettingsForm stream={stream} />
          <DeleteStream stream={stream} />
        </Stack>
      </Tabs.Panel>
      <Tabs.Panel value="sessions">
        <SessionsList streamId={stream.id} />
      </Tabs.Panel>
    </Tabs>
  );
}

const TOKEN_SEC = 43_200;

function ShareStream({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const make = $api.useMutation('post', '/streams/{id}/playback-tokens');
  return (
    <Panel title={t('tab.share')}>
      <ShareFields
        title={stream.title}
        embedUrl={stream.embedUrl}
        visibility={stream.visibility}
        makeLinks={async () => {
          const path = { id: stream.id };
          return (await make.mutateAsync({ params: { path }, body: { ttlSec: TOKEN_SEC } })).data;
        }}
      />
    </Panel>
  );
}

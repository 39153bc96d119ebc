import { Group, Stack, Tabs, Text } from '@mantine/core';
import { useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { CopyField } from '../../components/copy-field.tsx';
import { useFormat } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { Deliveries } from './deliveries.tsx';
import { Pending } from './pending.tsx';
import { Settings } from './settings.tsx';
import { Simulate } from './simulate.tsx';
import { TABS, type Tab } from './tabs.ts';
import { refreshWebhooks, type Webhook } from './webhook.ts';
import { StateBadge } from './webhooks-page.tsx';

const LOOK_MS = 5000;

export function WebhookPage() {
  const { webhookId } = useParams({ from: '/workspace/webhooks/$webhookId' });
  const webhook = $api.useQuery(
    'get',
    '/me/webhooks/{id}',
    { params: { path: { id: webhookId } } },
    { refetchInterval: LOOK_MS },
  );
  return <Loaded query={webhook}>{({ data }) => <WebhookDetails webhook={data} />}</Loaded>;
}

function WebhookDetails({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks');
  const navigate = useNavigate({ from: '/webhooks/$webhookId' });
  const { tab = 'deliveries' } = useSearch({ from: '/workspace/webhooks/$webhookId' });
  const show = (next: string | null) => {
    const found = TABS.find((name) => name === next);
    const search: { tab?: Tab } = found === undefined || found === 'deliveries' ? {} : { tab: found };
    void navigate({ search, replace: true });
  };
  return (
    <Stack>
      <PageHeader
        title={t('one.title')}
        description={<bdi className="breaks">{webhook.url}</bdi>}
        actions={<SendTest id={webhook.id} />}
      />
      <Group>
        <StateBadge webhook={webhook} />
        <Stats stats={webhook.stats} />
      </Group>
      <CopyField label={t('one.id')} value={webhook.id} />
      <Tabs value={tab} onChange={show} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="deliveries">{t('tab.deliveries')}</Tabs.Tab>
          <Tabs.Tab value="pending">{t('tab.pending', { count: webhook.stats.pendingCount })}</Tabs.Tab>
          <Tabs.Tab value="simulate">{t('tab.simulate')}</Tabs.Tab>
          <Tabs.Tab value="settings">{t('tab.settings')}</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="deliveries">
          <Deliveries webhook={webhook} />
        </Tabs.Panel>
        <Tabs.Panel value="pending">
          <Pending id={webhook.id} />
        </Tabs.Panel>
        <Tabs.Panel value="simulate">
          <Simulate id={webhook.id} />
        </Tabs.Panel>
        <Tabs.Panel value="settings">
          <Settings webhook={webhook} />
        </Tabs.Panel>
      </Tabs>
    </Stack>
  );
}

function Stats({ stats }: { stats: Shape<'WebhookStats'> }) {
  const { t } = useTranslation('webhooks');
  const { number } = useFormat();
  return (
    <Text size="sm">
      {t('list.stats', {
        delivered: number(stats.successCount),
        failed: number(stats.failureCount),
        pending: number(stats.pendingCount),
      })}
      {stats.avgLatencyMs !== null && ` · ${t('one.latency', { ms: number(stats.avgLatencyMs) })}`}
    </Text>
  );
}

/** Sends a `webhook.test` event, and shows the response. */
function SendTest({ id }: { id: string }) {
  const { t } = useTranslation('webhooks');
  const send = $api.useMutation('post', '/me/webhooks/{id}/test', { onSuccess: refreshWebhooks });
  const answer = send.data?.data;
  return (
    <Stack gap={4} align="flex-end">
      <EditButton
        variant="default"
        loading={send.isPending}
        onClick={() => send.mutate({ params: { path: { id } } })}
      >
        {t('one.test')}
      </EditButton>
      <Text size="sm" role="status" className="breaks">
        {answer !== undefined &&
          (answer.status === 'SUCCESS'
            ? t('one.testWorked', { status: answer.responseStatus })
            : t('one.testFailed', { reason: answer.errorMessage ?? answer.responseStatus }))}
      </Text>
    </Stack>
  );
}

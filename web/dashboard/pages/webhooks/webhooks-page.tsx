import { Badge, Group, Paper, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { EditorsOnly } from '../../components/change-button.tsx';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { ButtonLink, TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import type { Webhook } from './webhook.ts';

export function WebhooksPage() {
  const { t } = useTranslation('webhooks');
  const webhooks = $api.useInfiniteQuery('get', '/me/webhooks', {}, byCursor);
  const add = (
    <EditorsOnly>
      <ButtonLink to="/webhooks/new">{t('list.new')}</ButtonLink>
    </EditorsOnly>
  );
  return (
    <Stack>
      <PageHeader title={t('list.title')} description={t('list.description')} actions={add} />
      <CursorList
        query={webhooks}
        empty={
          <EmptyState
            title={t('empty.title')}
            text={t('empty.text')}
            action={add}
            curl={curlLine('POST', '/me/webhooks', { url: 'https://example.com/hook', events: ['stream.*'] })}
          />
        }
      >
        {(rows) => (
          <Stack>
            {rows.map((webhook) => (
              <WebhookCard key={webhook.id} webhook={webhook} />
            ))}
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </Stack>
  );
}

function WebhookCard({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks');
  const { number } = useFormat();
  const { stats } = webhook;
  return (
    <Paper withBorder p="md" component="article" aria-label={webhook.url}>
      <Stack gap={6}>
        <Group gap="xs">
          <TextLink to="/webhooks/$webhookId" params={{ webhookId: webhook.id }} fw={600} className="breaks">
            <bdi>{webhook.url}</bdi>
          </TextLink>
          <StateBadge webhook={webhook} />
        </Group>
        {webhook.description !== '' && (
          <Text size="sm" className="breaks">
            <bdi>{webhook.description}</bdi>
          </Text>
        )}
        <Text size="sm" className="breaks">
          {webhook.events.length === 0 ? t('list.everything') : webhook.events.join(', ')}
        </Text>
        <Text size="sm" c="dimmed">
          {t('list.stats', {
            delivered: number(stats.successCount),
            failed: number(stats.failureCount),
            pending: number(stats.pendingCount),
          })}
          {stats.lastFailureAt !== null && (
            <>
              {` · ${t('list.lastFailure')} `}
              <RelativeTime at={stats.lastFailureAt} />
            </>
          )}
        </Text>
      </Stack>
    </Paper>
  );
}

/** Paused, failing in a row, or working. */
export function StateBadge({ webhook: { isActive, stats } }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks');
  const state = !isActive ? 'paused' : stats.consecutiveFailures > 0 ? 'failing' : 'active';
  const color = { paused: 'gray', failing: 'red', active: 'green' }[state];
  return (
    <Badge color={color} variant="light">
      {t(`state.${state}`)}
    </Badge>
  );
}

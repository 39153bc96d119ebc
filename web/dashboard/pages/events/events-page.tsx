import { Button, Group, NativeSelect, Paper, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';

const LOOK_MS = 5000;

/** Lists the events of the workspace as webhook endpoints receive them. */
export function EventsPage() {
  const { t } = useTranslation('events');
  const navigate = useNavigate({ from: '/events' });
  const { type } = useSearch({ from: '/workspace/events' });
  const types = $api.useQuery('get', '/me/webhooks/events', {}, { staleTime: Number.POSITIVE_INFINITY });
  const events = $api.useInfiniteQuery(
    'get',
    '/me/events',
    { params: { query: type === undefined ? {} : { type: [type] } } },
    pollEvery(LOOK_MS),
  );
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Group>
        <NativeSelect
          label={t('filter')}
          size="md"
          value={type ?? ''}
          data={[{ value: '', label: t('all') }, ...(types.data?.data ?? [])]}
          onChange={({ currentTarget: { value } }) =>
            void navigate({ search: value === '' ? {} : { type: value }, replace: true })
          }
        />
      </Group>
      <CursorList
        query={events}
        empty={
          type === undefined ? (
            <EmptyState title={t('empty')} text={t('emptyText')} curl={curlLine('GET', '/me/events')} />
          ) : (
            <Text>{t('nothing')}</Text>
          )
        }
      >
        {(rows) => (
          <Stack gap="xs">
            {rows.map((event) => (
              <EventRow key={event.id} event={event} />
            ))}
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </Stack>
  );
}

function EventRow({ event }: { event: Shape<'Event'> }) {
  const { t } = useTranslation('events');
  const [isOpen, setOpen] = useState(false);
  return (
    <Paper withBorder p="sm" component="article" aria-label={event.type}>
      <Group justify="space-between">
        <Stack gap={2} miw={0}>
          <Text fw={600} className="breaks">
            {event.type}
          </Text>
          <Text size="sm" c="dimmed">
            <RelativeTime at={new Date(event.created * 1000).toISOString()} />
          </Text>
        </Stack>
        <Button variant="subtle" size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {t('details')}
        </Button>
      </Group>
      {isOpen && <Details event={event} />}
    </Paper>
  );
}

/** The body that receivers get, and which webhooks were to get it. */
function Details({ event }: { event: Shape<'Event'> }) {
  const { t } = useTranslation('events');
  const webhooks = $api.useQuery('get', '/me/webhooks', { params: { query: { limit: 100 } } });
  return (
    <Stack gap="xs" mt="sm">
      <IdLine id={event.id} label={t('copyId')} />
      <pre className="code-line" dir="ltr">
        {JSON.stringify(event, null, 2)}
      </pre>
      {(webhooks.data?.data ?? []).map((webhook) => (
        <TextLink
          key={webhook.id}
          to="/webhooks/$webhookId"
          params={{ webhookId: webhook.id }}
          search={{ eventId: event.id }}
          className="breaks"
        >
          {t('deliveries', { url: webhook.url })}
        </TextLink>
      ))}
    </Stack>
  );
}

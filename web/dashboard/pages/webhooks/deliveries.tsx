import {
  Alert,
  Badge,
  Button,
  Checkbox,
  Code,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Text,
} from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { EditButton } from '../../components/change-button.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { Recover } from './recover.tsx';
import { refreshWebhooks, type Webhook } from './webhook.ts';

type Delivery = Shape<'WebhookDelivery'>;

const ATTEMPTS = 7;
const LOOK_MS = 5000;
const COLORS: Record<Delivery['status'], string> = {
  SUCCESS: 'green',
  FAILED: 'orange',
  EXHAUSTED: 'red',
  CANCELED: 'gray',
};

/** Lists delivery attempts, all or failed ones, with details and replay, for one or many. */
export function Deliveries({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks');
  const navigate = useNavigate({ from: '/webhooks/$webhookId' });
  const { failed = false, eventId } = useSearch({ from: '/workspace/webhooks/$webhookId' });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const query = {
    ...(failed ? { status: ['FAILED', 'EXHAUSTED'] satisfies Delivery['status'][] } : {}),
    ...(eventId === undefined ? {} : { eventId: [eventId] }),
  };
  const deliveries = $api.useInfiniteQuery(
    'get',
    '/me/webhooks/{id}/deliveries',
    { params: { path: { id: webhook.id }, query } },
    pollEvery(LOOK_MS),
  );
  const filter = (value: string) =>
    void navigate({ search: value === 'failed' ? { failed: true } : {}, replace: true });
  const choose = (id: string, isOn: boolean) => {
    const next = new Set(chosen);
    if (isOn) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <Stack>
      <Group justify="space-between">
        <SegmentedControl
          aria-label={t('log.filter')}
          value={failed ? 'failed' : 'all'}
          onChange={filter}
          data={[
            { value: 'all', label: t('log.all') },
            { value: 'failed', label: t('log.failed') },
          ]}
        />
        <Group gap="xs">
          <ReplayMany webhookId={webhook.id} chosen={chosen} onDone={() => setChosen(new Set())} />
          <Recover webhook={webhook} />
        </Group>
      </Group>
      {eventId !== undefined && (
        <Alert title={t('log.ofEvent')}>
          <Group>
            <Code>{eventId}</Code>
            <Button variant="default" size="sm" onClick={() => filter('all')}>
              {t('log.showAll')}
            </Button>
          </Group>
        </Alert>
      )}
      <CursorList
        query={deliveries}
        empty={<EmptyState title={failed ? t('log.noFailure') : t('log.empty')} text={t('log.emptyText')} />}
      >
        {(rows) => (
          <Stack gap="xs">
            {rows.map((row) => (
              <DeliveryRow
                key={row.id}
                row={row}
                isChosen={chosen.has(row.id)}
                onChoose={(isOn) => choose(row.id, isOn)}
              />
            ))}
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </Stack>
  );
}

interface RowProps {
  row: Delivery;
  isChosen: boolean;
  onChoose: (isOn: boolean) => void;
}

function DeliveryRow({ row, isChosen, onChoose }: RowProps) {
  const { t } = useTranslation('webhooks');
  const { number, exact } = useFormat();
  const [isOpen, setOpen] = useState(false);
  const replay = $api.useMutation('post', '/me/webhooks/{id}/deliveries/{deliveryId}/replay', {
    onSuccess: ({ data }) => {
      showSuccess(data.status === 'SUCCESS' ? t('log.replayWorked') : t('log.replayFailed'));
      return refreshWebhooks();
    },
  });
  return (
    <Paper withBorder p="sm" component="article" aria-label={`${row.eventType} ${row.attempt}/${ATTEMPTS}`}>
      <Group justify="space-between" align="flex-start">
        <Group gap="sm" align="flex-start" wrap="nowrap" miw={0} flex="1 1 18rem">
          <Checkbox
            aria-label={t('log.choose', { type: row.eventType })}
            checked={isChosen}
            onChange={(event) => onChoose(event.currentTarget.checked)}
          />
          <Stack gap={2} miw={0}>
            <Group gap="xs">
              <Text fw={600} className="breaks">
                {row.eventType}
              </Text>
              <Badge color={COLORS[row.status]} variant="light">
                {t(`status.${row.status}`)}
              </Badge>
            </Group>
            <Text size="sm">
              {row.trigger === 'EVENT'
                ? t('log.attempt', { attempt: row.attempt, of: ATTEMPTS })
                : t(`trigger.${row.trigger}`)}
              {row.responseStatus !== null && ` · ${t('log.answered', { status: row.responseStatus })}`}
              {row.latencyMs !== null && ` · ${t('log.took', { ms: number(row.latencyMs) })}`}
              {' · '}
              <RelativeTime at={row.createdAt} />
            </Text>
            {row.errorMessage !== null && (
              <Text size="sm" c="var(--mantine-color-error)" className="breaks">
                {row.errorMessage}
              </Text>
            )}
            {row.nextAttemptAt !== null && (
              <Text size="sm">{t('log.next', { at: exact(row.nextAttemptAt) })}</Text>
            )}
          </Stack>
        </Group>
        <Group gap="xs">
          <Button variant="subtle" size="sm" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
            {t('log.details')}
          </Button>
          <EditButton
            variant="default"
            size="sm"
            loading={replay.isPending}
            onClick={() => replay.mutate({ params: { path: { id: row.webhookId, deliveryId: row.id } } })}
          >
            {t('log.replay')}
          </EditButton>
        </Group>
      </Group>
      {isOpen && <Details row={row} />}
    </Paper>
  );
}

function Details({ row }: { row: Delivery }) {
  const { t } = useTranslation('webhooks');
  const event = $api.useQuery('get', '/me/events/{eventId}', { params: { path: { eventId: row.eventId } } });
  return (
    <Stack gap="xs" mt="sm">
      <Group gap={4}>
        <Text size="sm" dir="ltr" className="breaks">
          {t('log.event')} <Code>{row.eventId}</Code>
        </Text>
        <CopyButton value={row.eventId} label={t('log.copyEvent')} />
      </Group>
      {event.data !== undefined && (
        <pre className="code-line" dir="ltr">
          {JSON.stringify(event.data.data, null, 2)}
        </pre>
      )}
      {event.error !== null && <Text size="sm">{t('log.eventGone')}</Text>}
      <Text size="sm" fw={500}>
        {t('log.body')}
      </Text>
      <pre className="code-line" dir="ltr">
        {row.responseBody || t('log.noBody')}
      </pre>
    </Stack>
  );
}

interface ReplayManyProps {
  webhookId: string;
  chosen: ReadonlySet<string>;
  onDone: () => void;
}

/** Replays the selected deliveries one after another, to limit the load on the endpoint. */
function ReplayMany({ webhookId, chosen, onDone }: ReplayManyProps) {
  const { t } = useTranslation('webhooks');
  const replay = useMutation({
    async mutationFn() {
      let worked = 0;
      for (const deliveryId of chosen) {
        const { data } = await api.POST('/me/webhooks/{id}/deliveries/{deliveryId}/replay', {
          params: { path: { id: webhookId, deliveryId } },
        });
        if (data?.data.status === 'SUCCESS') worked += 1;
      }
      return worked;
    },
    onSuccess: (worked) => {
      showSuccess(t('log.replayedMany', { worked, of: chosen.size }));
      onDone();
    },
    onSettled: refreshWebhooks,
  });
  if (chosen.size === 0) return null;
  return (
    <EditButton loading={replay.isPending} onClick={() => replay.mutate()}>
      {t('log.replayMany', { count: chosen.size })}
    </EditButton>
  );
}

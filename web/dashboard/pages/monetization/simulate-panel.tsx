import { Button, Group, NativeSelect, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { showSuccess } from '../../app/toasts.ts';
import { Panel } from '../../components/panel.tsx';

const EVENTS = [
  'RENEWED',
  'PAYMENT_FAILED',
  'PERIOD_ENDED',
  'MEMBER_CANCELED',
  'DISPUTED',
  'DISPUTE_WON',
  'DISPUTE_LOST',
] as const;

/** Simulates events in test mode that would otherwise take a month. */
export function SimulatePanel({ id, onDone }: { id: string; onDone: () => Promise<unknown> }) {
  const { t } = useTranslation('monetization');
  const [event, setEvent] = useState<(typeof EVENTS)[number]>('RENEWED');
  const simulate = $api.useMutation('post', '/me/subscriptions/{id}/simulate', {
    onSuccess: () => {
      showSuccess(t('simulate.done'));
      return onDone();
    },
  });
  return (
    <Panel title={t('simulate.title')}>
      <Text size="sm">{t('simulate.text')}</Text>
      <Group align="flex-end">
        <NativeSelect
          size="md"
          label={t('simulate.event')}
          value={event}
          onChange={({ currentTarget: { value } }) =>
            setEvent(EVENTS.find((known) => known === value) ?? 'RENEWED')
          }
          data={EVENTS.map((value) => ({ value, label: t(`simulation.${value}`) }))}
        />
        <Button
          variant="default"
          loading={simulate.isPending}
          onClick={() => simulate.mutate({ params: { path: { id } }, body: { event } })}
        >
          {t('simulate.run')}
        </Button>
      </Group>
    </Panel>
  );
}

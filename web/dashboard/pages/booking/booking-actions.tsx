import { Group, NativeSelect, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { serverNow } from '../../app/server-clock.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { useFormat } from '../../components/format.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Panel } from '../../components/panel.tsx';

type Props = { booking: Shape<'Booking'> };

function refresh(): Promise<unknown> {
  const paths = ['/booking/bookings', '/booking/bookings/{id}', '/booking/products/{id}/slots'] as const;
  return Promise.all(paths.map((path) => queries.invalidateQueries({ queryKey: ['get', path] })));
}

/** Reschedules a booking to another available slot. */
export function MoveBooking({ booking: { id, productId, startsAt } }: Props) {
  const { t } = useTranslation('booking');
  const { dateTime } = useFormat();
  const [chosen, setChosen] = useState('');
  const query = $api.useQuery('get', '/booking/products/{id}/slots', {
    params: { path: { id: productId } },
  });
  const move = $api.useMutation('post', '/booking/bookings/{id}/reschedule', {
    onSuccess: () => {
      setChosen('');
      showSuccess(t('booking.moved'));
      return refresh();
    },
  });
  return (
    <Panel title={t('booking.move')}>
      <Text>{t('booking.moveText')}</Text>
      <Loaded query={query}>
        {({ data: { slots } }) => {
          const others = slots.filter((slot) => slot.startsAt !== startsAt);
          if (others.length === 0) return <Text>{t('booking.noTimes')}</Text>;
          return (
            <Group align="flex-end">
              <NativeSelect
                size="md"
                label={t('booking.moveTo')}
                value={chosen}
                onChange={({ currentTarget }) => setChosen(currentTarget.value)}
                data={[
                  { value: '', label: t('booking.choose') },
                  ...others.map((slot) => ({ value: slot.startsAt, label: dateTime(slot.startsAt) })),
                ]}
              />
              <EditButton
                variant="default"
                disabled={chosen === ''}
                loading={move.isPending}
                onClick={() => move.mutate({ params: { path: { id } }, body: { startsAt: chosen } })}
              >
                {t('booking.move')}
              </EditButton>
            </Group>
          );
        }}
      </Loaded>
    </Panel>
  );
}

export function CancelBooking({ booking: { id, customer } }: Props) {
  const { t } = useTranslation('booking');
  const [reason, setReason] = useState('');
  const [refund, setRefund] = useState(true);
  const cancel = $api.useMutation('post', '/booking/bookings/{id}/cancel', { onSuccess: refresh });
  const body = { refund, ...(reason.trim() === '' ? {} : { reason }) };
  return (
    <Panel title={t('booking.cancel')}>
      <Stack gap="sm">
        <Text>{t('booking.cancelText')}</Text>
        <TextInput
          label={t('booking.why')}
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
          maxLength={500}
          dir="auto"
        />
        <Switch
          label={t('booking.refund')}
          checked={refund}
          onChange={({ currentTarget }) => setRefund(currentTarget.checked)}
        />
        <div>
          <ConfirmAction
            label={t('booking.cancel')}
            title={t('booking.cancelTitle', { name: customer.name })}
            text={t('booking.cancelText')}
            isPending={cancel.isPending}
            onConfirm={() => cancel.mutateAsync({ params: { path: { id } }, body })}
          />
        </div>
      </Stack>
    </Panel>
  );
}

/** Marks a booking as a no-show; the API allows this once it has begun. */
export function NoShow({ booking: { id, customer, startsAt } }: Props) {
  const { t } = useTranslation('booking');
  const mark = $api.useMutation('post', '/booking/bookings/{id}/no-show', { onSuccess: refresh });
  if (startsAt !== null && new Date(startsAt).getTime() > serverNow()) return null;
  return (
    <Panel title={t('booking.noShow')}>
      <Text>{t('booking.noShowText')}</Text>
      <div>
        <ConfirmAction
          label={t('booking.noShow')}
          title={t('booking.noShowTitle', { name: customer.name })}
          text={t('booking.noShowText')}
          isPending={mark.isPending}
          onConfirm={() => mark.mutateAsync({ params: { path: { id } } })}
        />
      </div>
    </Panel>
  );
}

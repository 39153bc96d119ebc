import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { TextLink, TextOutLink } from '../../components/links.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { BookingBadge } from './badges.tsx';
import { CancelBooking, MoveBooking, NoShow } from './booking-actions.tsx';

/** Shows one booking: its status, the intake answers and the available actions. */
export function Booking({ booking }: { booking: Shape<'Booking'> }) {
  const { t } = useTranslation('booking');
  const { id, customer, status, hostUrl, type } = booking;
  const isConfirmed = status === 'CONFIRMED';
  return (
    <Stack>
      <Panel title={customer.name} actions={<BookingBadge status={status} />}>
        <DescriptionList facts={useFacts(booking)} />
        {isConfirmed && hostUrl !== null && <TextOutLink href={hostUrl}>{t('booking.enter')}</TextOutLink>}
        <TimeZoneNote />
        <IdLine id={id} label={t('booking.copyId')} />
      </Panel>
      <Answers booking={booking} />
      {isConfirmed && type !== 'COHORT' && <MoveBooking booking={booking} />}
      {isConfirmed && <CancelBooking booking={booking} />}
      {(isConfirmed || status === 'COMPLETED') && <NoShow booking={booking} />}
    </Stack>
  );
}

function useFacts(booking: Shape<'Booking'>): DescriptionItem[] {
  const { t } = useTranslation('booking');
  const { dateTime, money } = useFormat();
  const { customer, startsAt, productId, amountCents, refundedCents, currency } = booking;
  const { cancelReason, canceledBy } = booking;
  const product = $api.useQuery('get', '/booking/products/{id}', { params: { path: { id: productId } } });
  return [
    {
      label: t('booking.product'),
      value: (
        <TextLink to="/booking/products/$id" params={{ id: productId }}>
          <bdi>{product.data?.data.title ?? t('booking.show')}</bdi>
        </TextLink>
      ),
    },
    { label: t('booking.when'), value: startsAt === null ? t('booking.sessions') : dateTime(startsAt) },
    { label: t('booking.email'), value: <bdi>{customer.email}</bdi> },
    ...(amountCents === null ? [] : [{ label: t('booking.amount'), value: money(amountCents, currency) }]),
    ...(refundedCents === null || refundedCents === 0
      ? []
      : [{ label: t('booking.refunded'), value: money(refundedCents, currency) }]),
    ...(canceledBy === null
      ? []
      : [{ label: t('booking.canceledBy'), value: t(`canceledBy.${canceledBy}`) }]),
    ...(cancelReason === null ? [] : [{ label: t('booking.reason'), value: <bdi>{cancelReason}</bdi> }]),
  ];
}

/** Lists the intake answers, labeled with the question if the product still has it. */
function Answers({ booking: { intakeAnswers, productId } }: { booking: Shape<'Booking'> }) {
  const { t } = useTranslation('booking');
  const product = $api.useQuery('get', '/booking/products/{id}', { params: { path: { id: productId } } });
  const answers = Object.entries(intakeAnswers ?? {});
  if (answers.length === 0) return null;
  const asked = product.data?.data.intakeFields ?? [];
  const facts = answers.map(([key, answer]) => ({
    label: asked.find((field) => field.key === key)?.label ?? key,
    value:
      typeof answer === 'boolean' ? answer ? t('booking.yes') : t('booking.no') : <bdi>{String(answer)}</bdi>,
  }));
  return (
    <Panel title={t('booking.answers')}>
      <DescriptionList facts={facts} />
    </Panel>
  );
}

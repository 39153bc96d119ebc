import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';

const PRODUCT_COLORS: Record<Shape<'BookingProduct'>['status'], string> = {
  DRAFT: 'yellow',
  PUBLISHED: 'green',
  ARCHIVED: 'gray',
};

export function ProductBadge({ status }: Pick<Shape<'BookingProduct'>, 'status'>) {
  const { t } = useTranslation('booking');
  return (
    <Badge color={PRODUCT_COLORS[status]} variant="light" className="whole">
      {t(`status.${status}`)}
    </Badge>
  );
}

const COHORT_COLORS: Record<Shape<'Cohort'>['status'], string> = {
  SCHEDULED: 'yellow',
  OPEN: 'green',
  FULL: 'orange',
  RUNNING: 'blue',
  COMPLETED: 'gray',
  CANCELED: 'gray',
};

export function CohortBadge({ status }: Pick<Shape<'Cohort'>, 'status'>) {
  const { t } = useTranslation('booking');
  return (
    <Badge color={COHORT_COLORS[status]} variant="light" className="whole">
      {t(`cohortStatus.${status}`)}
    </Badge>
  );
}

const BOOKING_COLORS: Record<Shape<'Booking'>['status'], string> = {
  PENDING_PAYMENT: 'yellow',
  CONFIRMED: 'green',
  COMPLETED: 'blue',
  CANCELED: 'gray',
  NO_SHOW: 'orange',
  EXPIRED: 'gray',
};

export function BookingBadge({ status }: Pick<Shape<'Booking'>, 'status'>) {
  const { t } = useTranslation('booking');
  return (
    <Badge color={BOOKING_COLORS[status]} variant="light" className="whole">
      {t(`bookingStatus.${status}`)}
    </Badge>
  );
}

import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';

type Status = Shape<'Room'>['status'];

const COLORS: Record<Status, string> = { CREATED: 'blue', ACTIVE: 'red', ENDED: 'gray' };

export function StatusBadge({ status }: { status: Status }) {
  const { t } = useTranslation('rooms');
  return (
    <Badge color={COLORS[status]} variant={status === 'ACTIVE' ? 'filled' : 'light'}>
      {t(`status.${status}`)}
    </Badge>
  );
}

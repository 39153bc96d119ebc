import { Badge } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';

type Status = Shape<'Stream'>['status'];

const COLORS: Record<Status, string> = {
  IDLE: 'gray',
  PREVIEW: 'blue',
  LIVE: 'red',
  LIVE_NO_SIGNAL: 'orange',
  DISABLED: 'gray',
};

export function StatusBadge({ status }: { status: Status }) {
  const { t } = useTranslation('live');
  return (
    <Badge className="whole" color={COLORS[status]} variant={status === 'LIVE' ? 'filled' : 'light'}>
      {t(`status.${status}`)}
    </Badge>
  );
}

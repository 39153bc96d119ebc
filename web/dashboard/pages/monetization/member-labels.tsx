import { Badge, Group } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';

type Subscription = Shape<'Subscription'>;

const COLORS: Record<Subscription['status'], string> = {
  TRIALING: 'blue',
  ACTIVE: 'green',
  PAST_DUE: 'orange',
  CANCELED: 'gray',
  EXPIRED: 'gray',
};

/** Shows the status of a membership, and whether its payment is disputed. */
export function MemberBadge({ subscription: { status, isDisputed } }: { subscription: Subscription }) {
  const { t } = useTranslation('monetization');
  return (
    <Group gap={4}>
      <Badge color={COLORS[status]} variant="light" className="whole">
        {t(`memberStatus.${status}`)}
      </Badge>
      {isDisputed && (
        <Badge color="red" variant="light" className="whole">
          {t('member.disputed')}
        </Badge>
      )}
    </Group>
  );
}

/** Returns a function that describes the next change of a subscription and its date. */
export function useNextWords(): (subscription: Subscription) => string {
  const { t } = useTranslation('monetization');
  const { date } = useFormat();
  return ({ endedAt, cancelAtPeriodEnd, currentPeriodEnd, nextChargeAt }) => {
    if (endedAt !== null) return t('member.ended', { at: date(endedAt) });
    if (cancelAtPeriodEnd) return t('member.ends', { at: date(currentPeriodEnd) });
    if (nextChargeAt !== null) return t('member.charged', { at: date(nextChargeAt) });
    return t('member.until', { at: date(currentPeriodEnd) });
  };
}

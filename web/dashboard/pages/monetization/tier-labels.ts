import { useTranslation } from 'react-i18next';
import type { Shape } from '../../app/shape.ts';
import { useFormat } from '../../components/format.ts';

type Interval = Shape<'Tier'>['interval'];

/** "$5.00 a month". */
export function usePriceWords(): (cents: number, interval: Interval) => string {
  const { t } = useTranslation('monetization');
  const { money } = useFormat();
  return (cents, interval) =>
    cents === 0 ? t('price.free') : t(`price.${interval}`, { price: money(cents, 'USD') });
}

export type TierState = 'OPEN' | 'FULL' | 'CLOSED' | 'ARCHIVED';

/** Returns whether the tier accepts new members, or the reason if not. */
export function tierState({ archivedAt, isActive, maxMembers, memberCount }: Shape<'Tier'>): TierState {
  if (archivedAt !== null) return 'ARCHIVED';
  if (!isActive) return 'CLOSED';
  return maxMembers !== null && (memberCount ?? 0) >= maxMembers ? 'FULL' : 'OPEN';
}

import { Group, NativeSelect, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { useMode } from '../../app/mode.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { type DescriptionItem, DescriptionList } from '../../components/description-list.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { Panel } from '../../components/panel.tsx';
import { MemberBadge, useNextWords } from './member-labels.tsx';
import { SalesTable } from './sales-table.tsx';
import { SimulatePanel } from './simulate-panel.tsx';
import { usePriceWords } from './tier-labels.ts';

type Subscription = Shape<'Subscription'>;

const TIERS = 100;

function refresh(): Promise<unknown> {
  const paths = ['/me/subscriptions', '/me/subscriptions/{id}', '/purchases', '/tiers'] as const;
  return Promise.all(paths.map((path) => queries.invalidateQueries({ queryKey: ['get', path] })));
}

/** Shows one subscription: its status, available actions and payments. */
export function Member({ subscription }: { subscription: Subscription }) {
  const mode = useMode();
  const isOver = subscription.endedAt !== null;
  return (
    <Stack>
      <About subscription={subscription} />
      {!isOver && <Acts subscription={subscription} />}
      {!isOver && mode === 'test' && <SimulatePanel id={subscription.id} onDone={refresh} />}
      <Paid id={subscription.id} />
    </Stack>
  );
}

function About({ subscription }: { subscription: Subscription }) {
  const { t } = useTranslation('monetization');
  const { id, subscriberName, subscriberEmail } = subscription;
  return (
    <Panel title={subscriberName ?? subscriberEmail} actions={<MemberBadge subscription={subscription} />}>
      <DescriptionList facts={useFacts(subscription)} />
      <IdLine id={id} label={t('member.copyId')} />
    </Panel>
  );
}

function useFacts(subscription: Subscription): DescriptionItem[] {
  const { t } = useTranslation('monetization');
  const { date } = useFormat();
  const price = usePriceWords();
  const next = useNextWords();
  const { interval, pendingPriceCents, pendingTierId, trialEndsAt, cancelReason, discountCode } =
    subscription;
  const { data } = $api.useQuery('get', '/tiers', { params: { query: { limit: TIERS } } });
  const pending = data?.data.find((tier) => tier.id === pendingTierId)?.name ?? pendingTierId;
  const optional = (label: string, value: string | null) => (value === null ? [] : [{ label, value }]);
  return [
    // The email is the heading of members without a name.
    ...optional(
      t('member.email'),
      subscription.subscriberName === null ? null : subscription.subscriberEmail,
    ),
    { label: t('column.tier'), value: <bdi>{subscription.tierName}</bdi> },
    { label: t('column.price'), value: price(subscription.priceCents, interval) },
    { label: t('column.next'), value: next(subscription) },
    { label: t('column.since'), value: date(subscription.createdAt) },
    ...optional(t('member.trialEnds'), trialEndsAt && date(trialEndsAt)),
    ...optional(t('member.pendingTier'), pending),
    ...optional(
      t('member.pendingPrice'),
      pendingPriceCents === null ? null : price(pendingPriceCents, interval),
    ),
    ...optional(t('column.code'), discountCode),
    ...optional(t('member.reason'), cancelReason && t(`cancelReason.${cancelReason}`)),
  ];
}

function Acts({ subscription }: { subscription: Subscription }) {
  const { t } = useTranslation('monetization');
  const { date } = useFormat();
  const { id, cancelAtPeriodEnd, currentPeriodEnd } = subscription;
  const params = { path: { id } };
  const cancel = $api.useMutation('post', '/me/subscriptions/{id}/cancel', { onSuccess: refresh });
  const resume = $api.useMutation('post', '/me/subscriptions/{id}/resume', { onSuccess: refresh });
  return (
    <Panel title={t('member.acts')}>
      <Group>
        {cancelAtPeriodEnd ? (
          <ConfirmAction
            color="marquee"
            label={t('member.resume')}
            title={t('member.resumeTitle')}
            text={t('member.resumeText')}
            isPending={resume.isPending}
            onConfirm={() => resume.mutateAsync({ params })}
          />
        ) : (
          <ConfirmAction
            label={t('member.cancelEnd')}
            title={t('member.cancelEndTitle')}
            text={t('member.cancelEndText', { at: date(currentPeriodEnd) })}
            isPending={cancel.isPending}
            onConfirm={() => cancel.mutateAsync({ params, body: { atPeriodEnd: true } })}
          />
        )}
        <ConfirmAction
          label={t('member.cancelNow')}
          title={t('member.cancelNowTitle')}
          text={t('member.cancelNowText')}
          isPending={cancel.isPending}
          onConfirm={() => cancel.mutateAsync({ params, body: { atPeriodEnd: false } })}
        />
      </Group>
      <Switch subscription={subscription} />
    </Panel>
  );
}

/** Switches the member to another tier. */
function Switch({ subscription: { id, tierId } }: { subscription: Subscription }) {
  const { t } = useTranslation('monetization');
  const price = usePriceWords();
  const { data } = $api.useQuery('get', '/tiers', { params: { query: { limit: TIERS } } });
  const others = (data?.data ?? []).filter((tier) => tier.id !== tierId && tier.isActive);
  const [chosen, setChosen] = useState('');
  const change = $api.useMutation('post', '/me/subscriptions/{id}/switch', { onSuccess: refresh });
  const target = others.find((tier) => tier.id === chosen) ?? others[0];
  if (target === undefined) return <Text size="sm">{t('member.noOther')}</Text>;
  return (
    <Group align="flex-end">
      <NativeSelect
        size="md"
        label={t('member.otherTier')}
        value={target.id}
        onChange={({ currentTarget: { value } }) => setChosen(value)}
        data={others.map((tier) => ({
          value: tier.id,
          label: `${tier.name}, ${price(tier.priceCents, tier.interval)}`,
        }))}
      />
      <ConfirmAction
        color="marquee"
        label={t('member.switch')}
        title={t('member.switchTitle', { tier: target.name })}
        text={t('member.switchText')}
        isPending={change.isPending}
        onConfirm={() => change.mutateAsync({ params: { path: { id } }, body: { tierId: target.id } })}
      />
    </Group>
  );
}

function Paid({ id }: { id: string }) {
  const { t } = useTranslation('monetization');
  const query = $api.useInfiniteQuery(
    'get',
    '/purchases',
    { params: { query: { subscriptionId: id, limit: 20 } } },
    byCursor,
  );
  return (
    <Panel title={t('member.paid')}>
      <CursorList query={query} empty={<Text>{t('member.nothingPaid')}</Text>}>
        {(sales) => <SalesTable sales={sales} />}
      </CursorList>
    </Panel>
  );
}

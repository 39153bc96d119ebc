import { Badge, Button, Group, List, Paper, Stack, Text, Title } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { MoneyPage } from './money-page.tsx';
import type { FormSearch } from './search.ts';
import { TierForm } from './tier-form.tsx';
import { type TierState, tierState, usePriceWords } from './tier-labels.ts';

type Tier = Shape<'Tier'>;

const COLORS: Record<TierState, string> = {
  OPEN: 'green',
  FULL: 'orange',
  CLOSED: 'yellow',
  ARCHIVED: 'gray',
};
const PAGE_ROWS = 50;

/** Lists the membership tiers. */
export function TiersPage() {
  const { t } = useTranslation('monetization');
  const { new: isNew, edit } = useSearch({ from: '/workspace/monetization/tiers' });
  const navigate = useNavigate({ from: '/monetization/tiers' });
  const show = (search: FormSearch) => void navigate({ search, replace: true });
  const query = $api.useInfiniteQuery('get', '/tiers', { params: { query: { limit: PAGE_ROWS } } }, byCursor);
  const newButton = <Button onClick={() => show({ new: true })}>{t('tier.new')}</Button>;
  return (
    <MoneyPage name="tiers" actions={isNew !== true && newButton}>
      {isNew === true && <TierForm tier={null} onClose={() => show({})} />}
      <CursorList
        query={query}
        empty={
          <EmptyState
            title={t('tier.empty')}
            text={t('tier.emptyText')}
            action={newButton}
            curl={curlLine('POST', '/tiers', { name: 'Supporter', priceCents: 500, interval: 'MONTH' })}
          />
        }
      >
        {(tiers) => (
          <Stack>
            {tiers.map((tier) =>
              tier.id === edit ? (
                <TierForm key={tier.id} tier={tier} onClose={() => show({})} />
              ) : (
                <TierCard key={tier.id} tier={tier} onEdit={() => show({ edit: tier.id })} />
              ),
            )}
          </Stack>
        )}
      </CursorList>
    </MoneyPage>
  );
}

function TierCard({ tier, onEdit }: { tier: Tier; onEdit: () => void }) {
  const { t } = useTranslation('monetization');
  const price = usePriceWords();
  const state = tierState(tier);
  return (
    <Paper withBorder p="md" component="article" aria-label={tier.name}>
      <Stack gap="xs">
        <Group justify="space-between" align="flex-start">
          <Group gap="xs" miw={0}>
            <Title order={2} size="h4" className="breaks">
              <bdi>{tier.name}</bdi>
            </Title>
            <Badge color={COLORS[state]} variant="light" className="whole">
              {t(`state.${state}`)}
            </Badge>
          </Group>
          {state !== 'ARCHIVED' && <TierActs tier={tier} onEdit={onEdit} />}
        </Group>
        <Text fw={500}>{price(tier.priceCents, tier.interval)}</Text>
        <TierNumbers tier={tier} />
        {tier.description !== null && (
          <Text size="sm" className="breaks" dir="auto">
            {tier.description}
          </Text>
        )}
        {tier.benefits.length > 0 && (
          <List size="sm">
            {tier.benefits.map((benefit) => (
              <List.Item key={benefit} className="breaks">
                <bdi>{benefit}</bdi>
              </List.Item>
            ))}
          </List>
        )}
        <IdLine id={tier.id} label={t('tier.copyId')} />
      </Stack>
    </Paper>
  );
}

function TierNumbers({ tier: { memberCount, maxMembers, trialDays } }: { tier: Tier }) {
  const { t } = useTranslation('monetization');
  const { number } = useFormat();
  const count = memberCount ?? 0;
  const members =
    maxMembers === null
      ? t('tier.memberCount', { count, shown: number(count) })
      : t('tier.memberCountOf', { members: number(count), max: number(maxMembers) });
  return (
    <Text size="sm">
      {members}
      {trialDays > 0 && ` · ${t('tier.trial', { count: trialDays })}`}
    </Text>
  );
}

function TierActs({ tier: { id, name, memberCount }, onEdit }: { tier: Tier; onEdit: () => void }) {
  const { t } = useTranslation('monetization');
  const archive = $api.useMutation('delete', '/tiers/{id}', {
    onSuccess: () => queries.invalidateQueries({ queryKey: ['get', '/tiers'] }),
  });
  return (
    <Group gap="xs">
      <Button variant="default" onClick={onEdit} aria-label={t('tier.edit', { name })}>
        {t('form.edit')}
      </Button>
      <ConfirmAction
        label={t('tier.archive')}
        title={t('tier.archiveTitle', { name })}
        text={t('tier.archiveText', { count: memberCount ?? 0 })}
        isPending={archive.isPending}
        onConfirm={() => archive.mutateAsync({ params: { path: { id } } })}
      />
    </Group>
  );
}

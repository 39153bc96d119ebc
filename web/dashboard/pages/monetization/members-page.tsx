import { Group, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { FilterSelect } from './filters.tsx';
import { Member } from './member.tsx';
import { MemberBadge, useNextWords } from './member-labels.tsx';
import { MoneyPage } from './money-page.tsx';
import { MEMBER_STATES } from './search.ts';
import { usePriceWords } from './tier-labels.ts';

const PAGE_ROWS = 50;
/** Maximum number of open tiers. */
const TIERS = 100;

/** Lists subscriptions, and shows the one named in the URL. */
export function MembersPage() {
  const { t } = useTranslation('monetization');
  const { id } = useSearch({ from: '/workspace/monetization/members' });
  return (
    <MoneyPage name="members">
      {id === undefined ? (
        <Members />
      ) : (
        <>
          <TextLink to="/monetization/members" size="sm">
            {t('member.all')}
          </TextLink>
          <OneMember key={id} id={id} />
        </>
      )}
    </MoneyPage>
  );
}

function OneMember({ id }: { id: string }) {
  const query = $api.useQuery('get', '/me/subscriptions/{id}', { params: { path: { id } } });
  return <Loaded query={query}>{({ data }) => <Member subscription={data} />}</Loaded>;
}

function Members() {
  const { t } = useTranslation('monetization');
  const { status, tierId } = useSearch({ from: '/workspace/monetization/members' });
  const filter = { ...(status === undefined ? {} : { status: [status] }), ...withoutUndefined({ tierId }) };
  const query = $api.useInfiniteQuery(
    'get',
    '/me/subscriptions',
    { params: { query: { limit: PAGE_ROWS, ...filter } } },
    byCursor,
  );
  return (
    <>
      <Filters />
      <CursorList
        query={query}
        empty={
          Object.keys(filter).length > 0 ? (
            <Text role="status">{t('filter.nothing')}</Text>
          ) : (
            <EmptyState
              title={t('member.empty')}
              text={t('member.emptyText')}
              curl={curlLine('GET', '/me/subscriptions')}
            />
          )
        }
      >
        {(members) => (
          <Stack>
            <MemberTable members={members} />
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </>
  );
}

function Filters() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization/members' });
  const navigate = useNavigate({ from: '/monetization/members' });
  const { data } = $api.useQuery('get', '/tiers', { params: { query: { limit: TIERS } } });
  const tiers = data?.data ?? [];
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  return (
    <Group align="flex-end">
      <FilterSelect
        label={t('column.status')}
        any={t('filter.any')}
        values={MEMBER_STATES}
        wordOf={(value) => t(`memberStatus.${value}`)}
        value={search.status}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label={t('column.tier')}
        any={t('filter.any')}
        values={tiers.map((tier) => tier.id)}
        wordOf={(id) => tiers.find((tier) => tier.id === id)?.name ?? id}
        value={search.tierId}
        onChange={(tierId) => change({ tierId })}
      />
    </Group>
  );
}

function MemberTable({ members }: { members: readonly Shape<'Subscription'>[] }) {
  const { t } = useTranslation('monetization');
  const price = usePriceWords();
  const next = useNextWords();
  const names = ['member', 'tier', 'status', 'price', 'next', 'since'] as const;
  return (
    <RowsTable label={t('pages.members')} columns={names.map((name) => t(`column.${name}`))}>
      {members.map((member) => (
        <Table.Tr key={member.id}>
          <Table.Td>
            <TextLink
              to="/monetization/members"
              search={{ id: member.id }}
              className="breaks"
              size="sm"
              fw={500}
            >
              <bdi>{member.subscriberName ?? member.subscriberEmail}</bdi>
            </TextLink>
          </Table.Td>
          <Table.Td className="breaks">
            <bdi>{member.tierName}</bdi>
          </Table.Td>
          <Table.Td>
            <MemberBadge subscription={member} />
          </Table.Td>
          <Table.Td>{price(member.priceCents, member.interval)}</Table.Td>
          <Table.Td>{next(member)}</Table.Td>
          <Table.Td>
            <RelativeTime at={member.createdAt} />
          </Table.Td>
        </Table.Tr>
      ))}
    </RowsTable>
  );
}

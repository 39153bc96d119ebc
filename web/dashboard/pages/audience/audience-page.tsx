import { Badge, Group, NativeSelect, Stack, Table, Text, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { SearchIcon } from '../../components/icons.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { AddForm } from './add-form.tsx';
import { STATUSES } from './search.ts';

type Subscriber = Shape<'Subscriber'>;

const PAGE_ROWS = 50;
const TYPING_MS = 300;
const COLORS: Record<Subscriber['status'], string> = {
  PENDING: 'yellow',
  CONFIRMED: 'green',
  UNSUBSCRIBED: 'gray',
};

const refresh = () => queries.invalidateQueries({ queryKey: ['get', '/subscribers'] });

/** Lists the followers of the channel and the contacts whom the creator may email. */
export function AudiencePage() {
  const { t } = useTranslation('audience');
  const { status, q } = useSearch({ from: '/workspace/audience' });
  const filter = { ...(status === undefined ? {} : { status: [status] }), ...withoutUndefined({ q }) };
  const subscribers = $api.useInfiniteQuery(
    'get',
    '/subscribers',
    { params: { query: { limit: PAGE_ROWS, ...filter } } },
    byCursor,
  );
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Followers />
      <AddForm onAdded={refresh} />
      <Filters />
      <CursorList
        query={subscribers}
        empty={
          Object.keys(filter).length > 0 ? (
            <Text role="status">{t('nothing')}</Text>
          ) : (
            <EmptyState
              title={t('empty')}
              text={t('emptyText')}
              curl={curlLine('POST', '/subscribers', { email: 'grace@example.com' })}
            />
          )
        }
      >
        {(rows) => (
          <Stack>
            <Rows rows={rows} />
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </Stack>
  );
}

function Followers() {
  const { t } = useTranslation('audience');
  const { number } = useFormat();
  const channel = $api.useQuery('get', '/channels/{id}', { params: { path: { id: 'me' } } });
  return (
    <Loaded query={channel}>
      {({ data: { followerCount } }) => (
        <Text>{t('followers', { count: followerCount, shown: number(followerCount) })}</Text>
      )}
    </Loaded>
  );
}

function Filters() {
  const { t } = useTranslation('audience');
  const search = useSearch({ from: '/workspace/audience' });
  const navigate = useNavigate({ from: '/audience' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  const find = useDebouncedCallback((text: string) => change({ q: text.trim() || undefined }), TYPING_MS);
  return (
    <Group align="flex-end">
      <TextInput
        type="search"
        label={t('search')}
        defaultValue={search.q ?? ''}
        onChange={({ currentTarget }) => find(currentTarget.value)}
        leftSection={<SearchIcon />}
        dir="auto"
      />
      <NativeSelect
        size="md"
        label={t('column.status')}
        value={search.status ?? ''}
        onChange={({ currentTarget: { value } }) =>
          change({ status: STATUSES.find((status) => status === value) })
        }
        data={[
          { value: '', label: t('any') },
          ...STATUSES.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
      />
    </Group>
  );
}

function Rows({ rows }: { rows: readonly Subscriber[] }) {
  const { t } = useTranslation('audience');
  const names = ['email', 'name', 'status', 'source', 'added', 'action'] as const;
  return (
    <RowsTable label={t('title')} columns={names.map((name) => t(`column.${name}`))}>
      {rows.map((row) => (
        <Row key={row.id} row={row} />
      ))}
    </RowsTable>
  );
}

function Row({ row: { id, email, name, status, source, createdAt } }: { row: Subscriber }) {
  const { t } = useTranslation('audience');
  const remove = $api.useMutation('delete', '/subscribers/{id}', { onSuccess: refresh });
  return (
    <Table.Tr>
      <Table.Td className="breaks">
        <bdi>{email}</bdi>
      </Table.Td>
      <Table.Td className="breaks">
        <bdi>{name}</bdi>
      </Table.Td>
      <Table.Td>
        <Badge color={COLORS[status]} variant="light">
          {t(`status.${status}`)}
        </Badge>
      </Table.Td>
      <Table.Td className="breaks">
        <bdi>{source}</bdi>
      </Table.Td>
      <Table.Td>
        <RelativeTime at={createdAt} />
      </Table.Td>
      <Table.Td>
        <ConfirmAction
          label={t('remove')}
          title={t('removeTitle', { email })}
          text={t('removeText')}
          onConfirm={() => remove.mutateAsync({ params: { path: { id } } })}
          isPending={remove.isPending}
        />
      </Table.Td>
    </Table.Tr>
  );
}

import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { Panel } from '../../components/panel.tsx';
import { RowsTable } from '../../components/rows-table.tsx';

const PAGE_ROWS = 25;
const MOST_KEYS = 100;

/** Shows the requests of each key and day by outcome. */
export function RequestsPanel() {
  const { t } = useTranslation('limits');
  const requests = $api.useInfiniteQuery(
    'get',
    '/usage/requests',
    { params: { query: { limit: PAGE_ROWS } } },
    byCursor,
  );
  const keys = $api.useQuery('get', '/me/api-keys', { params: { query: { limit: MOST_KEYS } } });
  const names = new Map(keys.data?.data.map(({ id, name }) => [id, name]));
  const columns = ['date', 'key', 'requests', 'refused', 'limited', 'failed'] as const;
  return (
    <Panel title={t('byKey.title')}>
      <Text size="sm" c="dimmed">
        {t('byKey.about')}
      </Text>
      <CursorList
        query={requests}
        empty={
          <EmptyState title={t('byKey.empty')} text={t('byKey.emptyText')} curl={curlLine('GET', '/me')} />
        }
      >
        {(rows) => (
          <RowsTable label={t('byKey.title')} columns={columns.map((name) => t(`byKey.${name}`))}>
            {rows.map((row) => (
              <Row key={`${row.date} ${row.keyId}`} row={row} name={names.get(row.keyId ?? '')} />
            ))}
          </RowsTable>
        )}
      </CursorList>
    </Panel>
  );
}

function Row({ row, name }: { row: Shape<'UsageRequests'>; name: string | undefined }) {
  const { t } = useTranslation('limits');
  const { date, number } = useFormat();
  const { keyId, requests, errors4xx, errors5xx, rateLimited } = row;
  return (
    <Table.Tr>
      <Table.Td>{date(new Date(`${row.date}T12:00`))}</Table.Td>
      <Table.Td className="breaks">
        {keyId === null ? t('byKey.dashboard') : <bdi>{name ?? keyId}</bdi>}
      </Table.Td>
      <Table.Td>{number(requests)}</Table.Td>
      <Table.Td>{number(errors4xx - rateLimited)}</Table.Td>
      <Table.Td>{number(rateLimited)}</Table.Td>
      <Table.Td>{number(errors5xx)}</Table.Td>
    </Table.Tr>
  );
}

import { Stack, Table } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { TimeZoneNote } from '../../components/relative-time.tsx';

const LOOK_MS = 5000;

/** Lists deliveries that wait for their next attempt. */
export function Pending({ id }: { id: string }) {
  const { t } = useTranslation('webhooks');
  const { exact } = useFormat();
  const pending = $api.useInfiniteQuery(
    'get',
    '/me/webhooks/{id}/pending',
    { params: { path: { id } } },
    pollEvery(LOOK_MS),
  );
  return (
    <CursorList
      query={pending}
      empty={<EmptyState title={t('pending.empty')} text={t('pending.emptyText')} />}
    >
      {(rows) => (
        <Stack>
          <Table.ScrollContainer minWidth={480}>
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('pending.type')}</Table.Th>
                  <Table.Th>{t('pending.attempt')}</Table.Th>
                  <Table.Th>{t('pending.next')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {rows.map((row) => (
                  <Table.Tr key={`${row.eventId} ${row.attempt}`}>
                    <Table.Td>{row.eventType}</Table.Td>
                    <Table.Td>{t('log.attempt', { attempt: row.attempt, of: 7 })}</Table.Td>
                    <Table.Td>{exact(row.nextAttemptAt)}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </Table.ScrollContainer>
          <TimeZoneNote />
        </Stack>
      )}
    </CursorList>
  );
}

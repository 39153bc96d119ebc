import { Badge, Group, Stack, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { ConnectCard } from './connect-card.tsx';
import { FilterSelect } from './filters.tsx';
import { MoneyPage } from './money-page.tsx';
import { PAYOUT_STATES } from './search.ts';

type Payout = Shape<'Payout'>;

const PAGE_ROWS = 50;
const COLORS: Record<Payout['status'], string> = {
  PENDING: 'yellow',
  IN_TRANSIT: 'blue',
  PAID: 'green',
  FAILED: 'red',
  CANCELED: 'gray',
};

/** Shows the account at the payment provider and its payouts. */
export function PayoutsPage() {
  const { t } = useTranslation('monetization');
  const { status } = useSearch({ from: '/workspace/monetization/payouts' });
  const navigate = useNavigate({ from: '/monetization/payouts' });
  const query = $api.useInfiniteQuery(
    'get',
    '/me/payouts',
    { params: { query: { limit: PAGE_ROWS, ...(status === undefined ? {} : { status: [status] }) } } },
    byCursor,
  );
  return (
    <MoneyPage name="payouts">
      <ConnectCard />
      <Group>
        <FilterSelect
          label={t('column.status')}
          any={t('filter.any')}
          values={PAYOUT_STATES}
          wordOf={(value) => t(`payoutStatus.${value}`)}
          value={status}
          onChange={(chosen) =>
            void navigate({ search: chosen === undefined ? {} : { status: chosen }, replace: true })
          }
        />
      </Group>
      <CursorList
        query={query}
        empty={
          status === undefined ? (
            <EmptyState
              title={t('payout.empty')}
              text={t('payout.emptyText')}
              curl={curlLine('GET', '/me/payouts')}
            />
          ) : (
            <Text role="status">{t('filter.nothing')}</Text>
          )
        }
      >
        {(payouts) => (
          <Stack>
            <Payouts payouts={payouts} />
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </MoneyPage>
  );
}

function Payouts({ payouts }: { payouts: readonly Payout[] }) {
  const { t } = useTranslation('monetization');
  const { money, date } = useFormat();
  const names = ['at', 'amount', 'status', 'arrival'] as const;
  return (
    <RowsTable label={t('pages.payouts')} columns={names.map((name) => t(`column.${name}`))}>
      {payouts.map(({ id, createdAt, amountCents, currency, status, failureCode, arrivalAt }) => (
        <Table.Tr key={id}>
          <Table.Td>
            <RelativeTime at={createdAt} />
          </Table.Td>
          <Table.Td>{money(amountCents, currency)}</Table.Td>
          <Table.Td>
            <Badge color={COLORS[status]} variant="light" className="whole">
              {t(`payoutStatus.${status}`)}
            </Badge>
            {failureCode !== null && <Text size="sm">{failureCode}</Text>}
          </Table.Td>
          <Table.Td>{arrivalAt !== null && date(arrivalAt)}</Table.Td>
        </Table.Tr>
      ))}
    </RowsTable>
  );
}

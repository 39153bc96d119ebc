import { Badge, Button, Group, Stack, Table, Text, TextInput } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';
import { RowsTable } from '../../components/rows-table.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { CsvButton } from './csv-button.tsx';
import { FilterSelect, PeriodFilter } from './filters.tsx';
import { MoneyPage } from './money-page.tsx';
import { instantsOf, PAYMENT_STATES, PAYMENT_TYPES, type PaymentsSearch } from './search.ts';

type Payment = Shape<'Payment'>;

const PAGE_ROWS = 50;
const COLORS: Record<Payment['status'], string> = {
  PENDING: 'yellow',
  SUCCEEDED: 'green',
  FAILED: 'red',
  CANCELED: 'gray',
};

function queryOf(search: PaymentsSearch) {
  const { type, status, purchaseId } = search;
  return {
    ...(type === undefined ? {} : { type: [type] }),
    ...(status === undefined ? {} : { status: [status] }),
    ...withoutUndefined({ purchaseId }),
    ...instantsOf(search),
  };
}

/** Every movement: charges, refunds and disputes. */
export function PaymentsPage() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization/payments' });
  const filter = queryOf(search);
  const query = $api.useInfiniteQuery(
    'get',
    '/monetization/payments',
    { params: { query: { limit: PAGE_ROWS, ...filter } } },
    byCursor,
  );
  return (
    <MoneyPage name="payments" actions={<CsvButton filter={filter} />}>
      <Filters />
      <CursorList
        query={query}
        empty={
          Object.keys(search).length > 0 ? (
            <Text role="status">{t('filter.nothing')}</Text>
          ) : (
            <EmptyState
              title={t('payment.empty')}
              text={t('payment.emptyText')}
              curl={curlLine('GET', '/monetization/payments')}
            />
          )
        }
      >
        {(payments) => (
          <Stack>
            <Payments payments={payments} />
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </MoneyPage>
  );
}

function Filters() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization/payments' });
  const navigate = useNavigate({ from: '/monetization/payments' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  return (
    <Group align="flex-end">
      <FilterSelect
        label={t('column.type')}
        any={t('filter.any')}
        values={PAYMENT_TYPES}
        wordOf={(value) => t(`paymentType.${value}`)}
        value={search.type}
        onChange={(type) => change({ type })}
      />
      <FilterSelect
        label={t('column.status')}
        any={t('filter.any')}
        values={PAYMENT_STATES}
        wordOf={(value) => t(`paymentStatus.${value}`)}
        value={search.status}
        onChange={(status) => change({ status })}
      />
      <PeriodFilter search={search} onChange={change} />
      {search.purchaseId !== undefined && (
        <Group align="flex-end" gap="xs">
          <TextInput size="md" readOnly dir="ltr" label={t('filter.purchase')} value={search.purchaseId} />
          <Button variant="default" onClick={() => change({ purchaseId: undefined })}>
            {t('filter.all')}
          </Button>
        </Group>
      )}
    </Group>
  );
}

function Payments({ payments }: { payments: readonly Payment[] }) {
  const { t } = useTranslation('monetization');
  const names = ['at', 'type', 'amount', 'status', 'provider', 'purchase'] as const;
  return (
    <RowsTable label={t('pages.payments')} columns={names.map((name) => t(`column.${name}`))}>
      {payments.map((payment) => (
        <PaymentRow key={payment.id} payment={payment} />
      ))}
    </RowsTable>
  );
}

function PaymentRow({ payment }: { payment: Payment }) {
  const { t } = useTranslation('monetization');
  const { money } = useFormat();
  const { amountCents, currency, status, failureCode, provider, purchaseId } = payment;
  return (
    <Table.Tr>
      <Table.Td>
        <RelativeTime at={payment.createdAt} />
      </Table.Td>
      <Table.Td>
        {t(`paymentType.${payment.type}`)}
        <IdLine id={payment.id} label={t('payment.copyId')} />
      </Table.Td>
      <Table.Td>{money(amountCents, currency)}</Table.Td>
      <Table.Td>
        <Badge color={COLORS[status]} variant="light" className="whole">
          {t(`paymentStatus.${status}`)}
        </Badge>
        {failureCode !== null && (
          <Text size="sm" className="breaks">
            {failureCode}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{t(`provider.${provider}`)}</Table.Td>
      <Table.Td>
        {purchaseId !== null && <IdLine id={purchaseId} label={t('payment.copyPurchase')} />}
      </Table.Td>
    </Table.Tr>
  );
}

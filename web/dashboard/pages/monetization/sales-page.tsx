import { Group, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { withoutUndefined } from '../../components/search-values.ts';
import { FilterSelect, PeriodFilter } from './filters.tsx';
import { MoneyPage } from './money-page.tsx';
import { SalesTable } from './sales-table.tsx';
import { instantsOf, SALE_KINDS, SALE_STATES } from './search.ts';

const PAGE_ROWS = 50;

/** Lists the purchases of buyers. */
export function SalesPage() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization/sales' });
  const { status, kind, videoId } = search;
  const query = $api.useInfiniteQuery(
    'get',
    '/purchases',
    {
      params: {
        query: {
          limit: PAGE_ROWS,
          ...(status === undefined ? {} : { status: [status] }),
          ...(kind === undefined ? {} : { kind: [kind] }),
          ...withoutUndefined({ videoId }),
          ...instantsOf(search),
        },
      },
    },
    byCursor,
  );
  const isNarrow = Object.keys(search).length > 0;
  return (
    <MoneyPage name="sales">
      <Filters />
      <CursorList
        query={query}
        empty={
          isNarrow ? (
            <Text role="status">{t('filter.nothing')}</Text>
          ) : (
            <EmptyState
              title={t('sale.empty')}
              text={t('sale.emptyText')}
              curl={curlLine('GET', '/purchases')}
            />
          )
        }
      >
        {(sales) => (
          <Stack>
            <SalesTable sales={sales} />
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </MoneyPage>
  );
}

function Filters() {
  const { t } = useTranslation('monetization');
  const search = useSearch({ from: '/workspace/monetization/sales' });
  const navigate = useNavigate({ from: '/monetization/sales' });
  const change = (more: object) =>
    void navigate({ search: (now) => withoutUndefined({ ...now, ...more }), replace: true });
  return (
    <Group align="flex-end">
      <FilterSelect
        label={t('column.status')}
        any={t('filter.any')}
        values={SALE_STATES}
        wordOf={(value) => t(`saleStatus.${value}`)}
        value={search.status}
        onChange={(status) => change({ status })}
      />
      <FilterSelect
        label={t('column.what')}
        any={t('filter.any')}
        values={SALE_KINDS}
        wordOf={(value) => t(`saleKind.${value}`)}
        value={search.kind}
        onChange={(kind) => change({ kind })}
      />
      <PeriodFilter search={search} onChange={change} />
    </Group>
  );
}

import { Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { Panel } from '../../components/panel.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { CohortBadge } from './badges.tsx';
import { CohortForm } from './cohort-form.tsx';

const PAGE_ROWS = 25;

/** Lists the cohorts of a product; new ones are created in place. */
export function CohortsPanel({ product }: { product: Shape<'BookingProduct'> }) {
  const { t } = useTranslation('booking');
  const { new: isNew } = useSearch({ from: '/workspace/booking/products/$id' });
  const navigate = useNavigate({ from: '/booking/products/$id' });
  const setNew = (open: boolean) => void navigate({ search: open ? { new: true } : {}, replace: true });
  const query = $api.useInfiniteQuery(
    'get',
    '/booking/products/{productId}/cohorts',
    { params: { path: { productId: product.id }, query: { limit: PAGE_ROWS } } },
    byCursor,
  );
  const canAdd = isNew !== true && product.status !== 'ARCHIVED';
  return (
    <>
      <Panel
        title={t('cohort.all')}
        actions={canAdd && <EditButton onClick={() => setNew(true)}>{t('cohort.new')}</EditButton>}
      >
        <CursorList query={query} empty={<Text>{t('cohort.empty')}</Text>}>
          {(rows) => (
            <>
              <CohortTable rows={rows} capacity={product.capacity} />
              <TimeZoneNote />
            </>
          )}
        </CursorList>
      </Panel>
      {isNew === true && (
        <CohortForm
          cohort={null}
          productId={product.id}
          onCancel={() => setNew(false)}
          onSaved={({ id }) => void navigate({ to: '/booking/cohorts/$id', params: { id } })}
        />
      )}
    </>
  );
}

function CohortTable({ rows, capacity }: { rows: Shape<'Cohort'>[]; capacity: number }) {
  const { t } = useTranslation('booking');
  const { date, number } = useFormat();
  return (
    <Table aria-label={t('cohort.all')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('cohort.one')}</Table.Th>
          <Table.Th>{t('list.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('cohort.members')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((cohort) => (
          <Table.Tr key={cohort.id}>
            <Table.Td>
              <TextLink to="/booking/cohorts/$id" params={{ id: cohort.id }} className="breaks" fw={500}>
                <bdi>{cohort.title ?? t('cohort.from', { day: date(cohort.startsAt) })}</bdi>
              </TextLink>
              {cohort.title !== null && (
                <Text size="sm" c="dimmed">
                  {t('cohort.from', { day: date(cohort.startsAt) })}
                </Text>
              )}
            </Table.Td>
            <Table.Td>
              <CohortBadge status={cohort.status} />
            </Table.Td>
            <Table.Td visibleFrom="sm">
              {t('cohort.membersOf', {
                count: number(cohort.enrolledCount),
                max: number(cohort.capacity ?? capacity),
              })}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

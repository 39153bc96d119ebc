import { SegmentedControl, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { ProductBadge } from './badges.tsx';
import { BookingPage } from './booking-page.tsx';
import { ProductForm } from './product-form.tsx';
import { PRODUCT_STATES, type ProductsSearch } from './search.ts';

const PAGE_ROWS = 50;

/** Lists booking products, newest first; new ones are created in place. */
export function ProductsPage() {
  const { t } = useTranslation('booking');
  const { status, new: isNew } = useSearch({ from: '/workspace/booking/products' });
  const navigate = useNavigate({ from: '/booking/products' });
  const go = (search: ProductsSearch) => void navigate({ search, replace: true });
  const kept = status === undefined ? {} : { status };
  const newButton = <EditButton onClick={() => go({ ...kept, new: true })}>{t('product.new')}</EditButton>;
  return (
    <BookingPage name="products" actions={isNew !== true && newButton}>
      {isNew === true && (
        <ProductForm
          product={null}
          onCancel={() => go(kept)}
          onSaved={({ id }) => void navigate({ to: '/booking/products/$id', params: { id } })}
        />
      )}
      <div>
        <SegmentedControl
          aria-label={t('list.show')}
          value={status ?? 'all'}
          onChange={(value) => {
            const chosen = PRODUCT_STATES.find((state) => state === value);
            go(chosen === undefined ? {} : { status: chosen });
          }}
          data={[
            { value: 'all', label: t('list.all') },
            ...PRODUCT_STATES.map((value) => ({ value, label: t(`status.${value}`) })),
          ]}
        />
      </div>
      <Products status={status} newButton={newButton} />
    </BookingPage>
  );
}

function Products({
  status,
  newButton,
}: {
  status: ProductsSearch['status'] | undefined;
  newButton: ReactNode;
}) {
  const { t } = useTranslation('booking');
  const query = $api.useInfiniteQuery(
    'get',
    '/booking/products',
    { params: { query: { limit: PAGE_ROWS, ...(status === undefined ? {} : { status: [status] }) } } },
    byCursor,
  );
  const example = { title: 'An hour of coaching', type: 'ONE_TO_ONE', priceCents: 5000 };
  const empty =
    status !== undefined ? (
      <Text>{t('list.nothing')}</Text>
    ) : (
      <EmptyState
        title={t('product.empty')}
        text={t('product.emptyText')}
        action={newButton}
        curl={curlLine('POST', '/booking/products', example)}
      />
    );
  return (
    <CursorList query={query} empty={empty}>
      {(rows) => <ProductTable rows={rows} />}
    </CursorList>
  );
}

function ProductTable({ rows }: { rows: Shape<'BookingProduct'>[] }) {
  const { t } = useTranslation('booking');
  return (
    <Table aria-label={t('pages.products')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('product.title')}</Table.Th>
          <Table.Th>{t('list.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('product.type')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('list.price')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('list.bookings')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((product) => (
          <ProductRow key={product.id} product={product} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

function ProductRow({ product }: { product: Shape<'BookingProduct'> }) {
  const { t } = useTranslation('booking');
  const { money, number } = useFormat();
  const { id, title, status, type, priceCents, currency, bookingCount } = product;
  return (
    <Table.Tr>
      <Table.Td>
        <TextLink to="/booking/products/$id" params={{ id }} className="breaks" fw={500}>
          <bdi>{title}</bdi>
        </TextLink>
      </Table.Td>
      <Table.Td>
        <ProductBadge status={status} />
      </Table.Td>
      <Table.Td visibleFrom="sm">{t(`type.${type}`)}</Table.Td>
      <Table.Td visibleFrom="sm">
        {priceCents === 0 ? t('product.free') : money(priceCents, currency)}
      </Table.Td>
      <Table.Td visibleFrom="sm">{number(bookingCount)}</Table.Td>
    </Table.Tr>
  );
}

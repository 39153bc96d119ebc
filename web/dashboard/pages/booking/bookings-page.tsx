import { NativeSelect, Table, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { ButtonLink, TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { BookingBadge } from './badges.tsx';
import { Booking } from './booking.tsx';
import { BookingPage } from './booking-page.tsx';
import { BOOKING_STATES } from './search.ts';

const PAGE_ROWS = 50;
const ANY = '';

/** Lists bookings, and shows the one named in the URL. */
export function BookingsPage() {
  const { t } = useTranslation('booking');
  const { id } = useSearch({ from: '/workspace/booking' });
  return (
    <BookingPage name="bookings">
      {id === undefined ? (
        <Bookings />
      ) : (
        <>
          <TextLink to="/booking" size="sm">
            {t('booking.back')}
          </TextLink>
          <OneBooking key={id} id={id} />
        </>
      )}
    </BookingPage>
  );
}

function OneBooking({ id }: { id: string }) {
  const query = $api.useQuery('get', '/booking/bookings/{id}', { params: { path: { id } } });
  return <Loaded query={query}>{({ data }) => <Booking booking={data} />}</Loaded>;
}

function Bookings() {
  const { t } = useTranslation('booking');
  const { status } = useSearch({ from: '/workspace/booking' });
  const navigate = useNavigate({ from: '/booking' });
  const query = $api.useInfiniteQuery(
    'get',
    '/booking/bookings',
    { params: { query: { limit: PAGE_ROWS, ...(status === undefined ? {} : { status: [status] }) } } },
    byCursor,
  );
  const empty =
    status !== undefined ? (
      <Text>{t('list.nothing')}</Text>
    ) : (
      <EmptyState
        title={t('booking.empty')}
        text={t('booking.emptyText')}
        action={<ButtonLink to="/booking/products">{t('booking.toProducts')}</ButtonLink>}
      />
    );
  return (
    <>
      <NativeSelect
        size="md"
        maw={320}
        label={t('list.status')}
        value={status ?? ANY}
        onChange={({ currentTarget }) => {
          const chosen = BOOKING_STATES.find((state) => state === currentTarget.value);
          void navigate({ search: chosen === undefined ? {} : { status: chosen }, replace: true });
        }}
        data={[
          { value: ANY, label: t('list.all') },
          ...BOOKING_STATES.map((value) => ({ value, label: t(`bookingStatus.${value}`) })),
        ]}
      />
      <CursorList query={query} empty={empty}>
        {(rows) => (
          <>
            <BookingTable rows={rows} />
            <TimeZoneNote />
          </>
        )}
      </CursorList>
    </>
  );
}

function BookingTable({ rows }: { rows: Shape<'Booking'>[] }) {
  const { t } = useTranslation('booking');
  const { dateTime } = useFormat();
  return (
    <Table aria-label={t('pages.bookings')} verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t('booking.customer')}</Table.Th>
          <Table.Th>{t('booking.when')}</Table.Th>
          <Table.Th>{t('list.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('product.type')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map(({ id, customer, startsAt, status, type }) => (
          <Table.Tr key={id}>
            <Table.Td>
              <TextLink to="/booking" search={{ id }} className="breaks" fw={500}>
                <bdi>{customer.name}</bdi>
              </TextLink>
            </Table.Td>
            <Table.Td>{startsAt === null ? t('booking.sessions') : dateTime(startsAt)}</Table.Td>
            <Table.Td>
              <BookingBadge status={status} />
            </Table.Td>
            <Table.Td visibleFrom="sm">{t(`type.${type}`)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

import { Badge, Button, Group, Stack, Switch, Table, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { curlLine } from '../../components/curl.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { IdLine } from '../../components/id-line.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { RelativeTime, TimeZoneNote } from '../../components/relative-time.tsx';

const LOOK_MS = 5000;

/** Lists the recent API requests by keys and by the dashboard. */
export function RequestsPage() {
  const { t } = useTranslation('requests');
  const { requestId, path, errors = false } = useSearch({ from: '/workspace/requests' });
  const query = {
    ...(requestId === undefined ? {} : { requestId }),
    ...(path === undefined ? {} : { path }),
    ...(errors ? { status: ['errors'] } : {}),
  };
  const requests = $api.useInfiniteQuery('get', '/me/requests', { params: { query } }, pollEvery(LOOK_MS));
  return (
    <Stack>
      <PageHeader title={t('title')} description={t('description')} />
      <Filters />
      <CursorList
        query={requests}
        empty={
          Object.keys(query).length === 0 ? (
            <EmptyState title={t('empty')} text={t('emptyText')} curl={curlLine('GET', '/me/requests')} />
          ) : (
            <Text>{t('nothing')}</Text>
          )
        }
      >
        {(rows) => <Rows rows={rows} />}
      </CursorList>
    </Stack>
  );
}

function Filters() {
  const { t } = useTranslation('requests');
  const navigate = useNavigate({ from: '/requests' });
  const search = useSearch({ from: '/workspace/requests' });
  const form = useForm({ initialValues: { requestId: search.requestId ?? '', path: search.path ?? '' } });
  const apply = ({ requestId, path }: { requestId: string; path: string }, errors = search.errors === true) =>
    void navigate({
      replace: true,
      search: {
        ...(requestId.trim() === '' ? {} : { requestId: requestId.trim() }),
        ...(path.trim() === '' ? {} : { path: path.trim() }),
        ...(errors ? { errors: true as const } : {}),
      },
    });
  return (
    <form onSubmit={form.onSubmit((values) => apply(values))}>
      <Group align="flex-end">
        <TextInput
          {...form.getInputProps('requestId')}
          label={t('requestId')}
          flex="1 1 16rem"
          dir="ltr"
          spellCheck={false}
        />
        <TextInput
          {...form.getInputProps('path')}
          label={t('path')}
          placeholder={t('pathExample')}
          flex="1 1 10rem"
          dir="ltr"
          spellCheck={false}
        />
        <Button type="submit">{t('search')}</Button>
      </Group>
      <Switch
        mt="sm"
        label={t('onlyErrors')}
        checked={search.errors === true}
        onChange={(event) => apply(form.getValues(), event.currentTarget.checked)}
      />
    </form>
  );
}

function colorOf(status: number): string {
  if (status >= 500) return 'red';
  return status >= 400 ? 'orange' : 'green';
}

function Rows({ rows }: { rows: readonly Shape<'AnsweredRequest'>[] }) {
  const { t } = useTranslation('requests');
  const { number } = useFormat();
  return (
    <Stack>
      <Table.ScrollContainer minWidth={640} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('column.status')}</Table.Th>
              <Table.Th>{t('column.request')}</Table.Th>
              <Table.Th>{t('column.by')}</Table.Th>
              <Table.Th>{t('column.took')}</Table.Th>
              <Table.Th>{t('column.at')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.requestId}>
                <Table.Td>
                  <Badge color={colorOf(row.status)} variant="light">
                    {row.status}
                  </Badge>
                </Table.Td>
                <Table.Td>
                  <Text size="sm" ff="monospace" dir="ltr" className="breaks">
                    {row.method} {row.path}
                  </Text>
                  {row.code !== null && <Text size="sm">{row.code}</Text>}
                  <IdLine id={row.requestId} label={t('copyId')} />
                </Table.Td>
                <Table.Td>
                  <Text size="sm" className="breaks">
                    {row.keyId ?? t('session')}
                  </Text>
                </Table.Td>
                <Table.Td>{t('took', { ms: number(row.ms) })}</Table.Td>
                <Table.Td>
                  <RelativeTime at={row.at} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      <TimeZoneNote />
    </Stack>
  );
}

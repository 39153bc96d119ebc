import { Button, Group, NativeSelect, SegmentedControl, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { curlLine } from '../../components/curl.ts';
import { CursorList, pollEvery } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { NotificationCard } from './notification-card.tsx';
import { refreshNotifications } from './refresh.ts';

const LOOK_MS = 60_000;
/** Notification preferences are in the account area. */
const PREFERENCES: string = '/account';

/** Lists the notifications of the account, newest first. */
export function NotificationsPage() {
  const { t } = useTranslation('notifications');
  return (
    <Stack>
      <PageHeader
        title={t('title')}
        description={
          <>
            {t('description')} <TextLink to={PREFERENCES}>{t('choose')}</TextLink>
          </>
        }
        actions={<ReadAll />}
      />
      <Filters />
      <Inbox />
    </Stack>
  );
}

function ReadAll() {
  const { t } = useTranslation('notifications');
  const unread = $api.useQuery('get', '/notifications/unread-count', {});
  const readAll = $api.useMutation('post', '/notifications/read-all', { onSuccess: refreshNotifications });
  const isNothing = unread.data?.data.count === 0;
  return (
    <Button
      variant="default"
      {...(isNothing ? { 'data-disabled': true, 'aria-disabled': true } : {})}
      loading={readAll.isPending}
      onClick={() => !isNothing && readAll.mutate({})}
    >
      {t('readAll')}
    </Button>
  );
}

function Filters() {
  const { t } = useTranslation('notifications');
  const navigate = useNavigate({ from: '/notifications' });
  const { unread, type } = useSearch({ from: '/workspace/notifications' });
  const preferences = $api.useQuery('get', '/notifications/preferences');
  const types = Object.keys(preferences.data?.data.types ?? {}).sort();
  return (
    <Group align="flex-end">
      <SegmentedControl
        aria-label={t('show')}
        value={unread === true ? 'unread' : 'all'}
        onChange={(value) =>
          void navigate({
            search: ({ unread: _, ...rest }) => (value === 'unread' ? { ...rest, unread: true } : rest),
            replace: true,
          })
        }
        data={[
          { value: 'all', label: t('all') },
          { value: 'unread', label: t('unread') },
        ]}
      />
      <NativeSelect
        label={t('type')}
        value={type ?? ''}
        data={[{ value: '', label: t('everyType') }, ...types]}
        onChange={({ currentTarget: { value } }) =>
          void navigate({
            search: ({ type: _, ...rest }) => (value === '' ? rest : { ...rest, type: value }),
            replace: true,
          })
        }
      />
    </Group>
  );
}

function Inbox() {
  const { t } = useTranslation('notifications');
  const { unread, type } = useSearch({ from: '/workspace/notifications' });
  const list = useRef<HTMLElement>(null);
  const query = $api.useInfiniteQuery(
    'get',
    '/notifications',
    {
      params: {
        query: {
          ...(unread === true ? { unread: true } : {}),
          ...(type === undefined ? {} : { type: [type] }),
        },
      },
    },
    pollEvery(LOOK_MS),
  );
  const isFiltered = unread === true || type !== undefined;
  const empty = isFiltered ? (
    <Text>{t('nothing')}</Text>
  ) : (
    <EmptyState title={t('empty')} text={t('emptyText')} curl={curlLine('GET', '/notifications')} />
  );
  return (
    <section ref={list} tabIndex={-1} aria-label={t('list')}>
      <CursorList query={query} empty={empty}>
        {(rows) => (
          <Stack gap="xs">
            {rows.map((notification) => (
              <NotificationCard
                key={notification.id}
                notification={notification}
                // The button that had the focus is gone; keyboard users continue from the list.
                onDone={() => list.current?.focus()}
              />
            ))}
            <TimeZoneNote />
          </Stack>
        )}
      </CursorList>
    </section>
  );
}

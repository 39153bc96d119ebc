import { ActionIcon, type ActionIconProps } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import { type ComponentPropsWithRef, useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { BellIcon } from '../components/icons.tsx';
import { $api } from './api.ts';

const LOOK_MS = 60_000;
const SHOWN_MAX = 99;

const IconLink = createLink(
  (props: ActionIconProps & Omit<ComponentPropsWithRef<'a'>, keyof ActionIconProps>) => (
    <ActionIcon component="a" {...props} />
  ),
);

/**
 * Links to the inbox and shows the unread count, refetched once a minute and when the tab becomes visible.
 */
export function NotificationBell() {
  const { t } = useTranslation();
  const unread = $api.useQuery(
    'get',
    '/notifications/unread-count',
    {},
    { refetchInterval: LOOK_MS, refetchOnWindowFocus: 'always' },
  );
  const count = unread.data?.data.count ?? 0;
  const hasGrown = useHasGrown(unread.data?.data.count);
  return (
    <>
      <IconLink
        to="/notifications"
        className="bell"
        aria-label={count === 0 ? t('bell.open') : t('bell.openUnread', { count })}
      >
        <BellIcon />
        {count > 0 && (
          <span className="bell-count" aria-hidden="true">
            {count > SHOWN_MAX ? `${SHOWN_MAX}+` : count}
          </span>
        )}
      </IconLink>
      <span role="status" className="hidden-words">
        {hasGrown && t('bell.new', { count })}
      </span>
    </>
  );
}

/** Reports whether the count rose since the page was opened or it last fell: only that is announced. */
function useHasGrown(count: number | undefined): boolean {
  const [before, setBefore] = useState(count);
  const [hasGrown, setGrown] = useState(false);
  useEffect(() => {
    if (count === undefined || count === before) return;
    setBefore(count);
    setGrown(before !== undefined && count > before);
  }, [count, before]);
  return hasGrown;
}

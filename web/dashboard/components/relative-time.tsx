import { Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { TIME_ZONE, useFormat } from './format.ts';

const MINUTE_MS = 60_000;

/** Shows "3 minutes ago", with the exact time and zone in the title. It is updated while the page is open. */
export function RelativeTime({ at }: { at: string }) {
  const { relative, exact } = useFormat();
  const [, again] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => again((count) => count + 1), MINUTE_MS);
    return () => clearInterval(timer);
  }, []);
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at)}
    </time>
  );
}

/** Below a list with times of day: in which zone they are. */
export function TimeZoneNote() {
  const { t } = useTranslation();
  return (
    <Text size="sm" c="dimmed">
      {t('timeZone', { zone: TIME_ZONE })}
    </Text>
  );
}

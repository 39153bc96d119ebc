import { Skeleton, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';

/** Outline of a page whose code is loading. */
export function PageSkeleton() {
  return (
    <Stack>
      <Skeleton height={36} width="40%" />
      <RowsSkeleton />
    </Stack>
  );
}

/** The outline of a list or a form. */
export function RowsSkeleton({ rows = 4 }: { rows?: number }) {
  const { t } = useTranslation();
  return (
    <Stack role="status" aria-label={t('loading')}>
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are identical.
        <Skeleton key={row} height={44} />
      ))}
    </Stack>
  );
}

import { Alert, Button, Stack } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../app/api-error.ts';
import { errorMessage } from '../app/error-message.ts';
import { ErrorDetails } from './error-details.tsx';
import { WarningIcon } from './icons.tsx';
import { RowsSkeleton } from './skeletons.tsx';

interface Query<T> {
  data: T | undefined;
  error: ApiError | null;
  refetch: () => unknown;
}

/**
 * Renders the data of a query, a skeleton while it loads, and the error if there is no data. Previous data
 * stays visible.
 */
export function Loaded<T>({ query, children }: { query: Query<T>; children: (data: T) => ReactNode }) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <LoadFailed error={query.error} onRetry={query.refetch} />;
  return <RowsSkeleton />;
}

export function LoadFailed({ error, onRetry }: { error: ApiError; onRetry: () => unknown }) {
  const { t } = useTranslation();
  const { navigate } = useRouter();
  return (
    <Alert color="red" icon={<WarningIcon />} title={errorMessage(error)}>
      <Stack align="flex-start" gap="xs">
        <ErrorDetails error={error} go={navigate} />
        <Button variant="default" onClick={() => void onRetry()}>
          {t('failed.retry')}
        </Button>
      </Stack>
    </Alert>
  );
}

import { Button, Center, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../app/api-error.ts';
import { LoadFailed } from './loaded.tsx';
import { RowsSkeleton } from './skeletons.tsx';

/** One page of a list, as the API answers it. */
interface ListPage<Row> {
  data: Row[];
  pagination: { hasMore: boolean; nextCursor?: string | null };
}

/** The options of `$api.useInfiniteQuery` for a list of the API. */
export const byCursor = {
  pageParamName: 'cursor',
  initialPageParam: null,
  getNextPageParam: ({ pagination }: ListPage<unknown>) =>
    pagination.hasMore ? (pagination.nextCursor ?? null) : null,
};

interface Props<Row> {
  query: {
    data: { pages: ListPage<Row>[] } | undefined;
    error: ApiError | null;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
    refetch: () => unknown;
  };
  /** What stands there when the list is empty: an `EmptyState`. */
  empty: ReactNode;
  /** The rows that are there so far, as a table or a list. */
  children: (rows: Row[]) => ReactNode;
}

/** A list of the API with "load more"; a skeleton before the first page. */
export function CursorList<Row>({ query, empty, children }: Props<Row>) {
  const { t } = useTranslation();
  const { data, error } = query;
  if (data === undefined) {
    return error === null ? <RowsSkeleton /> : <LoadFailed error={error} onRetry={query.refetch} />;
  }
  const rows = data.pages.flatMap((page) => page.data);
  if (rows.length === 0) return empty;
  return (
    <Stack>
      {children(rows)}
      {query.hasNextPage && (
        <Center>
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {t('loadMore')}
          </Button>
        </Center>
      )}
    </Stack>
  );
}

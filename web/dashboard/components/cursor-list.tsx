import { Button, Center, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../app/api-error.ts';
import { LoadFailed } from './loaded.tsx';
import { RowsSkeleton } from './skeletons.tsx';

/** Page of a list as returned by the API. */
interface ListPage<Row> {
  data: Row[];
  pagination: { hasMore: boolean; nextCursor?: string | null };
}

/**
 * Maximum pages of a list in memory. Beyond it, pages at the other end are dropped, so that 10,000 rows need
 * as much memory as 500.
 */
const MAX_PAGES = 10;

/**
 * The first page has no cursor. An empty list is omitted from the URL, and unlike null it is a valid page
 * parameter.
 */
const FIRST: readonly never[] = [];
type PageStart = string | typeof FIRST;

/** Start of the page before each cursor: the API only returns the next one. */
const startBefore = new Map<string, PageStart>();
const MAX_PAGE_STARTS = 2000;

function noteStart(cursor: string, before: PageStart): void {
  startBefore.delete(cursor);
  startBefore.set(cursor, before);
  if (startBefore.size <= MAX_PAGE_STARTS) return;
  for (const oldest of startBefore.keys()) {
    startBefore.delete(oldest);
    return;
  }
}

/** The options of `$api.useInfiniteQuery` for a list of the API. */
export const byCursor = {
  pageParamName: 'cursor',
  initialPageParam: FIRST,
  maxPages: MAX_PAGES,
  getNextPageParam({ pagination }: ListPage<unknown>, _pages: unknown, start: unknown) {
    const next = pagination.hasMore ? (pagination.nextCursor ?? null) : null;
    if (next !== null) noteStart(next, typeof start === 'string' ? start : FIRST);
    return next;
  },
  getPreviousPageParam: (_page: unknown, _pages: unknown, start: unknown) =>
    typeof start === 'string' ? (startBefore.get(start) ?? null) : null,
};

/** Returns the same options for a list that is polled. Polling pauses while more than one page is loaded. */
export function pollEvery(ms: number) {
  return {
    ...byCursor,
    refetchInterval: ({ state: { data } }: { state: { data?: { pages: unknown[] } | undefined } }) =>
      (data?.pages.length ?? 0) > 1 ? (false as const) : ms,
  };
}

interface Props<Row> {
  query: {
    data: { pages: ListPage<Row>[] } | undefined;
    error: ApiError | null;
    hasNextPage: boolean;
    isFetchingNextPage: boolean;
    fetchNextPage: () => unknown;
    hasPreviousPage: boolean;
    isFetchingPreviousPage: boolean;
    fetchPreviousPage: () => unknown;
    refetch: () => unknown;
  };
  /** Shown when the list is empty: an `EmptyState`. */
  empty: ReactNode;
  /** Renders the loaded rows, as a table or a list. */
  children: (rows: Row[]) => ReactNode;
}

/** A list of the API with "load more", and the way back once the first pages are gone; a skeleton before the first. */
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
      {query.hasPreviousPage && (
        <LoadButton isLoading={query.isFetchingPreviousPage} onClick={query.fetchPreviousPage}>
          {t('loadPrevious')}
        </LoadButton>
      )}
      {children(rows)}
      {query.hasNextPage && (
        <LoadButton isLoading={query.isFetchingNextPage} onClick={query.fetchNextPage}>
          {t('loadMore')}
        </LoadButton>
      )}
    </Stack>
  );
}

interface LoadProps {
  isLoading: boolean;
  onClick: () => unknown;
  children: ReactNode;
}

function LoadButton({ isLoading, onClick, children }: LoadProps) {
  return (
    <Center>
      <Button variant="default" loading={isLoading} onClick={() => void onClick()}>
        {children}
      </Button>
    </Center>
  );
}

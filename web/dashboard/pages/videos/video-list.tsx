import '../../components/media.css';
import { Checkbox, Stack, Table, Text } from '@mantine/core';
import { type Dispatch, memo, type SetStateAction, useCallback, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { ownPath } from '../../components/addresses.ts';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFormat } from '../../components/format.ts';
import { TextLink } from '../../components/links.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { VisibilityName } from '../../components/visibility.tsx';
import { BulkBar } from './bulk-bar.tsx';
import type { VideosSearch } from './search.ts';
import { isInProgress, StatusBadge } from './status-badge.tsx';
import { UploadButton } from './upload/upload-button.tsx';

const REFRESH_MS = 3000;
const PAGE_ROWS = 50;

export function VideoList({ search }: { search: VideosSearch }) {
  const { t } = useTranslation('videos');
  const { q, status, visibility, tag } = search;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const query = $api.useInfiniteQuery(
    'get',
    '/videos',
    {
      params: {
        query: {
          limit: PAGE_ROWS,
          ...(q === undefined ? {} : { q }),
          ...(status === undefined ? {} : { status: [status] }),
          ...(visibility === undefined ? {} : { visibility: [visibility] }),
          ...(tag === undefined ? {} : { tag }),
        },
      },
    },
    {
      ...byCursor,
      refetchInterval: ({ state: { data } }) =>
        data?.pages.length === 1 && data.pages[0]?.data.some(isInProgress) ? REFRESH_MS : false,
    },
  );
  const isFiltered = [q, status, visibility, tag].some((value) => value !== undefined);
  const empty = isFiltered ? <Text>{t('list.nothing')}</Text> : <NoVideos />;
  return (
    <CursorList query={query} empty={empty}>
      {(rows) => (
        <Stack>
          <BulkBar videos={rows.filter(({ id }) => selected.has(id))} onSelect={setSelected} />
          <VideoTable rows={rows} selected={selected} onSelect={setSelected} />
          <TimeZoneNote />
        </Stack>
      )}
    </CursorList>
  );
}

function NoVideos() {
  const { t } = useTranslation('videos');
  return (
    <EmptyState
      title={t('empty.title')}
      text={t('empty.text')}
      action={<UploadButton />}
      curl={curlLine('POST', '/imports', { sourceUrl: 'https://files.example.com/film.mp4' })}
    />
  );
}

interface TableProps {
  rows: Shape<'Video'>[];
  selected: ReadonlySet<string>;
  onSelect: Dispatch<SetStateAction<ReadonlySet<string>>>;
}

function VideoTable({ rows, selected, onSelect }: TableProps) {
  const { t } = useTranslation('videos');
  const chosen = rows.filter(({ id }) => selected.has(id)).length;
  const toggle = useCallback(
    (id: string) =>
      onSelect((before) => {
        const next = new Set(before);
        if (!next.delete(id)) next.add(id);
        return next;
      }),
    [onSelect],
  );
  return (
    <Table aria-label={t('list.title')} verticalSpacing="xs">
      <Table.Thead>
        <Table.Tr>
          <Table.Th w={44}>
            <Checkbox
              aria-label={t('bulk.all')}
              checked={chosen === rows.length}
              indeterminate={chosen > 0 && chosen < rows.length}
              onChange={() => onSelect(new Set(chosen === rows.length ? [] : rows.map(({ id }) => id)))}
            />
          </Table.Th>
          <Table.Th visibleFrom="sm" w={136}>
            <span className="hidden-words">{t('column.picture')}</span>
          </Table.Th>
          <Table.Th>{t('column.title')}</Table.Th>
          <Table.Th>{t('column.status')}</Table.Th>
          <Table.Th visibleFrom="sm">{t('column.visibility')}</Table.Th>
          <Table.Th visibleFrom="md">{t('column.duration')}</Table.Th>
          <Table.Th visibleFrom="md">{t('column.created')}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((video) => (
          <VideoRow key={video.id} video={video} isSelected={selected.has(video.id)} onToggle={toggle} />
        ))}
      </Table.Tbody>
    </Table>
  );
}

interface RowProps {
  video: Shape<'Video'>;
  isSelected: boolean;
  onToggle: (id: string) => void;
}

/** Renders a row, memoized because there may be 500 of them. */
const VideoRow = memo(function VideoRow({ video, isSelected, onToggle }: RowProps) {
  const { t } = useTranslation('videos');
  const { date, duration } = useFormat();
  const { id, title, thumbnailUrl, durationSec } = video;
  return (
    <Table.Tr>
      <Table.Td>
        <Checkbox aria-label={t('bulk.one', { title })} checked={isSelected} onChange={() => onToggle(id)} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        {thumbnailUrl === null ? (
          <span className="picture" />
        ) : (
          <img className="picture" src={ownPath(thumbnailUrl)} alt="" loading="lazy" />
        )}
      </Table.Td>
      <Table.Td>
        <TextLink to="/videos/$id" params={{ id }} className="breaks" fw={500}>
          <bdi>{title}</bdi>
        </TextLink>
      </Table.Td>
      <Table.Td>
        <StatusBadge video={video} />
      </Table.Td>
      <Table.Td visibleFrom="sm">
        <VisibilityName visibility={video.visibility} />
      </Table.Td>
      <Table.Td visibleFrom="md">{durationSec === null ? '–' : duration(durationSec)}</Table.Td>
      <Table.Td visibleFrom="md">{date(video.createdAt)}</Table.Td>
    </Table.Tr>
  );
});

import { Group, NativeSelect, Stack, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { EditButton } from '../../components/change-button.tsx';
import { SearchIcon } from '../../components/icons.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { VisibilityFilter } from '../../components/visibility-filter.tsx';
import { ImportForm } from './import-form.tsx';
import { VIDEO_STATUSES, type VideosSearch } from './search.ts';
import { QueueList } from './upload/queue-list.tsx';
import { UnfinishedList } from './upload/unfinished-list.tsx';
import { UploadButton, UploadDrop } from './upload/upload-button.tsx';
import { VideoList } from './video-list.tsx';

const TYPING_MS = 300;

/** Lists videos, newest first, with current and unfinished uploads. */
export function VideosPage() {
  const { t } = useTranslation('videos');
  const search = useSearch({ from: '/workspace/videos' });
  const navigate = useNavigate({ from: '/videos' });
  const setImporting = (isOpen: boolean) =>
    void navigate({
      search: ({ add: _, ...rest }) => (isOpen ? { ...rest, add: 'import' } : rest),
      replace: true,
    });
  return (
    <UploadDrop>
      <Stack>
        <PageHeader
          title={t('list.title')}
          description={t('list.description')}
          actions={
            <>
              <UploadButton />
              <EditButton variant="default" onClick={() => setImporting(true)}>
                {t('import.open')}
              </EditButton>
            </>
          }
        />
        {search.add === 'import' && <ImportForm onDone={() => setImporting(false)} />}
        <QueueList />
        <UnfinishedList />
        <Filters search={search} />
        <VideoList search={search} />
      </Stack>
    </UploadDrop>
  );
}

function Filters({ search }: { search: VideosSearch }) {
  const { t } = useTranslation('videos');
  const navigate = useNavigate({ from: '/videos' });
  const set = (change: (rest: VideosSearch) => VideosSearch) =>
    void navigate({ search: change, replace: true });
  const find = useDebouncedCallback(
    (text: string) => set(({ q: _, ...rest }) => (text.trim() === '' ? rest : { ...rest, q: text.trim() })),
    TYPING_MS,
  );
  return (
    <Group align="flex-end">
      <TextInput
        type="search"
        label={t('list.search')}
        defaultValue={search.q ?? ''}
        onChange={({ currentTarget }) => find(currentTarget.value)}
        leftSection={<SearchIcon />}
        dir="auto"
      />
      <NativeSelect
        size="md"
        label={t('column.status')}
        value={search.status ?? ''}
        onChange={({ currentTarget: { value } }) => {
          const status = VIDEO_STATUSES.find((name) => name === value);
          set(({ status: _, ...rest }) => (status === undefined ? rest : { ...rest, status }));
        }}
        data={[
          { value: '', label: t('list.any') },
          ...VIDEO_STATUSES.map((value) => ({ value, label: t(`status.${value}`) })),
        ]}
      />
      <VisibilityFilter
        value={search.visibility}
        onChange={(value) =>
          set(({ visibility: _, ...rest }) => (value === undefined ? rest : { ...rest, visibility: value }))
        }
      />
    </Group>
  );
}

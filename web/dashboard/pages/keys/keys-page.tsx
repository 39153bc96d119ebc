import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { useMode } from '../../app/mode.ts';
import { EditorsOnly } from '../../components/change-button.tsx';
import { curlLine } from '../../components/curl.ts';
import { byCursor, CursorList } from '../../components/cursor-list.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { ButtonLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { KeyCard } from './key-card.tsx';

const PAGE_ROWS = 25;

export function KeysPage() {
  const { t } = useTranslation('keys');
  return (
    <Stack>
      <PageHeader title={t('list.title')} description={t('list.description')} actions={<MakeKey />} />
      <Filter />
      <Keys />
    </Stack>
  );
}

function MakeKey() {
  const { t } = useTranslation('keys');
  return (
    <EditorsOnly>
      <ButtonLink to="/keys/new">{t('list.new')}</ButtonLink>
    </EditorsOnly>
  );
}

function Filter() {
  const { t } = useTranslation('keys');
  const { show = 'all' } = useSearch({ from: '/workspace/keys' });
  const navigate = useNavigate({ from: '/keys' });
  return (
    <div>
      <SegmentedControl
        aria-label={t('list.show')}
        value={show}
        onChange={(value) =>
          void navigate({ search: value === 'usable' ? { show: value } : {}, replace: true })
        }
        data={[
          { value: 'all', label: t('list.all') },
          { value: 'usable', label: t('list.usable') },
        ]}
      />
    </div>
  );
}

function Keys() {
  const { t } = useTranslation('keys');
  const mode = useMode();
  const { show } = useSearch({ from: '/workspace/keys' });
  const isFiltered = show === 'usable';
  // A live session lists the keys of both modes; the switch selects one.
  const filter = { mode, limit: PAGE_ROWS, ...(isFiltered ? { isUsable: true } : {}) };
  const keys = $api.useInfiniteQuery('get', '/me/api-keys', { params: { query: filter } }, byCursor);
  const empty = isFiltered ? (
    <Text>{t('empty.filtered')}</Text>
  ) : (
    <EmptyState
      title={t(`empty.${mode}`)}
      text={t('empty.text')}
      action={<MakeKey />}
      curl={curlLine('POST', '/me/api-keys', { name: t('empty.name'), scope: 'STANDARD' })}
    />
  );
  return (
    <CursorList query={keys} empty={empty}>
      {(rows) => (
        <Stack>
          {rows.map((key) => (
            <KeyCard key={key.id} apiKey={key} />
          ))}
          <TimeZoneNote />
        </Stack>
      )}
    </CursorList>
  );
}

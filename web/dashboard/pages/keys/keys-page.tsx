import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { useMode } from '../../app/mode.ts';
import { curlLine } from '../../components/curl.ts';
import { EmptyState } from '../../components/empty-state.tsx';
import { ButtonLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { KeyCard } from './key-card.tsx';

export function KeysPage() {
  const { t } = useTranslation('keys');
  const mode = useMode();
  const keys = $api.useQuery('get', '/me/api-keys');
  const make = <ButtonLink to="/keys/new">{t('list.new')}</ButtonLink>;
  return (
    <Stack>
      <PageHeader title={t('list.title')} description={t('list.description')} actions={make} />
      <Loaded query={keys}>
        {({ data }) => {
          // A live session sees the keys of both; the switch says which are meant.
          const here = data.filter((key) => key.mode === mode);
          if (here.length === 0) {
            return (
              <EmptyState
                title={t(`empty.${mode}`)}
                text={t('empty.text')}
                action={make}
                curl={curlLine('POST', '/me/api-keys', { name: t('empty.name'), scope: 'STANDARD' })}
              />
            );
          }
          return (
            <Stack>
              {here.map((key) => (
                <KeyCard key={key.id} apiKey={key} />
              ))}
              <TimeZoneNote />
            </Stack>
          );
        }}
      </Loaded>
    </Stack>
  );
}

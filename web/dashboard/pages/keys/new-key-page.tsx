import { Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NewKey } from './new-key.tsx';

export function NewKeyPage() {
  const { t } = useTranslation('keys');
  return (
    <Stack>
      <PageHeader title={t('new.title')} description={t('new.description')} />
      <NewKey
        after={
          <ButtonLink to="/keys" variant="default">
            {t('new.toList')}
          </ButtonLink>
        }
      />
    </Stack>
  );
}

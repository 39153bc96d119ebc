import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ButtonLink } from '../components/links.tsx';
import { PageHeader } from '../components/page-header.tsx';

export function NotFoundPage() {
  const { t } = useTranslation();
  return (
    <Stack align="flex-start">
      <PageHeader title={t('notFound.title')} />
      <Text>{t('notFound.text')}</Text>
      <ButtonLink to="/">{t('notFound.home')}</ButtonLink>
    </Stack>
  );
}

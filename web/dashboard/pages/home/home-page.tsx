import { Anchor, List, Paper, SimpleGrid, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMode } from '../../app/mode.ts';
import { useSignedIn } from '../../app/session.ts';
import { CodeLine } from '../../components/copy-field.tsx';
import { curlLine } from '../../components/curl.ts';
import { PageHeader } from '../../components/page-header.tsx';
import { NameForm } from './name-form.tsx';

/** Home page: first steps and links to the areas. */
export function HomePage() {
  const { t } = useTranslation('home');
  const { user } = useSignedIn();
  const mode = useMode();
  return (
    <Stack>
      <PageHeader
        title={t('title', { name: user.name ?? user.email })}
        description={mode === 'test' ? t('inTest') : t('inLive')}
      />
      {user.name === null && mode === 'live' && <NameForm />}
      <SimpleGrid cols={{ base: 1, md: 2 }}>
        <Paper withBorder p="lg">
          <Stack>
            <Title order={2} size="h4">
              {t('steps.title')}
            </Title>
            <List type="ordered" spacing="sm">
              <List.Item>{t('steps.test')}</List.Item>
              <List.Item>{t('steps.key')}</List.Item>
              <List.Item>{t('steps.call')}</List.Item>
              <List.Item>{t('steps.live')}</List.Item>
            </List>
            <CodeLine label={t('steps.try')} code={curlLine('GET', '/me')} />
          </Stack>
        </Paper>
        <Paper withBorder p="lg">
          <Stack>
            <Title order={2} size="h4">
              {t('links.title')}
            </Title>
            <Text>{t('links.text')}</Text>
            <Anchor href="/openapi.json">{t('links.openapi')}</Anchor>
            <Anchor href="/api/v1/health">{t('links.health')}</Anchor>
          </Stack>
        </Paper>
      </SimpleGrid>
    </Stack>
  );
}

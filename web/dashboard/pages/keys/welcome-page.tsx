import { Anchor, List, Paper, Stack, Text, Title } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useMode } from '../../app/mode.ts';
import { useSignedIn } from '../../app/session.ts';
import { TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { NewKey } from './new-key.tsx';

/** Target of the verification email: leads to the first API call. */
export function WelcomePage() {
  const { t } = useTranslation('keys');
  const { user } = useSignedIn();
  const mode = useMode();
  return (
    <Stack>
      <PageHeader title={t('welcome.title')} description={t('welcome.verified', { email: user.email })} />
      <Title order={2} size="h4">
        {t('welcome.make')}
      </Title>
      <Text>{mode === 'test' ? t('welcome.inTest') : t('welcome.inLive')}</Text>
      <NewKey after={<Next />} />
    </Stack>
  );
}

function Next() {
  const { t } = useTranslation('keys');
  return (
    <Paper withBorder p="lg">
      <Stack>
        <Title order={2} size="h4">
          {t('welcome.next')}
        </Title>
        <List spacing="xs">
          <List.Item>
            <TextLink to="/">{t('welcome.home')}</TextLink>
          </List.Item>
          <List.Item>
            <TextLink to="/keys">{t('welcome.keys')}</TextLink>
          </List.Item>
          <List.Item>
            <Anchor href="/openapi.json">{t('welcome.reference')}</Anchor>
          </List.Item>
        </List>
      </Stack>
    </Paper>
  );
}

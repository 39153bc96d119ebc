import { Alert, Paper, Stack, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { useMode } from '../../app/mode.ts';
import { PageHeader } from '../../components/page-header.tsx';
import { TimeZoneNote } from '../../components/relative-time.tsx';
import { DeleteAccount } from './delete-account.tsx';
import { Embedding } from './embedding.tsx';
import { Export } from './export.tsx';
import { NotificationSettings } from './notification-settings.tsx';
import { Picture } from './picture.tsx';
import { ProfileForm } from './profile-form.tsx';
import { SecondFactor } from './second-factor.tsx';
import { Sessions } from './sessions.tsx';
import { SignInData } from './sign-in-data.tsx';

/** Shows the settings of the whole account, independent of the workspace. */
export function AccountPage() {
  const { t } = useTranslation('account');
  const mode = useMode();
  return (
    <Stack maw={820}>
      <PageHeader title={t('title')} description={t('description')} />
      {mode === 'test' && <Alert color="yellow">{t('inTest')}</Alert>}
      <Section title={t('profile.title')}>
        <Picture />
        <ProfileForm />
      </Section>
      <Section title={t('signIn.title')}>
        <SignInData />
      </Section>
      <Section title={t('second.title')}>
        <SecondFactor />
      </Section>
      <Section title={t('sessions.title')}>
        <Sessions />
      </Section>
      <Section title={t('notify.title')}>
        <NotificationSettings />
      </Section>
      <Section title={t('embed.title')}>
        <Embedding />
      </Section>
      <Section title={t('export.title')}>
        <Export />
      </Section>
      <Section title={t('delete.title')}>
        <DeleteAccount />
      </Section>
      <TimeZoneNote />
    </Stack>
  );
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Paper withBorder p="lg" component="section" aria-label={title}>
      <Stack>
        <Title order={2} size="h4">
          {title}
        </Title>
        {children}
      </Stack>
    </Paper>
  );
}

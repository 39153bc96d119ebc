import { Divider, Stack, Text } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { TextLink } from '../../components/links.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { SignInForm } from '../../components/sign-in-form.tsx';

export function SignInPage() {
  const { t } = useTranslation('auth');
  const navigate = useNavigate();
  const { next = '/', back } = useSearch({ from: '/public/sign-in' });
  return (
    <Stack>
      <PageHeader title={t('signIn.title')} />
      <SignInForm
        onDone={() => {
          if (back === undefined) void navigate({ href: next, replace: true });
          else window.location.replace(back);
        }}
      />
      <Divider />
      <Text ta="center">
        {t('signIn.noAccount')}{' '}
        <TextLink to="/sign-up" search={{ next }}>
          {t('signIn.signUp')}
        </TextLink>
      </Text>
    </Stack>
  );
}

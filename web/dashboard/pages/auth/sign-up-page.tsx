import { Anchor, Button, Divider, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { errorMessage } from '../../app/error-message.ts';
import { formErrors } from '../../app/form.ts';
import { loadRegistration, type RegistrationTerms, register } from '../../app/session.ts';
import { TextLink } from '../../components/links.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { PageHeader } from '../../components/page-header.tsx';

export function SignUpPage() {
  const { t } = useTranslation('auth');
  const { next, invite, email = '' } = useSearch({ from: '/public/sign-up' });
  const registration = useQuery({ queryKey: ['registration'], queryFn: loadRegistration });
  return (
    <Stack>
      <PageHeader title={t('signUp.title')} />
      <Loaded query={registration}>
        {(terms) => {
          if (terms.mode === 'closed') return <Text>{t('signUp.closed')}</Text>;
          if (terms.mode === 'invite' && invite === undefined) return <Text>{t('signUp.inviteOnly')}</Text>;
          return (
            <SignUpForm inviteToken={invite} invited={email} terms={terms} next={next ?? '/check-mail'} />
          );
        }}
      </Loaded>
      <Divider />
      <Text ta="center">
        {t('signUp.haveAccount')}{' '}
        <TextLink to="/sign-in" search={next === undefined ? {} : { next }}>
          {t('signUp.signIn')}
        </TextLink>
      </Text>
    </Stack>
  );
}

interface SignUpProps {
  inviteToken: string | undefined;
  /** Email that the invitation is for. */
  invited: string;
  terms: RegistrationTerms;
  /**
   * Path to open after the sign-up. Pages that require a verified email redirect to its verification
   * themselves.
   */
  next: string;
}

function SignUpForm({ inviteToken, invited, terms, next }: SignUpProps) {
  const { termsUrl, passwordMinLength: min } = terms;
  const { t } = useTranslation('auth');
  const navigate = useNavigate();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', email: invited, password: '' },
    validate: { password: (value) => (value.length < min ? t('signUp.weak', { min }) : null) },
  });
  const signUp = useMutation({
    mutationFn: ({ name, email, password }: { name: string; email: string; password: string }) =>
      register({
        email,
        password,
        ...(name.trim() === '' ? {} : { name: name.trim() }),
        ...(inviteToken === undefined ? {} : { inviteToken }),
      }),
    meta: { errors: 'form' },
    onSuccess: () => navigate({ href: next }),
    onError: (error) => {
      const field = { EMAIL_EXISTS: 'email', INVALID_EMAIL: 'email', WEAK_PASSWORD: 'password' }[error.code];
      if (field === undefined) return formErrors(form)(error);
      form.setFieldError(field, errorMessage(error));
      form.getInputNode(field)?.focus();
    },
  });
  return (
    <form onSubmit={form.onSubmit((values) => signUp.mutate(values))}>
      <Stack>
        <TextInput
          {...form.getInputProps('name')}
          key={form.key('name')}
          label={t('signUp.name')}
          autoComplete="name"
          maxLength={100}
        />
        <TextInput
          {...form.getInputProps('email')}
          key={form.key('email')}
          label={t('signUp.email')}
          type="email"
          autoComplete="username"
          required
        />
        <PasswordInput
          {...form.getInputProps('password')}
          key={form.key('password')}
          label={t('signUp.password')}
          description={t('signUp.passwordHint', { min })}
          autoComplete="new-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': t('signUp.showPassword') }}
        />
        {termsUrl !== null && (
          <Text size="sm">
            {t('signUp.terms')}{' '}
            <Anchor href={termsUrl} target="_blank" rel="noopener">
              {t('signUp.termsLink')}
            </Anchor>
          </Text>
        )}
        <Button type="submit" loading={signUp.isPending} fullWidth>
          {t('signUp.submit')}
        </Button>
      </Stack>
    </form>
  );
}

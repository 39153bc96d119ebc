import { Alert, Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { useSignedIn } from '../../app/session.ts';
import { fieldErrors } from './field-error.ts';

/** Changes the email and password of the account. */
export function SignInData() {
  return (
    <Stack gap="xl">
      <Email />
      <Password />
    </Stack>
  );
}

function Email() {
  const { t } = useTranslation('account');
  const { user } = useSignedIn();
  const form = useForm({ initialValues: { email: '', password: '' } });
  const change = $api.useMutation('patch', '/me/email', {
    meta: { errors: 'form' },
    onSuccess: () => form.reset(),
    onError: fieldErrors(form, 'password', t('second.wrongPassword')),
  });
  return (
    <form onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
      <Stack>
        <Text>{t('signIn.email', { email: user.email })}</Text>
        {change.data !== undefined && (
          <Alert color="blue" role="status">
            {t('signIn.asked', { email: change.data.data.pendingEmail })}
          </Alert>
        )}
        <TextInput
          {...form.getInputProps('email')}
          type="email"
          label={t('signIn.newEmail')}
          autoComplete="email"
          required
        />
        <Secret
          {...form.getInputProps('password')}
          label={t('second.password')}
          autoComplete="current-password"
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            {t('signIn.changeEmail')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Password() {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: { password: '', newPassword: '' } });
  const change = $api.useMutation('post', '/me/password', {
    meta: { errors: 'form' },
    gcTime: 0,
    onSuccess: () => form.reset(),
    onError: fieldErrors(form, 'password', t('second.wrongPassword')),
  });
  return (
    <form onSubmit={form.onSubmit((body) => change.mutate({ body }))}>
      <Stack>
        {change.isSuccess && (
          <Alert color="green" role="status">
            {t('signIn.passwordChanged')}
          </Alert>
        )}
        <Secret
          {...form.getInputProps('password')}
          label={t('signIn.oldPassword')}
          autoComplete="current-password"
        />
        <Secret
          {...form.getInputProps('newPassword')}
          label={t('signIn.newPassword')}
          description={t('signIn.passwordHint')}
          autoComplete="new-password"
        />
        <Group>
          <Button type="submit" loading={change.isPending}>
            {t('signIn.changePassword')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function Secret(props: { label: string; description?: string; autoComplete: string }) {
  const { t } = useTranslation('account');
  return (
    <PasswordInput {...props} required visibilityToggleButtonProps={{ 'aria-label': t('second.show') }} />
  );
}

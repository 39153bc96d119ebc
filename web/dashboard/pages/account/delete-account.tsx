import { Button, Group, PasswordInput, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { fieldErrors } from './field-error.ts';

/** Deletes the account and redirects to the sign-in, because the session has ended. */
export function DeleteAccount() {
  const { t } = useTranslation('account');
  const form = useForm({ initialValues: { password: '' } });
  const remove = $api.useMutation('delete', '/me', {
    meta: { errors: 'form' },
    gcTime: 0,
    onSuccess: () => location.assign('/dashboard'),
    onError: fieldErrors(form, 'password', t('second.wrongPassword')),
  });
  return (
    <form onSubmit={form.onSubmit((body) => remove.mutate({ body }))}>
      <Stack>
        <Text>{t('delete.text')}</Text>
        <PasswordInput
          {...form.getInputProps('password')}
          label={t('second.password')}
          autoComplete="current-password"
          required
          visibilityToggleButtonProps={{ 'aria-label': t('second.show') }}
        />
        <Group>
          <Button type="submit" color="red" loading={remove.isPending}>
            {t('delete.button')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

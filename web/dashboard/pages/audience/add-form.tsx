import { Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';

/** Adds an email to the list; its owner confirms it by email. */
export function AddForm({ onAdded }: { onAdded: () => Promise<void> }) {
  const { t } = useTranslation('audience');
  const form = useForm({
    initialValues: { email: '', name: '' },
    validate: { email: (email) => (email.trim() === '' ? t('missing') : null) },
  });
  useUnsaved(form);
  const add = $api.useMutation('post', '/subscribers', {
    meta: { errors: 'form' },
    onSuccess: ({ data }) => {
      form.reset();
      showSuccess(t(`added.${data.status}`, { email: data.email }));
      return onAdded();
    },
    onError: formErrors(form),
  });
  return (
    <form
      noValidate
      onSubmit={form.onSubmit(({ email, name }) =>
        add.mutate({ body: { email: email.trim(), name: name.trim() || null } }),
      )}
    >
      <Stack maw={640}>
        <TextInput
          {...form.getInputProps('email')}
          type="email"
          label={t('email')}
          description={t('emailHint')}
          maxLength={254}
          required
          dir="ltr"
        />
        <TextInput {...form.getInputProps('name')} label={t('name')} maxLength={120} dir="auto" />
        <Group>
          <EditButton type="submit" loading={add.isPending}>
            {t('add')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}

import { Group, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { loadSession } from '../../app/session.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';

const NAME_MAX = 100;

/** Asks for the public name while there is none. */
export function NameForm() {
  const { t } = useTranslation('home');
  const form = useForm({ mode: 'uncontrolled', initialValues: { name: '' } });
  useUnsaved(form);
  const save = $api.useMutation('patch', '/me', {
    meta: { errors: 'form' },
    onSuccess: loadSession,
    onError: formErrors(form),
  });
  return (
    <Paper withBorder p="lg">
      <form onSubmit={form.onSubmit((body) => save.mutate({ body }))}>
        <Stack>
          <Title order={2} size="h4">
            {t('name.title')}
          </Title>
          <Group align="flex-end">
            <TextInput
              {...form.getInputProps('name')}
              key={form.key('name')}
              label={t('name.label')}
              description={t('name.hint')}
              autoComplete="name"
              maxLength={NAME_MAX}
              required
              flex={1}
              miw={200}
            />
            <EditButton of="settings" type="submit" loading={save.isPending}>
              {t('name.save')}
            </EditButton>
          </Group>
        </Stack>
      </form>
    </Paper>
  );
}

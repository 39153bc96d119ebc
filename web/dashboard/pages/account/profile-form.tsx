import { Group, NativeSelect, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { loadSession } from '../../app/session.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { zonesWith } from '../../components/time-zones.ts';

export function ProfileForm() {
  const me = $api.useQuery('get', '/me');
  return <Loaded query={me}>{({ data }) => <Fields me={data} />}</Loaded>;
}

function Fields({ me }: { me: Pick<Shape<'Me'>, 'name' | 'username' | 'bio' | 'locale' | 'timezone'> }) {
  const { t } = useTranslation('account');
  const form = useForm({
    initialValues: {
      name: me.name ?? '',
      username: me.username,
      bio: me.bio ?? '',
      locale: me.locale,
      timezone: me.timezone,
    },
  });
  useUnsaved(form);
  const save = $api.useMutation('patch', '/me', {
    meta: { errors: 'form' },
    onSuccess: async () => {
      form.resetDirty();
      showSuccess(t('saved'));
      await Promise.all([queries.invalidateQueries({ queryKey: ['get', '/me'] }), loadSession()]);
    },
    onError: formErrors(form),
  });
  return (
    <form
      onSubmit={form.onSubmit(({ name, bio, ...rest }) =>
        save.mutate({ body: { ...rest, name: name.trim() || null, bio: bio.trim() || null } }),
      )}
    >
      <Stack>
        <TextInput
          {...form.getInputProps('name')}
          label={t('profile.name')}
          autoComplete="name"
          maxLength={120}
        />
        <TextInput
          {...form.getInputProps('username')}
          label={t('profile.username')}
          description={t('profile.usernameHint')}
          maxLength={39}
          required
          dir="ltr"
        />
        <Textarea
          {...form.getInputProps('bio')}
          label={t('profile.bio')}
          maxLength={1000}
          autosize
          minRows={2}
        />
        <TextInput
          {...form.getInputProps('locale')}
          label={t('profile.locale')}
          description={t('profile.localeHint')}
          maxLength={35}
          dir="ltr"
        />
        <NativeSelect
          {...form.getInputProps('timezone')}
          label={t('profile.timezone')}
          description={t('profile.timezoneHint')}
          size="md"
          data={zonesWith(me.timezone)}
        />
        <Group>
          <EditButton of="settings" type="submit" loading={save.isPending}>
            {t('save')}
          </EditButton>
        </Group>
      </Stack>
    </form>
  );
}

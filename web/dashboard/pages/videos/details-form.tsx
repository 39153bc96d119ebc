import { Group, Stack, TagsInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { TitleFields } from '../../components/title-fields.tsx';
import { refreshVideo } from './refresh.ts';

function valuesOf({ title, description, tags }: Shape<'Video'>) {
  return { title, description: description ?? '', tags };
}

type Values = ReturnType<typeof valuesOf>;

/** Edits the details of a video. It is saved independently of an upload in progress. */
export function DetailsForm({ video }: { video: Shape<'Video'> }) {
  const { t } = useTranslation('videos');
  const form = useForm({ mode: 'uncontrolled', initialValues: valuesOf(video) });
  useUnsaved(form);
  const save = $api.useMutation('patch', '/videos/{id}', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: async () => {
      form.resetDirty();
      showSuccess(t('details.saved'));
      await refreshVideo();
    },
  });
  const submit = ({ title, description, tags }: Values) =>
    save.mutate({
      params: { path: { id: video.id } },
      body: { title, description: description.trim() === '' ? null : description, tags },
    });
  return (
    <Panel title={t('details.title')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <TitleFields form={form} />
          <TagsInput
            {...form.getInputProps('tags')}
            key={form.key('tags')}
            size="md"
            label={t('details.tags')}
            description={t('details.tagsHint')}
            maxTags={30}
            acceptValueOnBlur
          />
          <Group justify="flex-end">
            <EditButton type="submit" loading={save.isPending}>
              {t('details.save')}
            </EditButton>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

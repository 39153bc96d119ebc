import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { isVisibility, VisibilitySelect } from '../../components/visibility.tsx';

const EXAMPLE = 'https://files.example.com/film.mp4';

/** The second way in: the platform fetches the file itself. */
export function ImportForm({ onDone }: { onDone: () => void }) {
  const { t } = useTranslation('videos');
  const navigate = useNavigate();
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { sourceUrl: '', title: '', visibility: 'PRIVATE' },
  });
  useUnsaved(form);
  const create = $api.useMutation('post', '/imports', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: ({ data: { videoId } }) => {
      form.resetDirty();
      void queries.invalidateQueries({ queryKey: ['get', '/videos'] });
      if (videoId === null) return onDone();
      return navigate({ to: '/videos/$id', params: { id: videoId } });
    },
  });
  const submit = ({
    sourceUrl,
    title,
    visibility,
  }: {
    sourceUrl: string;
    title: string;
    visibility: string;
  }) =>
    create.mutate({
      body: {
        sourceUrl: sourceUrl.trim(),
        ...(title.trim() === '' ? {} : { title }),
        ...(isVisibility(visibility) ? { visibility } : {}),
      },
    });
  return (
    <Panel title={t('import.title')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <Text size="sm">{t('import.text')}</Text>
          <TextInput
            {...form.getInputProps('sourceUrl')}
            key={form.key('sourceUrl')}
            label={t('import.address')}
            type="url"
            placeholder={EXAMPLE}
            dir="ltr"
            required
            autoFocus
          />
          <TextInput
            {...form.getInputProps('title')}
            key={form.key('title')}
            label={t('import.name')}
            maxLength={200}
            dir="auto"
          />
          <VisibilitySelect {...form.getInputProps('visibility')} key={form.key('visibility')} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onDone}>
              {t('import.cancel')}
            </Button>
            <EditButton type="submit" loading={create.isPending}>
              {t('import.create')}
            </EditButton>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

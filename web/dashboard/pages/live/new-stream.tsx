import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { createIdempotencyKeys } from '../../app/idempotency-key.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { isVisibility, VisibilitySelect } from '../../components/visibility.tsx';

/** A title is enough; everything else can be changed on the page of the stream, which opens then. */
export function NewStream({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation('live');
  const navigate = useNavigate();
  const [repeatKey] = useState(createIdempotencyKeys);
  const form = useForm({ mode: 'uncontrolled', initialValues: { title: '', visibility: 'PUBLIC' } });
  useUnsaved(form);
  const create = $api.useMutation('post', '/streams', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: ({ data }) => {
      form.resetDirty();
      void queries.invalidateQueries({ queryKey: ['get', '/streams'] });
      return navigate({ to: '/live/$id', params: { id: data.id } });
    },
  });
  const submit = ({ title, visibility }: { title: string; visibility: string }) => {
    const body = { title, ...(isVisibility(visibility) ? { visibility } : {}) };
    create.mutate({ params: { header: { 'Idempotency-Key': repeatKey(body) } }, body });
  };
  return (
    <Panel title={t('new.title')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <TextInput
            {...form.getInputProps('title')}
            key={form.key('title')}
            label={t('settings.title')}
            description={t('new.titleHint')}
            maxLength={200}
            dir="auto"
            required
            autoFocus
          />
          <VisibilitySelect {...form.getInputProps('visibility')} key={form.key('visibility')} />
          <Group justify="flex-end">
            <Button variant="default" onClick={onCancel}>
              {t('new.cancel')}
            </Button>
            <EditButton type="submit" loading={create.isPending}>
              {t('new.create')}
            </EditButton>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

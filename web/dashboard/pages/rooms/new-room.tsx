import { Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { createIdempotencyKeys } from '../../app/idempotency-key.ts';
import type { Shape } from '../../app/shape.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Panel } from '../../components/panel.tsx';

/** A name is enough; everything else can be changed on the page of the room, which opens then. */
export function NewRoom({ onCancel }: { onCancel: () => void }) {
  const { t } = useTranslation('rooms');
  const navigate = useNavigate();
  const [repeatKey] = useState(createIdempotencyKeys);
  const form = useForm({
    mode: 'uncontrolled',
    initialValues: { name: '', waitingRoom: true, recordEnabled: false },
  });
  useUnsaved(form);
  const create = $api.useMutation('post', '/rooms', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: ({ data }) => {
      form.resetDirty();
      void queries.invalidateQueries({ queryKey: ['get', '/rooms'] });
      return navigate({ to: '/rooms/$id', params: { id: data.id } });
    },
  });
  const submit = (body: Shape<'RoomCreate'>) =>
    create.mutate({ params: { header: { 'Idempotency-Key': repeatKey(body) } }, body });
  return (
    <Panel title={t('new.title')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <TextInput
            {...form.getInputProps('name')}
            key={form.key('name')}
            label={t('settings.name')}
            description={t('new.nameHint')}
            maxLength={120}
            dir="auto"
            required
            autoFocus
          />
          <Switch
            {...form.getInputProps('waitingRoom', { type: 'checkbox' })}
            key={form.key('waitingRoom')}
            label={t('settings.waitingRoom')}
            description={t('settings.waitingRoomMeans')}
          />
          <Switch
            {...form.getInputProps('recordEnabled', { type: 'checkbox' })}
            key={form.key('recordEnabled')}
            label={t('settings.recordEnabled')}
            description={t('settings.recordEnabledMeans')}
          />
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

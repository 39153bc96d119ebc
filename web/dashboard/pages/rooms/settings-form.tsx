import {
  Group,
  NativeSelect,
  NumberInput,
  SimpleGrid,
  Stack,
  Switch,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { refreshRoom } from './refresh.ts';

function valuesOf(room: Shape<'Room'>) {
  const { name, description, maxParticipants, waitingRoom, recordEnabled, recordLayout } = room;
  return { name, description: description ?? '', maxParticipants, waitingRoom, recordEnabled, recordLayout };
}

const LAYOUTS = ['GRID', 'SPEAKER'] as const;

type Values = ReturnType<typeof valuesOf>;

/** The settings that matter to a host; the API has some more. */
export function SettingsForm({ room }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  // Polled data does not overwrite fields that are being edited.
  const form = useForm({ mode: 'uncontrolled', initialValues: valuesOf(room) });
  useUnsaved(form);
  const save = $api.useMutation('patch', '/rooms/{id}', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: async () => {
      form.resetDirty();
      showSuccess(t('settings.saved'));
      await refreshRoom();
    },
  });
  const submit = (values: Values) => {
    const description = values.description.trim() === '' ? null : values.description;
    save.mutate({ params: { path: { id: room.id } }, body: { ...values, description } });
  };
  return (
    <Panel title={t('settings.title')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <TextInput
            {...form.getInputProps('name')}
            key={form.key('name')}
            label={t('settings.name')}
            maxLength={120}
            dir="auto"
            required
          />
          <Textarea
            {...form.getInputProps('description')}
            key={form.key('description')}
            label={t('settings.description')}
            maxLength={2000}
            dir="auto"
            autosize
            minRows={2}
          />
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <Stack>
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
            </Stack>
            <Stack>
              <NumberInput
                {...form.getInputProps('maxParticipants')}
                key={form.key('maxParticipants')}
                size="md"
                label={t('settings.maxParticipants')}
                description={t('settings.maxParticipantsMeans')}
                min={1}
                allowDecimal={false}
                allowNegative={false}
                hideControls
                required
              />
              <NativeSelect
                {...form.getInputProps('recordLayout')}
                key={form.key('recordLayout')}
                label={t('settings.recordLayout')}
                description={t('settings.recordLayoutMeans')}
                data={LAYOUTS.map((value) => ({ value, label: t(`layout.${value}`) }))}
              />
            </Stack>
          </SimpleGrid>
          <Group justify="flex-end">
            <EditButton type="submit" loading={save.isPending}>
              {t('settings.save')}
            </EditButton>
          </Group>
        </Stack>
      </form>
    </Panel>
  );
}

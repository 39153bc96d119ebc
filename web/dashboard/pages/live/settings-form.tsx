import { Group, NativeSelect, NumberInput, SimpleGrid, Stack, Switch } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { Panel } from '../../components/panel.tsx';
import { TierChecks } from '../../components/tier-checks.tsx';
import { TitleFields } from '../../components/title-fields.tsx';
import { VisibilitySelect } from '../../components/visibility.tsx';
import { refreshStream } from './refresh.ts';

const CHAT_MODES = ['OPEN', 'FOLLOWERS', 'TIER', 'OFF'] as const;

/** Value of a number input: '' when it is empty, which means no limit (null). */
type Optional = number | '';

function valuesOf(stream: Shape<'Stream'>) {
  const { title, visibility, tierIds, record, recordVisibility, latencyMode } = stream;
  const { enabled, autoStart, chatEnabled, chatMode, slowModeSec } = stream;
  const { reconnectWindowSec, dvrWindowSec } = stream;
  const autoStopAfterSec: Optional = stream.autoStopAfterSec ?? '';
  const maxDurationSec: Optional = stream.maxDurationSec ?? '';
  return {
    ...{
      title,
      description: stream.description ?? '',
      visibility,
      tierIds,
      record,
      recordVisibility,
      latencyMode,
    },
    ...{ reconnectWindowSec, dvrWindowSec, enabled, autoStart, chatEnabled, chatMode, slowModeSec },
    ...{ autoStopAfterSec, maxDurationSec },
  };
}

type Values = ReturnType<typeof valuesOf>;

function bodyOf(values: Values): Shape<'StreamUpdate'> {
  const { description, autoStopAfterSec, maxDurationSec } = values;
  return {
    ...values,
    description: description.trim() === '' ? null : description,
    autoStopAfterSec: autoStopAfterSec === '' ? null : autoStopAfterSec,
    maxDurationSec: maxDurationSec === '' ? null : maxDurationSec,
  };
}

function useSettings(stream: Shape<'Stream'>) {
  // Polled data does not overwrite fields that are being edited.
  return useForm({ mode: 'uncontrolled', initialValues: valuesOf(stream) });
}

type Form = ReturnType<typeof useSettings>;

/** The settings that matter for a broadcast; the API has some more. */
export function SettingsForm({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const form = useSettings(stream);
  useUnsaved(form);
  const save = $api.useMutation('patch', '/streams/{id}', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: async () => {
      form.resetDirty();
      showSuccess(t('settings.saved'));
      await refreshStream();
    },
  });
  const submit = (values: Values) =>
    save.mutate({ params: { path: { id: stream.id } }, body: bodyOf(values) });
  return (
    <Panel title={t('tab.settings')}>
      <form onSubmit={form.onSubmit(submit)}>
        <Stack>
          <AboutFields form={form} />
          <SimpleGrid cols={{ base: 1, md: 2 }}>
            <RecordFields form={form} />
            <EndFields form={form} />
            <ChatFields form={form} />
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

function AboutFields({ form }: { form: Form }) {
  const { t } = useTranslation('live');
  const [visibility, setVisibility] = useState(form.getInitialValues().visibility);
  form.watch('visibility', ({ value }) => setVisibility(value));
  return (
    <>
      <TitleFields form={form} />
      <VisibilitySelect
        {...form.getInputProps('visibility')}
        key={form.key('visibility')}
        current={form.getInitialValues().visibility}
        more={['TIER']}
      />
      {visibility === 'TIER' && <TierChecks {...form.getInputProps('tierIds')} key={form.key('tierIds')} />}
      <Switch
        {...form.getInputProps('enabled', { type: 'checkbox' })}
        key={form.key('enabled')}
        label={t('settings.enabled')}
        description={t('settings.enabledMeans')}
      />
    </>
  );
}

function RecordFields({ form }: { form: Form }) {
  const { t } = useTranslation('live');
  return (
    <Stack>
      <Switch
        {...form.getInputProps('record', { type: 'checkbox' })}
        key={form.key('record')}
        label={t('settings.record')}
        description={t('settings.recordMeans')}
      />
      <VisibilitySelect
        {...form.getInputProps('recordVisibility')}
        key={form.key('recordVisibility')}
        label={t('settings.recordVisibility')}
        current={form.getInitialValues().recordVisibility}
      />
      <NativeSelect
        {...form.getInputProps('latencyMode')}
        key={form.key('latencyMode')}
        size="md"
        label={t('settings.latency')}
        description={t('settings.latencyMeans')}
        data={[
          { value: 'STANDARD', label: t('settings.latencyStandard') },
          { value: 'LOW', label: t('settings.latencyLow') },
        ]}
      />
      <Seconds form={form} name="dvrWindowSec" max={14_400} />
    </Stack>
  );
}

function EndFields({ form }: { form: Form }) {
  const { t } = useTranslation('live');
  return (
    <Stack>
      <Switch
        {...form.getInputProps('autoStart', { type: 'checkbox' })}
        key={form.key('autoStart')}
        label={t('settings.autoStart')}
        description={t('settings.autoStartMeans')}
      />
      <Seconds form={form} name="reconnectWindowSec" max={1800} />
      <Seconds form={form} name="autoStopAfterSec" min={1} max={43_200} />
      <Seconds form={form} name="maxDurationSec" min={60} max={43_200} />
    </Stack>
  );
}

function ChatFields({ form }: { form: Form }) {
  const { t } = useTranslation('live');
  return (
    <Stack>
      <Switch
        {...form.getInputProps('chatEnabled', { type: 'checkbox' })}
        key={form.key('chatEnabled')}
        label={t('settings.chat')}
        description={t('settings.chatMeans')}
      />
      <NativeSelect
        {...form.getInputProps('chatMode')}
        key={form.key('chatMode')}
        size="md"
        label={t('settings.chatMode')}
        data={CHAT_MODES.map((value) => ({ value, label: t(`chatMode.${value}`) }))}
      />
      <Seconds form={form} name="slowModeSec" max={3600} />
    </Stack>
  );
}

interface SecondsProps {
  form: Form;
  name: 'reconnectWindowSec' | 'dvrWindowSec' | 'autoStopAfterSec' | 'maxDurationSec' | 'slowModeSec';
  min?: number;
  max: number;
}

function Seconds({ form, name, min = 0, max }: SecondsProps) {
  const { t } = useTranslation('live');
  return (
    <NumberInput
      {...form.getInputProps(name)}
      key={form.key(name)}
      size="md"
      label={t(`seconds.${name}`)}
      description={t(`secondsMeans.${name}`)}
      min={min}
      max={max}
      allowDecimal={false}
      allowNegative={false}
      hideControls
      required={name !== 'autoStopAfterSec' && name !== 'maxDurationSec'}
    />
  );
}

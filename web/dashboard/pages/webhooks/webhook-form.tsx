import { Stack, Switch, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import type { ApiError } from '../../app/api-error.ts';
import { formErrors } from '../../app/form.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { EventPicker } from './event-picker.tsx';

export interface WebhookValues {
  url: string;
  description: string;
  events: string[];
  isActive: boolean;
}

interface Props {
  initial: WebhookValues;
  submit: string;
  isPending: boolean;
  /** Calls `onError` with an error, whose message is shown at its input, or `onSuccess`. */
  onSubmit: (
    values: WebhookValues,
    answers: { onError: (error: ApiError) => void; onSuccess: () => void },
  ) => void;
}

/** Edits the URL of a webhook and its event types. */
export function WebhookForm({ initial, submit, isPending, onSubmit }: Props) {
  const { t } = useTranslation('webhooks');
  const form = useForm<WebhookValues>({
    initialValues: initial,
    validate: { url: (url) => (url.trim() === '' ? t('form.urlMissing') : null) },
  });
  useUnsaved(form);
  return (
    <form
      onSubmit={form.onSubmit((values) =>
        onSubmit(values, { onError: formErrors(form), onSuccess: () => form.resetDirty() }),
      )}
      noValidate
    >
      <Stack maw={640}>
        <TextInput
          {...form.getInputProps('url')}
          label={t('form.url')}
          description={t('form.urlHint')}
          placeholder={t('form.urlExample')}
          type="url"
          required
          dir="ltr"
        />
        <TextInput
          {...form.getInputProps('description')}
          label={t('form.description')}
          description={t('form.descriptionHint')}
          maxLength={500}
        />
        <EventPicker
          value={form.values.events}
          error={form.errors.events}
          onChange={(events) => form.setFieldValue('events', events)}
        />
        <Switch
          label={t('form.active')}
          description={t('form.activeHint')}
          checked={form.values.isActive}
          onChange={(event) => form.setFieldValue('isActive', event.currentTarget.checked)}
        />
        <EditButton type="submit" loading={isPending}>
          {submit}
        </EditButton>
      </Stack>
    </form>
  );
}

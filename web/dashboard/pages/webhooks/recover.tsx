import { Button, Modal, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useDisclosure } from '@mantine/hooks';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import { showSuccess } from '../../app/toasts.ts';
import { EditButton } from '../../components/change-button.tsx';
import { TIME_ZONE } from '../../components/format.ts';
import { refreshWebhooks, type Webhook } from './webhook.ts';

/** Formats a date as `YYYY-MM-DDTHH:MM` in the browser's time zone, as the input requires. */
function localInput(date: Date): string {
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const DAY_MS = 86_400_000;

/** Sends everything again that was not delivered since a time. */
export function Recover({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks');
  const [isOpen, dialog] = useDisclosure();
  const form = useForm({ initialValues: { since: localInput(new Date(Date.now() - DAY_MS)) } });
  const recover = $api.useMutation('post', '/me/webhooks/{id}/recover', {
    meta: { errors: 'form' },
    onSuccess: ({ data }) => {
      showSuccess(t('recover.done', { count: data.queued }));
      dialog.close();
      return refreshWebhooks();
    },
    onError: formErrors(form),
  });
  return (
    <>
      <Button variant="default" onClick={dialog.open} disabled={!webhook.isActive}>
        {t('recover.label')}
      </Button>
      <Modal
        opened={isOpen}
        onClose={dialog.close}
        title={t('recover.title')}
        closeButtonProps={{ 'aria-label': t('recover.close') }}
      >
        <form
          onSubmit={form.onSubmit(({ since }) =>
            recover.mutate({
              params: { path: { id: webhook.id } },
              body: { since: new Date(since).toISOString() },
            }),
          )}
        >
          <Stack>
            <Text>{t('recover.text')}</Text>
            <TextInput
              {...form.getInputProps('since')}
              type="datetime-local"
              label={t('recover.since', { zone: TIME_ZONE })}
              required
            />
            <EditButton type="submit" loading={recover.isPending}>
              {t('recover.submit')}
            </EditButton>
          </Stack>
        </form>
      </Modal>
    </>
  );
}

import { Divider, Group, Modal, Stack, Text, Title } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { showSuccess } from '../../app/toasts.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import { HowToVerify } from './how-to-verify.tsx';
import { refreshWebhooks, type Webhook } from './webhook.ts';
import { WebhookForm } from './webhook-form.tsx';

/** Edits a webhook, rotates its secret, or deletes it. */
export function Settings({ webhook }: { webhook: Webhook }) {
  const { t } = useTranslation('webhooks');
  const navigate = useNavigate();
  const params = { path: { id: webhook.id } };
  const change = $api.useMutation('patch', '/me/webhooks/{id}', {
    meta: { errors: 'form' },
    onSuccess: () => {
      showSuccess(t('settings.saved'));
      return refreshWebhooks();
    },
  });
  const remove = $api.useMutation('delete', '/me/webhooks/{id}');
  const removeAndLeave = async () => {
    await remove.mutateAsync({ params });
    await navigate({ to: '/webhooks', ignoreBlocker: true });
    await refreshWebhooks();
  };
  const { url, description, events, isActive } = webhook;
  return (
    <Stack>
      <WebhookForm
        initial={{ url, description, events, isActive }}
        submit={t('settings.save')}
        isPending={change.isPending}
        onSubmit={(body, answers) => change.mutate({ params, body }, answers)}
      />
      <Divider />
      <Secret id={webhook.id} />
      <HowToVerify />
      <Divider />
      <Title order={2} size="h4">
        {t('delete.heading')}
      </Title>
      <Group>
        <ConfirmAction
          label={t('delete.label')}
          title={t('delete.title')}
          text={t('delete.text')}
          onConfirm={removeAndLeave}
          isPending={remove.isPending}
        />
      </Group>
    </Stack>
  );
}

function Secret({ id }: { id: string }) {
  const { t } = useTranslation('webhooks');
  const rotate = $api.useMutation('post', '/me/webhooks/{id}/rotate-secret', {
    gcTime: 0,
    onSuccess: () => refreshWebhooks(),
  });
  return (
    <Stack align="flex-start">
      <Title order={2} size="h4">
        {t('secret.label')}
      </Title>
      <Text>{t('secret.text')}</Text>
      <ConfirmAction
        label={t('secret.rotate')}
        title={t('secret.title')}
        text={t('secret.stops')}
        onConfirm={() => rotate.mutateAsync({ params: { path: { id } } })}
        isPending={rotate.isPending}
      />
      <Modal
        opened={rotate.data !== undefined}
        onClose={rotate.reset}
        title={t('secret.label')}
        withCloseButton={false}
        closeOnEscape={false}
        closeOnClickOutside={false}
      >
        {rotate.data !== undefined && (
          <OneTimeSecret
            label={t('secret.label')}
            value={rotate.data.data.signingSecret}
            onStored={rotate.reset}
          />
        )}
      </Modal>
    </Stack>
  );
}

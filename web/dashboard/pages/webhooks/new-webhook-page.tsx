import { Stack } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import { OneTimeSecret } from '../../components/one-time-secret.tsx';
import { PageHeader } from '../../components/page-header.tsx';
import { HowToVerify } from './how-to-verify.tsx';
import { WebhookForm } from './webhook-form.tsx';

const NEW = { url: '', description: '', events: [], isActive: true };

export function NewWebhookPage() {
  const { t } = useTranslation('webhooks');
  const navigate = useNavigate();
  const add = $api.useMutation('post', '/me/webhooks', {
    meta: { errors: 'form' },
    gcTime: 0,
    onSuccess: () => queries.invalidateQueries({ queryKey: ['get', '/me/webhooks'] }),
  });
  const made = add.data?.data;
  return (
    <Stack>
      <PageHeader title={t('new.title')} description={t('new.description')} />
      {made === undefined ? (
        <WebhookForm
          initial={NEW}
          submit={t('new.submit')}
          isPending={add.isPending}
          onSubmit={(body, answers) => add.mutate({ body }, answers)}
        />
      ) : (
        <Stack maw={720}>
          <OneTimeSecret
            label={t('secret.label')}
            value={made.signingSecret}
            onStored={() => void navigate({ to: '/webhooks/$webhookId', params: { webhookId: made.id } })}
          />
          <HowToVerify />
        </Stack>
      )}
    </Stack>
  );
}

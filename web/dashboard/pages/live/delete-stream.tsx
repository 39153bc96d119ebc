import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { Panel } from '../../components/panel.tsx';

/** Deletes a stream. Live streams cannot be deleted, which the panel states in advance. */
export function DeleteStream({ stream: { id, isLive } }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/streams/{id}', {
    onSuccess: async () => {
      showSuccess(t('delete.done'));
      await navigate({ to: '/live', ignoreBlocker: true });
      queries.removeQueries({ queryKey: ['get', '/streams/{id}'] });
      await queries.invalidateQueries({ queryKey: ['get', '/streams'] });
    },
  });
  return (
    <Panel title={t('delete.title')}>
      <Text>{isLive ? t('delete.live') : t('delete.text')}</Text>
      <div>
        <ConfirmAction
          label={t('delete.label')}
          title={t('delete.confirm')}
          text={t('delete.text')}
          disabled={isLive}
          isPending={remove.isPending}
          onConfirm={() => remove.mutateAsync({ params: { path: { id } } })}
        />
      </div>
    </Panel>
  );
}

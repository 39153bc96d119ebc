import { Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { Panel } from '../../components/panel.tsx';

export function DeleteVideo({ video: { id } }: { video: Shape<'Video'> }) {
  const { t } = useTranslation('videos');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/videos/{id}', {
    onSuccess: async () => {
      showSuccess(t('delete.done'));
      await navigate({ to: '/videos', ignoreBlocker: true });
      queries.removeQueries({ queryKey: ['get', '/videos/{id}'] });
      await queries.invalidateQueries({ queryKey: ['get', '/videos'] });
    },
  });
  return (
    <Panel title={t('delete.title')}>
      <Text>{t('delete.text')}</Text>
      <div>
        <ConfirmAction
          label={t('delete.label')}
          title={t('delete.confirm')}
          text={t('delete.text')}
          isPending={remove.isPending}
          onConfirm={() => remove.mutateAsync({ params: { path: { id } } })}
        />
      </div>
    </Panel>
  );
}

import { Group, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api, queries } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { Panel } from '../../components/panel.tsx';
import { refreshRoom } from './refresh.ts';

/** Ends the room for all participants, and deletes it. */
export function EndPanel({ room: { id, status } }: { room: Shape<'Room'> }) {
  const { t } = useTranslation('rooms');
  const navigate = useNavigate();
  const end = $api.useMutation('post', '/rooms/{id}/end', { onSuccess: refreshRoom });
  const remove = $api.useMutation('delete', '/rooms/{id}', {
    onSuccess: async () => {
      showSuccess(t('delete.done'));
      await navigate({ to: '/rooms', ignoreBlocker: true });
      queries.removeQueries({ queryKey: ['get', '/rooms/{id}'] });
      await queries.invalidateQueries({ queryKey: ['get', '/rooms'] });
    },
  });
  const params = { path: { id } };
  return (
    <Panel title={t('end.title')}>
      <Text>{status === 'ENDED' ? t('delete.text') : t('end.text')}</Text>
      <Group>
        {status !== 'ENDED' && (
          <ConfirmAction
            label={t('end.label')}
            title={t('end.confirm')}
            text={t('end.text')}
            isPending={end.isPending}
            onConfirm={() => end.mutateAsync({ params })}
          />
        )}
        <ConfirmAction
          label={t('delete.label')}
          title={t('delete.confirm')}
          text={t('delete.text')}
          isPending={remove.isPending}
          onConfirm={() => remove.mutateAsync({ params })}
        />
      </Group>
    </Panel>
  );
}

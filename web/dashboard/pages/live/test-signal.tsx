import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { EditButton } from '../../components/change-button.tsx';
import { refreshStream } from './refresh.ts';

const SECONDS = 600;

/** Starts a test signal: in the test workspace the platform itself acts as the encoder for ten minutes. */
export function TestSignal({ stream: { id, hasSignal } }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const simulate = $api.useMutation('post', '/streams/{id}/simulate-signal', { onSuccess: refreshStream });
  const turn = (on: boolean) => simulate.mutate({ params: { path: { id } }, body: { on, seconds: SECONDS } });
  const isComing = simulate.isSuccess && simulate.variables.body.on === true && !hasSignal;
  return (
    <>
      <EditButton variant="default" size="lg" loading={simulate.isPending} onClick={() => turn(!hasSignal)}>
        {hasSignal ? t('testSignal.off') : t('testSignal.on')}
      </EditButton>
      <Text size="sm" role="status">
        {isComing && t('testSignal.coming')}
      </Text>
    </>
  );
}

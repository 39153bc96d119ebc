import { Button, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import type { Shape } from '../../app/shape.ts';
import { showSuccess } from '../../app/toasts.ts';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { CopyField } from '../../components/copy-field.tsx';
import { Panel } from '../../components/panel.tsx';
import { SecretField } from '../../components/secret-field.tsx';
import { useKeyShown } from './key-shown.ts';
import { refreshStream } from './refresh.ts';

/** Shows the encoder's connection data: server, key, and both in one URL. */
export function ConnectPanel({ stream }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const [isShown, setShown] = useKeyShown(stream.id);
  const { streamKey, ingest } = stream;
  if (streamKey === null) return null;
  const field = { secret: streamKey, isShown };
  return (
    <Panel
      title={t('connect.title')}
      actions={
        <Button variant="default" aria-pressed={isShown} onClick={() => setShown(!isShown)}>
          {isShown ? t('connect.hide') : t('connect.show')}
        </Button>
      }
    >
      <Stack gap="sm">
        <Text size="sm" c="dimmed">
          {t('connect.text')}
        </Text>
        <CopyField label={t('connect.server')} value={ingest.rtmpUrl} />
        <SecretField label={t('connect.key')} value={streamKey} {...field} />
        <SecretField label={t('connect.full')} value={`${ingest.rtmpUrl}/${streamKey}`} {...field} />
        {ingest.rtmpsUrl !== null && (
          <>
            <CopyField label={t('connect.secureServer')} value={ingest.rtmpsUrl} />
            <SecretField
              label={t('connect.secureFull')}
              value={`${ingest.rtmpsUrl}/${streamKey}`}
              {...field}
            />
          </>
        )}
        {ingest.whipUrl !== null && <CopyField label={t('connect.whip')} value={ingest.whipUrl} />}
        <RotateKey stream={stream} />
      </Stack>
    </Panel>
  );
}

function RotateKey({ stream: { id, hasSignal } }: { stream: Shape<'Stream'> }) {
  const { t } = useTranslation('live');
  const rotate = $api.useMutation('post', '/streams/{id}/rotate-key', {
    onSuccess: async () => {
      await refreshStream();
      showSuccess(t('rotate.done'));
    },
  });
  return (
    <div>
      <ConfirmAction
        label={t('rotate.label')}
        title={t('rotate.title')}
        text={hasSignal ? t('rotate.textSignal') : t('rotate.text')}
        isPending={rotate.isPending}
        onConfirm={() => rotate.mutateAsync({ params: { path: { id } } })}
      />
    </div>
  );
}

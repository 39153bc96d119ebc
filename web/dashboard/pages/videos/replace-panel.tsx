import { Alert, Code, FileButton, Group, Progress, Stack, Text, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '../../app/api.ts';
import { formErrors } from '../../app/form.ts';
import type { Shape } from '../../app/shape.ts';
import { useUnsaved } from '../../app/unsaved.ts';
import { EditButton } from '../../components/change-button.tsx';
import { ConfirmAction } from '../../components/confirm-action.tsx';
import { useFormat } from '../../components/format.ts';
import { WarningIcon } from '../../components/icons.tsx';
import { Panel } from '../../components/panel.tsx';
import { ImportState } from './import-state.tsx';
import { KNOWN_ERRORS } from './processing-panel.tsx';
import { refreshVideo } from './refresh.ts';
import { isProcessing } from './status-badge.tsx';
import { addReplacement } from './upload/queue.ts';
import { VIDEO_FILES } from './upload/upload-button.tsx';

type Props = { video: Shape<'Video'> };
type Replacement = { replacement: Shape<'VideoReplacement'> };

const EXAMPLE = 'https://files.example.com/film-corrected.mp4';

/** Replaces the file of a playable video by an upload or a URL, and shows its progress and failure. */
export function ReplacePanel({ video: { id, status, replacement } }: Props) {
  const { t } = useTranslation('videos');
  if (status !== 'READY') return null;
  const isOn = replacement !== null && isProcessing(replacement.status);
  return (
    <Panel title={t('replace.title')}>
      <Text size="sm" c="dimmed">
        {t('replace.text')}
      </Text>
      {replacement !== null && <ReplacementStatus replacement={replacement} />}
      <Group>
        {!isOn && (
          <FileButton
            accept={VIDEO_FILES}
            onChange={(file) => {
              if (file !== null) addReplacement(id, file);
            }}
          >
            {(props) => (
              <EditButton {...props} variant="default">
                {t('replace.choose')}
              </EditButton>
            )}
          </FileButton>
        )}
        {isOn && <Cancel id={id} />}
      </Group>
      {!isOn && <FromAddress id={id} />}
    </Panel>
  );
}

function FromAddress({ id }: { id: string }) {
  const { t } = useTranslation('videos');
  const form = useForm({ mode: 'uncontrolled', initialValues: { sourceUrl: '' } });
  useUnsaved(form);
  const replace = $api.useMutation('post', '/videos/{id}/replacement', {
    meta: { errors: 'form' },
    onError: formErrors(form),
    onSuccess: () => {
      form.resetDirty();
      return refreshVideo();
    },
  });
  return (
    <form
      onSubmit={form.onSubmit(({ sourceUrl }) =>
        replace.mutate({ params: { path: { id } }, body: { sourceUrl: sourceUrl.trim() } }),
      )}
    >
      <Group align="flex-end">
        <TextInput
          {...form.getInputProps('sourceUrl')}
          key={form.key('sourceUrl')}
          label={t('replace.address')}
          type="url"
          placeholder={EXAMPLE}
          dir="ltr"
          required
          flex={1}
        />
        <EditButton type="submit" variant="default" loading={replace.isPending}>
          {t('replace.fetch')}
        </EditButton>
      </Group>
    </form>
  );
}

function ReplacementStatus({ replacement: { status, progressPercent, error, importId } }: Replacement) {
  const { t } = useTranslation('videos');
  const { percent } = useFormat();
  const id = useId();
  if (status === 'FAILED') return error && <Failure error={error} />;
  if (status === 'UPLOADING' && importId !== null) return <ImportState importId={importId} />;
  return (
    <>
      <Text role="status" id={id}>
        {t(`replace.${status}`)}
      </Text>
      {status === 'PROCESSING' && (
        <Group wrap="nowrap">
          <Progress.Root size="lg" flex={1}>
            <Progress.Section value={progressPercent} aria-labelledby={id} />
          </Progress.Root>
          <Text size="sm">{percent(progressPercent / 100)}</Text>
        </Group>
      )}
    </>
  );
}

function Failure({ error: { code, message } }: { error: Shape<'Problem'> }) {
  const { t } = useTranslation('videos');
  const known = KNOWN_ERRORS.find((one) => one === code);
  return (
    <Alert color="red" icon={<WarningIcon />} title={t('replace.FAILED')}>
      <Stack align="flex-start" gap="xs">
        {known !== undefined && <Text size="sm">{t(`error.${known}.means`)}</Text>}
        <Text size="sm" className="breaks">
          <Code>{code}</Code> {message}
        </Text>
      </Stack>
    </Alert>
  );
}

function Cancel({ id }: { id: string }) {
  const { t } = useTranslation('videos');
  const cancel = $api.useMutation('delete', '/videos/{id}/replacement', { onSuccess: refreshVideo });
  return (
    <ConfirmAction
      variant="subtle"
      label={t('replace.cancel')}
      title={t('replace.cancelTitle')}
      text={t('replace.cancelText')}
      isPending={cancel.isPending}
      onConfirm={() => cancel.mutateAsync({ params: { path: { id } } })}
    />
  );
}

import '@mantine/notifications/styles.css';
import { Code, Group, Stack, Text } from '@mantine/core';
import { Notifications, notifications } from '@mantine/notifications';
import { t } from 'i18next';
import { CopyButton } from '../components/copy-button.tsx';
import { ApiError } from './api-error.ts';
import { errorWords } from './error-words.ts';

/** The toasts; `toasts.ts` loads it. */
export default function ToastList() {
  return <Notifications position="bottom-right" limit={4} autoClose={false} />;
}

export function addError(error: unknown): void {
  const { code, requestId } = error instanceof ApiError ? error : { code: 'UNEXPECTED', requestId: null };
  notifications.show({
    color: 'red',
    role: 'alert',
    title: errorWords(error),
    message: <ErrorDetails code={code} requestId={requestId} />,
    closeButtonProps: { 'aria-label': t('close') },
  });
}

export function addDone(message: string): void {
  notifications.show({
    color: 'green',
    message,
    autoClose: 5000,
    closeButtonProps: { 'aria-label': t('close') },
  });
}

function ErrorDetails({ code, requestId }: { code: string; requestId: string | null }) {
  return (
    <Stack gap={4}>
      <Text size="sm">
        <Code>{code}</Code>
      </Text>
      {requestId !== null && (
        <Group gap={4} wrap="nowrap">
          <Text size="xs" c="dimmed" className="breaks">
            {t('requestId', { requestId })}
          </Text>
          <CopyButton value={requestId} label={t('copyRequestId')} />
        </Group>
      )}
    </Stack>
  );
}

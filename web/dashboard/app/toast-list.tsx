import { Anchor, Code, Group, Notification, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CopyButton } from '../components/copy-button.tsx';
import { ApiError } from './api-error.ts';
import { errorWords } from './error-words.ts';
import { router } from './router.tsx';
import { useSession } from './session.ts';
import { useStore } from './store.ts';
import { closeToast, toasts } from './toasts.ts';

/** Where toasts are shown. */
export function ToastList() {
  const { t } = useTranslation();
  const shown = useStore(toasts);
  return (
    <Stack className="toasts" gap="xs">
      {shown.map((toast) => (
        <Notification
          key={toast.id}
          role={'error' in toast ? 'alert' : 'status'}
          color={'error' in toast ? 'red' : 'green'}
          title={'error' in toast ? errorWords(toast.error) : toast.done}
          withBorder
          onClose={() => closeToast(toast.id)}
          closeButtonProps={{ 'aria-label': t('close') }}
        >
          {'error' in toast && <ErrorDetails error={toast.error} />}
        </Notification>
      ))}
    </Stack>
  );
}

function ErrorDetails({ error }: { error: unknown }) {
  const { t } = useTranslation();
  if (!(error instanceof ApiError)) return null;
  const { code, requestId } = error;
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
      {requestId !== null && <LogLink requestId={requestId} />}
    </Stack>
  );
}

/** To what was asked and answered, for those who are signed in. The toasts stand outside of the router. */
function LogLink({ requestId }: { requestId: string }) {
  const { t } = useTranslation();
  const search = new URLSearchParams({ requestId });
  if (useSession() === null) return null;
  return (
    <Anchor
      size="sm"
      href={`/dashboard/requests?${search}`}
      onClick={(event) => {
        if (event.ctrlKey || event.metaKey || event.shiftKey) return;
        event.preventDefault();
        void router.navigate({ href: `/requests?${search}` });
      }}
    >
      {t('toRequest')}
    </Anchor>
  );
}

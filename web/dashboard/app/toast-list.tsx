import { Notification, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ErrorDetails } from '../components/error-details.tsx';
import { errorMessage } from './error-message.ts';
import { router } from './router.tsx';
import { useStore } from './store.ts';
import { closeToast, toasts } from './toasts.ts';

/** Renders the toasts. */
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
          title={'error' in toast ? errorMessage(toast.error) : toast.done}
          withBorder
          onClose={() => closeToast(toast.id)}
          closeButtonProps={{ 'aria-label': t('close') }}
        >
          {'error' in toast && <ErrorDetails error={toast.error} go={router.navigate} />}
        </Notification>
      ))}
    </Stack>
  );
}

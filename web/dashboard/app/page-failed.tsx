import { Button, Stack, Text } from '@mantine/core';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { PageHeader } from '../components/page-header.tsx';
import { errorMessage } from './error-message.ts';

/** Shown when a page failed: its code could not be loaded, or it threw an error. */
export function PageFailed({ error, reset }: { error: unknown; reset: () => void }) {
  const { t } = useTranslation();
  const router = useRouter();
  return (
    <Stack align="flex-start">
      <PageHeader title={t('failed.title')} />
      <Text>{errorMessage(error)}</Text>
      <Button
        onClick={() => {
          reset();
          void router.invalidate();
        }}
      >
        {t('failed.retry')}
      </Button>
    </Stack>
  );
}

import { Alert, Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { WarningIcon } from '../components/icons.tsx';
import { retryNow, useIsOffline } from './connection.ts';

/** Shows above every page that the API is unavailable. */
export function OfflineBanner() {
  const { t } = useTranslation();
  const isAway = useIsOffline();
  return (
    <div role="status" aria-live="polite" className="away-banner">
      {isAway && (
        <Alert color="yellow" icon={<WarningIcon />} title={t('away.title')} radius={0}>
          <Group justify="space-between">
            <Text size="sm">{t('away.text')}</Text>
            <Button variant="default" onClick={() => void retryNow()}>
              {t('away.retry')}
            </Button>
          </Group>
        </Alert>
      )}
    </div>
  );
}

import { Alert, Button, Checkbox, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useLoss } from '../app/unsaved.ts';
import { CopyField } from './copy-field.tsx';
import { WarningIcon } from './icons.tsx';

/**
 * Shows a secret once. Continues only after "I stored it"; leaving the page before that asks for
 * confirmation.
 */
export function OneTimeSecret({
  label,
  value,
  onStored,
}: {
  label: string;
  value: string;
  onStored: () => void;
}) {
  const { t } = useTranslation();
  const [isStored, setStored] = useState(false);
  useLoss('secret', () => !isStored);
  return (
    <Alert color="yellow" icon={<WarningIcon />} title={t('secret.title')}>
      <Stack>
        <Text size="sm">{t('secret.text')}</Text>
        <CopyField label={label} value={value} />
        <Checkbox
          label={t('secret.stored')}
          checked={isStored}
          onChange={(event) => setStored(event.currentTarget.checked)}
        />
        <Button disabled={!isStored} onClick={onStored}>
          {t('secret.done')}
        </Button>
      </Stack>
    </Alert>
  );
}

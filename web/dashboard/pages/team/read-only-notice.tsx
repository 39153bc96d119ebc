import { Alert } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useAccount } from '../../app/account.ts';

/** Explains why a page has no buttons. */
export default function ReadOnlyNotice() {
  const { t } = useTranslation('team');
  const { teamRole } = useAccount();
  return (
    <Alert mb="md" role="note">
      {t('looksOnly', { role: t(`role.${teamRole}`) })}
    </Alert>
  );
}

import { NativeSelect } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { chooseAccount, useAccount } from './account.ts';
import { useSignedIn } from './session.ts';

/** Selects the account that this tab acts for. */
export default function AccountSwitch() {
  const { t } = useTranslation();
  const { accounts } = useSignedIn();
  const { id } = useAccount();
  return (
    <NativeSelect
      label={t('account.label')}
      value={id}
      onChange={(event) => void chooseAccount(event.currentTarget.value)}
      data={accounts.map(({ id: value, name, teamRole }) => ({
        value,
        label: `${name} (${t(`teamRole.${teamRole}`)})`,
      }))}
      px="sm"
    />
  );
}

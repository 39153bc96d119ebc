import { ActionIcon, Button, SegmentedControl, Stack, Text, useMantineColorScheme } from '@mantine/core';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { UserIcon } from '../components/icons.tsx';
import { chooseLanguage, currentLanguage, isLanguage, LANGUAGES } from './i18n.ts';
import { useSession } from './session.ts';
import { discardAndLeave } from './sign-out.ts';

const SCHEMES = ['auto', 'light', 'dark'] as const;

/**
 * Renders the account button at the end of the header and its panel: color scheme, language and the signed-in
 * user. Uses the browser's popover because that of the library adds 30 kB to the first load.
 */
export function AccountPanel() {
  const { t } = useTranslation();
  const id = useId();
  const session = useSession();
  const label = session === null ? t('panel.settings') : t('panel.account');
  return (
    <>
      <ActionIcon aria-label={label} popoverTarget={id}>
        <UserIcon />
      </ActionIcon>
      <div id={id} popover="auto" className="account-panel" role="dialog" aria-label={label}>
        <Stack>
          {session !== null && (
            <Text size="sm" className="breaks">
              {t('panel.signedInAs', { email: session.user.email })}
            </Text>
          )}
          <SchemeSwitch />
          <LanguageSwitch />
          {session !== null && (
            <Button variant="default" onClick={() => void discardAndLeave()}>
              {t('panel.signOut')}
            </Button>
          )}
        </Stack>
      </div>
    </>
  );
}

function SchemeSwitch() {
  const { t } = useTranslation();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  return (
    <SegmentedControl
      aria-label={t('scheme.label')}
      value={colorScheme}
      onChange={setColorScheme}
      data={SCHEMES.map((value) => ({ value, label: t(`scheme.${value}`) }))}
    />
  );
}

function LanguageSwitch() {
  const { t } = useTranslation();
  return (
    <SegmentedControl
      aria-label={t('language')}
      value={currentLanguage()}
      onChange={(tag) => void (isLanguage(tag) && chooseLanguage(tag))}
      data={Object.entries(LANGUAGES).map(([value, name]) => ({
        value,
        label: <span lang={value}>{name}</span>,
      }))}
    />
  );
}

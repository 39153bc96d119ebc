import '@mantine/spotlight/styles.css';
import { Spotlight, type SpotlightActionData, spotlight } from '@mantine/spotlight';
import { useRouter } from '@tanstack/react-router';
import { useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { SearchIcon } from '../components/icons.tsx';
import { currentLanguage } from './i18n.ts';
import { chooseMode } from './mode.ts';
import { discardAndLeave } from './sign-out.ts';
import { useVisibleAreas } from './visible-areas.ts';

/**
 * Renders the command palette: areas, their actions and the shell's own commands. `opened` counts how often
 * it was opened.
 */
export default function PaletteDialog({ opened }: { opened: number }) {
  const { t } = useTranslation();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it opens whenever the count goes up.
  useEffect(() => spotlight.open(), [opened]);
  const router = useRouter();
  const language = currentLanguage();
  const go = (to: string) => void router.navigate({ href: to });
  const all = useVisibleAreas();
  const own: SpotlightActionData[] = [
    { id: 'mode.live', label: t('palette.live'), onClick: () => chooseMode('live') },
    { id: 'mode.test', label: t('palette.test'), onClick: () => chooseMode('test') },
    { id: 'sign-out', label: t('panel.signOut'), onClick: () => void discardAndLeave() },
  ];
  const ofAreas = all.flatMap(({ id, label, to, actions = [] }): SpotlightActionData[] => [
    ...(to === undefined ? [] : [{ id, label: label[language], onClick: () => go(to) }]),
    ...actions.map((action) => ({
      id: `${id}.${action.id}`,
      label: action.label[language],
      description: label[language],
      onClick: () => go(action.to),
    })),
  ]);
  return (
    <Spotlight
      actions={[...ofAreas, ...own]}
      shortcut={null}
      nothingFound={t('palette.nothing')}
      highlightQuery
      searchProps={{
        leftSection: <SearchIcon />,
        placeholder: t('palette.placeholder'),
        'aria-label': t('palette.placeholder'),
      }}
    />
  );
}

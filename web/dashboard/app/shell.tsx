import { ActionIcon, AppShell, Box, Burger, Group, Text } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Outlet, useLocation } from '@tanstack/react-router';
import { Fragment, lazy, Suspense, useEffect } from 'react';
import { useTranslation } from 'react-i18next';
import { Brand } from '../components/brand.tsx';
import { SearchIcon } from '../components/icons.tsx';
import { NavLinkTo } from '../components/links.tsx';
import { PageSkeleton } from '../components/skeletons.tsx';
import { useAccount } from './account.ts';
import { AccountPanel } from './account-panel.tsx';
import { GROUPS } from './area.ts';
import { currentLanguage } from './i18n.ts';
import { useMode } from './mode.ts';
import { ModeSwitch } from './mode-switch.tsx';
import { NotificationBell } from './notification-bell.tsx';
import { openPalette, Palette } from './palette.ts';
import { type ChangeKind, canEdit, PageChanges } from './permissions.ts';
import { useSignedIn } from './session.ts';
import { UnsavedGuard } from './unsaved-guard.tsx';
import { useVisibleAreas } from './visible-areas.ts';

const AccountSwitch = lazy(() => import('./account-switch.tsx'));
const LooksOnly = lazy(() => import('../pages/team/read-only-notice.tsx'));

/** Renders the frame around every page of a signed-in user. */
export function Shell() {
  const { t } = useTranslation();
  const mode = useMode();
  const isInTeam = useSignedIn().accounts.length > 1;
  const [isOpen, menu] = useDisclosure();
  const { pathname } = useLocation();
  const changing = useChanging(pathname);
  const account = useAccount();
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes when the address changes.
  useEffect(menu.close, [pathname]);
  return (
    <AppShell
      header={{ height: 60 }}
      navbar={{ width: 240, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
    >
      <a className="skip-link" href="#main">
        {t('skip')}
      </a>
      <AppShell.Header data-mode={mode}>
        <Group h="100%" px="xs" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap">
            <Burger
              opened={isOpen}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={t('navigation.toggle')}
              aria-expanded={isOpen}
            />
            <Box visibleFrom="sm" lh={0}>
              <Brand />
            </Box>
          </Group>
          <Group gap={4} wrap="nowrap">
            <ModeSwitch />
            <ActionIcon
              aria-label={t('palette.open')}
              aria-keyshortcuts="Control+K Meta+K"
              onClick={openPalette}
            >
              <SearchIcon />
            </ActionIcon>
            <NotificationBell />
            <AccountPanel />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" className="navigation" aria-label={t('navigation.label')}>
        {isInTeam && (
          <Suspense>
            <AccountSwitch />
          </Suspense>
        )}
        <Navigation />
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1}>
        <Suspense fallback={<PageSkeleton />}>
          {/* The key remounts the page for another workspace, so that no data of the previous one is shown. */}
          {!canEdit(account, changing) && <LooksOnly />}
          <PageChanges value={changing}>
            <Outlet key={mode} />
          </PageChanges>
        </Suspense>
      </AppShell.Main>
      <UnsavedGuard />
      <Suspense>
        <Palette />
      </Suspense>
    </AppShell>
  );
}

function useChanging(pathname: string): ChangeKind {
  const area = useVisibleAreas().find(({ to }) => to !== undefined && isBelow(pathname, to));
  return area?.changes ?? 'settings';
}

function isBelow(pathname: string, to: string): boolean {
  return pathname === to || (to !== '/' && pathname.startsWith(`${to}/`));
}

function Navigation() {
  const { t } = useTranslation();
  const language = currentLanguage();
  const all = useVisibleAreas();
  return GROUPS.map((group) => {
    const members = all.filter((area) => area.group === group);
    if (members.length === 0) return null;
    return (
      <Fragment key={group}>
        <Text size="xs" c="dimmed" fw={600} px="sm" pt="sm">
          {t(`navigation.${group}`)}
        </Text>
        {members.map(({ id, to, label, Icon }) => (
          <NavLinkTo
            key={id}
            to={to ?? '/'}
            activeOptions={{ exact: to === '/' }}
            label={label[language]}
            leftSection={Icon && <Icon />}
          />
        ))}
      </Fragment>
    );
  });
}

import { Anchor, Button, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** A link within the dashboard that looks like one: `<TextLink to="/keys">`. */
export const TextLink = createLink(Anchor<'a'>);

/** A link within the dashboard that looks like a button. */
export const ButtonLink = createLink(Button<'a'>);

/** A line of the navigation; it says which page is shown. */
export const NavLinkTo = createLink(NavLink<'a'>);

/** A link to a page outside of the dashboard, in a new tab, which it says. */
export function TextOutLink({ href, children }: { href: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <Anchor href={href} target="_blank" rel="noopener">
      {children}
      <span className="hidden-words"> {t('newTab')}</span>
    </Anchor>
  );
}

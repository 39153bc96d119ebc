import { Anchor, type AnchorProps, Button, type ButtonProps, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** What a link has that its look does not set. */
type Own<Look> = Look & Omit<ComponentPropsWithRef<'a'>, keyof Look>;

/** A link within the dashboard that looks like one: `<TextLink to="/keys">`. */
export const TextLink = createLink((props: Own<AnchorProps>) => <Anchor component="a" {...props} />);

/** A link within the dashboard that looks like a button. */
export const ButtonLink = createLink((props: Own<ButtonProps>) => <Button component="a" {...props} />);

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

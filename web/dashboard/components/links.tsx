import { Anchor, type AnchorProps, Button, type ButtonProps, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';
import type { ComponentPropsWithRef, ReactNode } from 'react';
import { useTranslation } from 'react-i18next';

/** Link attributes that the component of its appearance does not define. */
type StyledLinkProps<Look> = Look & Omit<ComponentPropsWithRef<'a'>, keyof Look>;

/** Text link within the dashboard: `<TextLink to="/keys">`. */
export const TextLink = createLink((props: StyledLinkProps<AnchorProps>) => (
  <Anchor component="a" {...props} />
));

/** Button link within the dashboard. */
export const ButtonLink = createLink((props: StyledLinkProps<ButtonProps>) => (
  <Button component="a" {...props} />
));

/** Navigation item that marks the current page. */
export const NavLinkTo = createLink(NavLink<'a'>);

/** Links to a page outside the dashboard in a new tab, which its text announces. */
export function TextOutLink({ href, children }: { href: string; children: ReactNode }) {
  const { t } = useTranslation();
  return (
    <Anchor href={href} target="_blank" rel="noopener">
      {children}
      <span className="hidden-words"> {t('newTab')}</span>
    </Anchor>
  );
}

import { Anchor, Button, NavLink } from '@mantine/core';
import { createLink } from '@tanstack/react-router';

/** A link within the dashboard that looks like one: `<TextLink to="/keys">`. */
export const TextLink = createLink(Anchor<'a'>);

/** A link within the dashboard that looks like a button. */
export const ButtonLink = createLink(Button<'a'>);

/** A line of the navigation; it says which page is shown. */
export const NavLinkTo = createLink(NavLink<'a'>);

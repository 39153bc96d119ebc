import type { AnyRoute } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import type { Language } from './i18n.ts';
import type { Changing } from './permissions.ts';

/** Short words that must be there before the area is loaded: its name in the navigation. */
export type Label = Readonly<Record<Language, string>>;

export const GROUPS = ['content', 'developers', 'account'] as const;

/** A part of the dashboard: what the shell has to know of it (CONTRIBUTING.md#add-an-area-to-the-dashboard). */
export interface Area {
  /** The name of its folder in `pages`, and of its words in `locales`. */
  id: string;
  label: Label;
  /** The address in the navigation, below `/dashboard`; none when it is not listed there. */
  to?: string;
  group?: (typeof GROUPS)[number];
  Icon?: ComponentType;
  /** `mailbox`: offered only where the platform keeps its mails, to administrators. `finance`: to owners and their administrators. */
  needs?: 'mailbox' | 'finance';
  /** What its pages change, which decides whose role may: `settings` unless told. */
  changes?: Changing;
  routes: readonly AnyRoute[];
  /** What the palette offers beside the area itself. */
  actions?: readonly AreaAction[];
}

export interface AreaAction {
  id: string;
  label: Label;
  /** An address of the area, with its search (`/keys?new=true`). */
  to: string;
}

/** Keeps the exact types of the routes, by which links are checked. */
export function defineArea<const T extends Area>(area: T): T {
  return area;
}

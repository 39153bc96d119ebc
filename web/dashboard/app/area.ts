import type { AnyRoute } from '@tanstack/react-router';
import type { ComponentType } from 'react';
import type { Language } from './i18n.ts';
import type { ChangeKind } from './permissions.ts';

/** Short text needed before the area is loaded: its name in the navigation. */
export type Label = Readonly<Record<Language, string>>;

export const GROUPS = ['content', 'developers', 'account'] as const;

/** Area of the dashboard as the shell sees it (CONTRIBUTING.md#add-an-area-to-the-dashboard). */
export interface Area {
  /** Name of its folder in `pages`, and of its files in `locales`. */
  id: string;
  label: Label;
  /** Path in the navigation, below `/dashboard`; omitted if it is not listed there. */
  to?: string;
  group?: (typeof GROUPS)[number];
  Icon?: ComponentType;
  /**
   * `mailbox`: offered only to administrators of a platform with a development mailbox. `finance`: to owners
   * and their administrators.
   */
  needs?: 'mailbox' | 'finance';
  /** Kind of content that its pages change, which decides which roles may edit: `settings` by default. */
  changes?: ChangeKind;
  routes: readonly AnyRoute[];
  /** Actions that the palette offers in addition to the area itself. */
  actions?: readonly AreaAction[];
}

export interface AreaAction {
  id: string;
  label: Label;
  /** Path of the area, with its search (`/keys?new=true`). */
  to: string;
}

/** Preserves the exact types of the routes, against which links are checked. */
export function defineArea<const T extends Area>(area: T): T {
  return area;
}

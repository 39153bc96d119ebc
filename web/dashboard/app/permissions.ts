import { createContext, useContext } from 'react';
import { type Account, isOwnerClass, useAccount } from './account.ts';

/** What a page changes: what is shown to viewers, everything else of the account, or what is the person's own. */
export type Changing = 'content' | 'settings' | 'own';

/** What the area of the page that is shown changes. */
export const PageChanges = createContext<Changing>('settings');

/** May the role in the team change this (docs/concepts/team.md#roles)? */
export function canEdit(account: Account, what: Changing): boolean {
  if (what === 'own' || isOwnerClass(account)) return true;
  return what === 'content' && account.teamRole === 'EDITOR';
}

/** The same of who is signed in: what they may not change is not offered. */
export function useCanEdit(what?: Changing): boolean {
  const ofPage = useContext(PageChanges);
  return canEdit(useAccount(), what ?? ofPage);
}

import { createContext, useContext } from 'react';
import { type Account, isOwnerClass, useAccount } from './account.ts';

/**
 * Kind of data that a page changes: content shown to viewers, other settings of the account, or the user's
 * own data.
 */
export type ChangeKind = 'content' | 'settings' | 'own';

/** Kind of data changed by the area of the current page. */
export const PageChanges = createContext<ChangeKind>('settings');

/** Reports whether the account's team role may change this kind of data (docs/concepts/team.md#roles). */
export function canEdit(account: Account, what: ChangeKind): boolean {
  if (what === 'own' || isOwnerClass(account)) return true;
  return what === 'content' && account.teamRole === 'EDITOR';
}

/**
 * Reports whether the signed-in user may change this kind of data. Actions they may not perform are not
 * offered.
 */
export function useCanEdit(what?: ChangeKind): boolean {
  const ofPage = useContext(PageChanges);
  return canEdit(useAccount(), what ?? ofPage);
}

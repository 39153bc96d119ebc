import { isOwnerClass, useAccount } from './account.ts';
import type { Area } from './area.ts';
import { areas } from './areas.ts';
import { canEdit } from './permissions.ts';
import { useSignedIn } from './session.ts';

/** Returns the areas that the navigation and the palette offer to the signed-in user. */
export function useVisibleAreas(): readonly Area[] {
  const hasMailbox = useSignedIn().hasMailbox;
  const account = useAccount();
  const all: readonly Area[] = areas;
  const has = { mailbox: hasMailbox && account.teamRole === 'OWNER', finance: isOwnerClass(account) };
  return all
    .filter(({ needs }) => needs === undefined || has[needs])
    .map((area) => (canEdit(account, area.changes ?? 'settings') ? area : { ...area, actions: [] }));
}

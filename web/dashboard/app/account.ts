import { currentSession, type Session, useSignedIn } from './session.ts';
import { confirmLeave } from './unsaved.ts';

/** Account that the user may act for, with the user's role. */
export type Account = Session['accounts'][number];

const KEY = 'marquee.account';

/** The selection belongs to the tab, not to the browser: two tabs may act for two accounts. */
function accountOf({ accounts, user }: Session): Account {
  const chosen = sessionStorage.getItem(KEY);
  const own = { id: user.id, name: user.name ?? user.username, teamRole: 'OWNER' } as const;
  return accounts.find(({ id }) => id === chosen) ?? own;
}

/** Returns the account that requests are for; they carry it in `X-Account-Id`. */
export function currentAccountId(): string | undefined {
  const session = currentSession();
  return session === null ? undefined : accountOf(session).id;
}

export function useAccount(): Account {
  return accountOf(useSignedIn());
}

/** Roles that may change the team and see money (docs/concepts/team.md#roles). */
export function isOwnerClass({ teamRole }: Account): boolean {
  return teamRole === 'OWNER' || teamRole === 'ADMIN';
}

/** Reloads the page so that no data of the previous account stays in memory, uploads included. */
export async function chooseAccount(id: string): Promise<void> {
  if (id === currentAccountId() || !(await confirmLeave())) return;
  sessionStorage.setItem(KEY, id);
  window.location.assign('/dashboard');
}

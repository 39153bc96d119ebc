import { signOut } from './session.ts';
import { showError } from './toasts.ts';
import { mayLeave } from './unsaved.ts';

/** Where somebody else can sign in. The page is loaded anew, so that nothing of the account stays in memory. */
export function leaveForSignIn(): void {
  window.location.assign('/dashboard/sign-in');
}

/** Ends the session. */
export async function leave(): Promise<void> {
  if (await mayLeave()) await signOut().then(leaveForSignIn, showError);
}

import { signOut } from './session.ts';
import { showError } from './toasts.ts';
import { confirmLeave } from './unsaved.ts';

/** Where somebody else can sign in. The page is loaded anew, so that nothing of the account stays in memory. */
export function redirectToSignIn(): void {
  window.location.assign('/dashboard/sign-in');
}

/** Ends the session. */
export async function discardAndLeave(): Promise<void> {
  if (await confirmLeave()) await signOut().then(redirectToSignIn, showError);
}

import { signOut } from './session.ts';
import { showError } from './toasts.ts';
import { confirmLeave } from './unsaved.ts';

/**
 * Redirects to the sign-in, where a different user can sign in. Reloads the page so that no account data
 * stays in memory.
 */
export function redirectToSignIn(): void {
  window.location.assign('/dashboard/sign-in');
}

/** Ends the session. */
export async function discardAndLeave(): Promise<void> {
  if (await confirmLeave()) await signOut().then(redirectToSignIn, showError);
}

import { signOut } from './session.ts';
import { showError } from './toasts.ts';

/** Where somebody else can sign in. The page is loaded anew, so that nothing of the account stays in memory. */
export function leaveForSignIn(): void {
  window.location.assign('/dashboard/sign-in');
}

/** Ends the session. */
export function leave(): void {
  signOut().then(leaveForSignIn, showError);
}

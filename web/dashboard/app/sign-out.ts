import { useRouter } from '@tanstack/react-router';
import { queries } from './api.ts';
import { signOut } from './session.ts';
import { showError } from './toasts.ts';

/** Ends the session and leads to the sign-in page; nothing of the account stays in memory. */
export function useSignOut(): () => void {
  const router = useRouter();
  return () => {
    signOut().then(() => {
      queries.clear();
      return router.navigate({ to: '/sign-in', search: {} });
    }, showError);
  };
}

import { $api } from './api.ts';
import type { Area } from './area.ts';
import { areas } from './areas.ts';
import { useSession } from './session.ts';

/** The areas that the navigation and the palette offer to whoever is signed in. */
export function useOfferedAreas(): readonly Area[] {
  const hasMailbox = useHasMailbox();
  const all: readonly Area[] = areas;
  return all.filter(({ needs }) => needs !== 'mailbox' || hasMailbox);
}

/** Whether there are mails to read here: a platform with a mail server answers 404. */
function useHasMailbox(): boolean {
  const isAdmin = useSession()?.user.role === 'ADMIN';
  const mails = $api.useQuery(
    'get',
    '/admin/mails',
    {},
    { enabled: isAdmin, staleTime: Number.POSITIVE_INFINITY },
  );
  return isAdmin && mails.isSuccess;
}

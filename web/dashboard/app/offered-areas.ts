import type { Area } from './area.ts';
import { areas } from './areas.ts';
import { useSession } from './session.ts';

/** The areas that the navigation and the palette offer to whoever is signed in. */
export function useOfferedAreas(): readonly Area[] {
  const hasMailbox = useSession()?.hasMailbox === true;
  const all: readonly Area[] = areas;
  return all.filter(({ needs }) => needs !== 'mailbox' || hasMailbox);
}

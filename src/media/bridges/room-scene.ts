import type { VisibleParticipants } from '../rooms/compose/layout.ts';

/** How a room is put into one picture. */
export type BridgeLayout = 'GRID' | 'SPEAKER' | 'SINGLE';

/** Somebody who may be seen, in the order in which they came. */
export interface VisibleParticipant<C> {
  identity: string;
  name: string;
  /** null while it is off. */
  camera: C | null;
  screen: C | null;
}

/** In one picture: each is a program that decodes. */
const MOST_PEOPLE = 9;

/** Who is in the picture, and how large. @param speaking whoever spoke last. */
export function participantsInFrame<C>(
  people: readonly VisibleParticipant<C>[],
  speaking: string | null,
  layout: BridgeLayout,
): VisibleParticipants<C> {
  const sharing = people.findLast(({ screen }) => screen !== null);
  const screen = sharing?.screen ? { name: sharing.name, camera: sharing.screen } : null;
  const rank = (one: VisibleParticipant<C>) => (one.identity === speaking ? 0 : one.camera === null ? 2 : 1);
  const ranked = people.toSorted((a, b) => rank(a) - rank(b));
  if (layout === 'SINGLE')
    return { people: screen === null ? ranked.slice(0, 1) : [], screen, speaker: null };
  const most = new Set(ranked.slice(0, MOST_PEOPLE));
  const shown = people.filter((one) => most.has(one));
  const index = shown.findIndex(({ identity }) => identity === speaking);
  const speaker = layout === 'SPEAKER' && shown.length > 1 ? Math.max(0, index) : null;
  return { people: shown, screen, speaker };
}

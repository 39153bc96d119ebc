import type { VisibleParticipants } from '../rooms/compose/layout.ts';

/** Layout of a room's participants in one frame. */
export type BridgeLayout = 'GRID' | 'SPEAKER' | 'SINGLE';

/** Participant who may be shown, in order of arrival. */
export interface VisibleParticipant<C> {
  identity: string;
  name: string;
  /** null while it is off. */
  camera: C | null;
  screen: C | null;
}

/** Participants in one frame: each needs a decoder process. */
const MAX_VISIBLE_PARTICIPANTS = 9;

/** Returns the participants in the frame, and their sizes. @param speaking identity of the last speaker. */
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
  const most = new Set(ranked.slice(0, MAX_VISIBLE_PARTICIPANTS));
  const shown = people.filter((one) => most.has(one));
  const index = shown.findIndex(({ identity }) => identity === speaking);
  const speaker = layout === 'SPEAKER' && shown.length > 1 ? Math.max(0, index) : null;
  return { people: shown, screen, speaker };
}

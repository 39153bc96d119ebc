import Type, { type Static } from 'typebox';
import { namedSchema } from './named-schema.ts';
import { Instant } from './schema.ts';

/** Takedown of a resource by the operator, as its owner sees it (docs/concepts/videos.md#takedown). */
export const Takedown = namedSchema(
  'Takedown',
  Type.Object({ reason: Type.String(), takenDownAt: Instant }),
  {
    reason: 'The music infringes third-party rights.',
    takenDownAt: '2026-11-21T09:00:00.000Z',
  },
);

export function toTakedown(row: {
  taken_down_at: Date | null;
  takedown_reason: string | null;
}): Static<typeof Takedown> | null {
  const { taken_down_at: at, takedown_reason: reason } = row;
  return at === null || reason === null ? null : { reason, takenDownAt: at.toISOString() };
}

import { dateFromMs, dateFromText } from '../../../kernel/clock.ts';
import { MINUTE_MS } from '../../../kernel/durations.ts';
import { AppError, badRequest } from '../../../kernel/errors.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Tx } from '../../../platform/db/index.ts';
import type { ProductRow } from '../products/index.ts';
import type { SessionRow } from './content.repository.ts';
import * as content from './content.repository.ts';
import type { CohortRow } from './repository.ts';
import type { PlannedSession } from './rules.ts';
import type { CohortPatch } from './schemas.ts';

/** Calendar of a creator, changed in the transaction of the sessions. */
export interface SessionCalendar {
  lock(tx: Tx, workspaceId: string): Promise<void>;
  /** @returns false when something overlaps. */
  take(
    tx: Tx,
    time: {
      workspaceId: string;
      productId: string;
      startsAt: Date;
      freeAt: Date;
      by: { sessionId: string };
    },
  ): Promise<boolean>;
  free(tx: Tx, by: { sessionId: string }): Promise<void>;
}

export const toPlan = ({ id, starts_at: startsAt, ends_at: endsAt }: SessionRow): PlannedSession => ({
  id,
  startsAt,
  endsAt,
});

/** @throws {AppError} BAD_REQUEST, field `sessions.0.id`, for an unknown or duplicate ID. */
export function readSessions(
  input: NonNullable<CohortPatch['sessions']>,
  held: readonly SessionRow[] = [],
): PlannedSession[] {
  const seen = new Set<string>();
  return input.map(({ id, startsAt, endsAt }, index) => {
    if (id !== undefined && (seen.has(id) || !held.some((session) => session.id === id))) {
      throw badRequest(`sessions.${index}.id`, 'id must be a unique session ID of this cohort.');
    }
    if (id !== undefined) seen.add(id);
    return { id, startsAt: dateFromText(startsAt), endsAt: dateFromText(endsAt) };
  });
}

interface SessionChange {
  row: CohortRow;
  product: ProductRow;
  /** Sessions before the change. */
  held: readonly SessionRow[];
  now: Date;
}

/**
 * Stores the planned sessions and their times in the calendar.
 *
 * @throws {AppError} CONFLICT, field `sessions.0.startsAt`, when the calendar has a conflict.
 */
export async function saveSessions(
  { calendar }: { calendar: SessionCalendar },
  tx: Tx,
  { row, product, held, now }: SessionChange,
  sessions: readonly PlannedSession[],
): Promise<void> {
  if (sessions.length === 0 && held.length === 0) return;
  // Times may move between the sessions: concurrent changes wait.
  await calendar.lock(tx, row.workspace_id);
  for (const session of held) {
    await calendar.free(tx, { sessionId: session.id });
    if (!sessions.some(({ id }) => id === session.id)) await content.removeSession(tx, session, row.revision);
  }
  for (const [index, plan] of sessions.entries()) {
    const sessionId = await content.upsertSession(tx, row.id, { ...plan, id: plan.id ?? newId('cse') }, now);
    const taken = await calendar.take(tx, {
      workspaceId: row.workspace_id,
      productId: product.id,
      startsAt: plan.startsAt,
      freeAt: dateFromMs(plan.endsAt.getTime() + product.buffer_min * MINUTE_MS),
      by: { sessionId },
    });
    if (taken) continue;
    const message = 'This time conflicts with your calendar.';
    throw new AppError('CONFLICT', { field: `sessions.${index}.startsAt`, message });
  }
}

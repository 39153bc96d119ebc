import { type AppendEvent, nextSequence } from '../../events/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { UsageEvents } from '../insight/usage-events/index.ts';
import type {
  participantJoined,
  participantLeft,
  roomCreated,
  roomDeleted,
  roomEnded,
  roomIdle,
  roomStarted,
} from './events.ts';
import type { ParticipantRow } from './participants.repository.ts';
import type { RoomRow } from './repository.ts';
import { secondsBetween } from './rules.ts';

/** Context for events of one room: a transaction that holds its row. */
export interface RoomEventContext {
  tx: Tx;
  append: AppendEvent;
  facts: Pick<UsageEvents, 'append'>;
  now: Date;
}

type OfRoom =
  | typeof roomCreated
  | typeof roomStarted
  | typeof roomIdle
  | typeof roomEnded
  | typeof roomDeleted;

/**
 * @param heldUntil the end of the time since the room became ACTIVE; null when this event ends no such time.
 */
export async function emitRoom(
  { tx, append }: RoomEventContext,
  event: OfRoom,
  row: RoomRow,
  heldUntil: Date | null = null,
): Promise<void> {
  await append(event, row.workspace_id, {
    roomId: row.id,
    name: row.name,
    startedAt: row.started_at?.toISOString() ?? null,
    endedAt: (heldUntil ?? row.ended_at)?.toISOString() ?? null,
    durationSec: heldUntil === null ? null : secondsBetween(row.started_at, heldUntil),
    peakParticipants: row.peak_participants,
    reason: row.end_reason,
    sequence: await nextSequence(tx, 'room', row.id),
  });
}

/** Emits the event, except for people who only waited. */
export async function emitParticipant(
  { tx, append }: RoomEventContext,
  event: typeof participantJoined | typeof participantLeft,
  workspaceId: string,
  row: ParticipantRow,
): Promise<void> {
  if (row.joined_at === null) return;
  await append(event, workspaceId, {
    roomId: row.room_id,
    identity: row.identity,
    name: row.name,
    role: row.role,
    joinedAt: row.joined_at.toISOString(),
    leftAt: row.left_at?.toISOString() ?? null,
    durationSec: row.left_at === null ? null : secondsBetween(row.joined_at, row.left_at),
    reason: row.leave_reason,
    sequence: await nextSequence(tx, 'room', row.room_id),
  });
}

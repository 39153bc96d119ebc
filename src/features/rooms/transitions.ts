import type {
  RoomEndReason,
  RoomParticipantLeaveReason,
  RoomRecordingEndReason,
} from '../../platform/db/tables.generated.ts';
import { recordAttendance } from './attendance.service.ts';
import { emitParticipant, emitRoom, type RoomEventContext } from './emit.ts';
import { participantLeft, roomEnded, roomIdle, roomStarted } from './events.ts';
import type { ParticipantRow } from './participants.repository.ts';
import * as participants from './participants.repository.ts';
import { endOpen } from './recording.repository.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { applyPresence } from './rules.ts';

/** Brings the room in line with who is in it, under its lock. @param emptySince as in `applyPresence`. */
export async function reconcilePresence(
  told: RoomEventContext,
  room: RoomRow,
  emptySince?: Date,
): Promise<RoomRow> {
  const count = await participants.countPeople(told.tx, room.id);
  const settled = applyPresence(room, count, told.now, emptySince);
  const isSame =
    settled.status === room.status &&
    settled.empty_since?.getTime() === room.empty_since?.getTime() &&
    settled.alone_since?.getTime() === room.alone_since?.getTime() &&
    settled.peak_participants === room.peak_participants;
  if (isSame) return room;
  const updated = await repository.updateRoom(told.tx, room.id, settled);
  if (room.status === 'CREATED' && updated.status === 'ACTIVE') await emitRoom(told, roomStarted, updated);
  return updated;
}

/** Removes a participant from the room or its waiting room. The room must be settled afterwards. */
export async function removeParticipant(
  told: RoomEventContext,
  room: RoomRow,
  row: ParticipantRow,
  reason: RoomParticipantLeaveReason,
): Promise<void> {
  const left = await participants.updateParticipant(told.tx, row.id, {
    state: 'LEFT',
    leave_reason: reason,
    left_at: told.now,
    connection_id: null,
    node_id: null,
    disconnected_since: null,
  });
  await recordAttendance(told, room.workspace_id, left);
  await emitParticipant(told, participantLeft, room.workspace_id, left);
}

/** Ends the room permanently; does nothing when it has already ended. */
export async function endRoom(
  told: RoomEventContext,
  room: RoomRow,
  reason: RoomEndReason,
): Promise<RoomRow> {
  if (room.status === 'ENDED') return room;
  for (const row of await participants.presentIn(told.tx, room.id)) {
    await removeParticipant(told, room, row, 'ROOM_ENDED');
  }
  const ended = await repository.updateRoom(told.tx, room.id, {
    status: 'ENDED',
    end_reason: reason,
    ended_at: told.now,
    updated_at: told.now,
    recording_since: null,
    alone_since: null,
  });
  await emitRoom(told, roomEnded, ended, room.status === 'ACTIVE' ? (room.empty_since ?? told.now) : null);
  return ended;
}

/** Marks the room as idle when no participant returned; it waits for the next ones. */
export async function markIdle(told: RoomEventContext, room: RoomRow): Promise<RoomRow> {
  const idle = await repository.updateRoom(told.tx, room.id, { status: 'CREATED', recording_since: null });
  await emitRoom(told, roomIdle, idle, room.empty_since ?? told.now);
  return idle;
}

/** Ends the active recording of the room, if any. */
export async function endRecording(
  { tx, now }: Pick<RoomEventContext, 'tx' | 'now'>,
  room: RoomRow,
  reason: RoomRecordingEndReason | null = null,
): Promise<RoomRow> {
  if (room.recording_since === null) return room;
  await endOpen(tx, room.id, { ended_at: now, end_reason: reason });
  return repository.updateRoom(tx, room.id, { recording_since: null });
}

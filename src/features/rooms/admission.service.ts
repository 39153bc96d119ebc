import { newId } from '../../kernel/ids.ts';
import { isSuspended } from '../../platform/db/workspace.ts';
import { emitParticipant, type RoomEventContext } from './emit.ts';
import { participantJoined } from './events.ts';
import { capacityNow, changeLocked, defaultsOf, type RoomDeps, type RoomRef } from './locked.ts';
import type { ParticipantRow } from './participants.repository.ts';
import * as participants from './participants.repository.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { permissionsOf } from './rules.ts';
import type { RoomGrant } from './tokens.ts';
import { reconcilePresence, removeParticipant } from './transitions.ts';

export type JoinErrorReason = 'NO_ROOM' | 'ENDED' | 'BANNED' | 'FULL' | 'GONE';

/** Rejected join, with its reason. */
export class RoomJoinError extends Error {
  readonly reason: JoinErrorReason;

  constructor(reason: JoinErrorReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Connection of a participant to a node. */
export interface ConnectionId {
  connectionId: string;
  nodeId: string;
}

/** Admission of people into rooms, and their departure. */
export interface RoomAdmission {
  /**
   * Takes a seat, or joins the waiting room (JOINING). A present participant of the same identity is removed.
   *
   * @throws {RoomJoinError}
   */
  enter(roomId: string, grant: RoomGrant, connection: ConnectionId): Promise<ParticipantRow>;
  /**
   * Returns the participant to the reserved seat. @throws {RoomJoinError} GONE when it is no longer reserved.
   */
  comeBack(roomId: string, participantId: string, connection: ConnectionId): Promise<ParticipantRow>;
  /** Marks the connection as lost and reserves the seat; a waiting participant is removed. */
  lose(roomId: string, participantId: string, connectionId: string): Promise<void>;
  leave(roomId: string, participantId: string, connectionId: string): Promise<void>;
}

/** Maximum waiting people per room: anyone with the URL can join the waiting room. */
const MAX_WAITING = 100;

export function createRoomAdmission(deps: RoomDeps): RoomAdmission {
  const inRoom = <T>(roomId: string, work: (told: RoomEventContext, room: RoomRow) => Promise<T>) =>
    changeLocked(deps, { workspaceId: null, roomId } satisfies RoomRef, work);
  return {
    async enter(roomId, grant, connection) {
      if ((await repository.findAnyRoom(deps.db, roomId)) === undefined) throw new RoomJoinError('NO_ROOM');
      return inRoom(roomId, (told, room) => enterLocked(deps, told, room, { grant, connection }));
    },
    async comeBack(roomId, participantId, connection) {
      if ((await repository.findAnyRoom(deps.db, roomId)) === undefined) throw new RoomJoinError('NO_ROOM');
      return inRoom(roomId, async ({ tx, now }, room) => {
        await assertRoomOpen(tx, room, now);
        const row = await participants.findParticipant(tx, roomId, participantId);
        if (row === undefined || row.state === 'LEFT') throw new RoomJoinError('GONE');
        return participants.updateParticipant(tx, row.id, {
          ...toColumns(connection),
          disconnected_since: null,
        });
      });
    },
    lose: (roomId, participantId, connectionId) =>
      ofConnection(deps, { roomId, participantId, connectionId }, async (told, room, row) => {
        if (row.state === 'JOINING') return removeParticipant(told, room, row, 'CLIENT');
        await participants.updateParticipant(told.tx, row.id, {
          disconnected_since: told.now,
          connection_id: null,
          node_id: null,
        });
      }),
    leave: (roomId, participantId, connectionId) =>
      ofConnection(deps, { roomId, participantId, connectionId }, async (told, room, row) => {
        await removeParticipant(told, room, row, 'CLIENT');
        await reconcilePresence(told, room);
      }),
  };
}

const toColumns = ({ connectionId, nodeId }: ConnectionId) => ({
  connection_id: connectionId,
  node_id: nodeId,
});

/**
 * Runs the work under the lock of the room; does nothing when a newer connection of the participant exists.
 */
async function ofConnection(
  deps: RoomDeps,
  { roomId, participantId, connectionId }: { roomId: string; participantId: string; connectionId: string },
  work: (told: RoomEventContext, room: RoomRow, row: ParticipantRow) => Promise<void>,
): Promise<void> {
  if ((await repository.findAnyRoom(deps.db, roomId)) === undefined) return;
  await changeLocked(deps, { workspaceId: null, roomId }, async (told, room) => {
    const row = await participants.findParticipant(told.tx, roomId, participantId);
    if (row?.connection_id === connectionId && row.state !== 'LEFT') await work(told, room, row);
  });
}

/** @throws {RoomJoinError} */
export async function assertRoomOpen(tx: RoomEventContext['tx'], room: RoomRow, now: Date): Promise<void> {
  if (await isSuspended(tx, room.workspace_id)) throw new RoomJoinError('NO_ROOM');
  const isOver = room.expires_at !== null && room.expires_at <= now;
  if (room.status === 'ENDED' || isOver) throw new RoomJoinError('ENDED');
}

async function enterLocked(
  { engineMax }: RoomDeps,
  told: RoomEventContext,
  room: RoomRow,
  { grant, connection }: { grant: RoomGrant; connection: ConnectionId },
): Promise<ParticipantRow> {
  const { tx, now } = told;
  const { identity, name, role } = grant;
  await assertRoomOpen(tx, room, now);
  if (await repository.isBanned(tx, room.id, identity)) throw new RoomJoinError('BANNED');
  const older = await participants.findPresent(tx, room.id, identity);
  if (older !== undefined) await removeParticipant(told, room, older, 'DUPLICATE_IDENTITY');
  // A participant who was admitted before is not asked to wait again.
  const waits = older?.state !== 'ACTIVE' && role !== 'HOST' && (grant.isGuest || room.waiting_room);
  const [count, max] = waits
    ? [await participants.countWaiting(tx, room.id), MAX_WAITING]
    : [await countActive(tx, room.id), await capacityNow(tx, room, engineMax())];
  if (count >= max) throw new RoomJoinError('FULL');
  const allowed = permissionsOf(role, defaultsOf(room), grant.permissions);
  const last = await participants.findNewestStay(tx, room.id, identity);
  const row = await participants.insertParticipant(tx, {
    id: newId('rpt'),
    room_id: room.id,
    identity,
    name,
    role,
    can_publish: allowed.canPublish,
    can_subscribe: allowed.canSubscribe,
    can_publish_data: allowed.canPublishData,
    can_screen_share: allowed.canScreenShare,
    // A mute holds until a host lifts it, also when the participant leaves and rejoins.
    audio_muted: last?.audio_muted ?? false,
    video_muted: last?.video_muted ?? false,
    screen_muted: last?.screen_muted ?? false,
    state: waits ? 'JOINING' : 'ACTIVE',
    ...toColumns(connection),
    created_at: now,
    joined_at: waits ? null : now,
  });
  const settled = await reconcilePresence(told, room);
  await emitParticipant(told, participantJoined, settled.workspace_id, row);
  return row;
}

export async function countActive(tx: RoomEventContext['tx'], roomId: string): Promise<number> {
  return (await participants.countParticipants(tx, [roomId])).get(roomId) ?? 0;
}

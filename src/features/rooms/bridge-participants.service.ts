import { newId } from '../../kernel/ids.ts';
import type { RoomParticipantHandle, RoomView } from '../../media/contract/index.ts';
import type { Tx } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { assertRoomOpen, countActive, RoomJoinError } from './admission.service.ts';
import * as bridges from './bridges.repository.ts';
import { emitParticipant, type RoomEventContext } from './emit.ts';
import { participantJoined } from './events.ts';
import { capacityNow, changeLocked, type RoomDeps } from './locked.ts';
import type { ParticipantRow } from './participants.repository.ts';
import * as participants from './participants.repository.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { reconcilePresence, removeParticipant } from './transitions.ts';

/** Participants that bridges add to rooms (docs/concepts/bridges.md). */
export interface BridgeParticipants {
  /**
   * Locks the room until the transaction ends. @returns undefined when the workspace has no room with this
   * ID.
   */
  lock(tx: Tx, workspaceId: string, id: string): Promise<RoomRow | undefined>;
  /** Returns the participants who may be seen or heard; null when the room has ended. */
  view(roomId: string): Promise<RoomView | null>;
  /**
   * Returns the seat of a stream that plays in the room, and takes one when it has none.
   *
   * @returns the reason as a text when it gets none.
   */
  seat(roomId: string, guest: { bridgeId: string; name: string }): Promise<RoomParticipantHandle | string>;
  /** Removes the participants of bridges that have ended. */
  leaveEnded(): Promise<void>;
}

const MAX_NAME = 120;
const REMOVED = 'A host removed the stream from the room.';
const WORDS: Readonly<Record<RoomJoinError['reason'], string>> = {
  NO_ROOM: 'The room was deleted.',
  GONE: 'The room was deleted.',
  ENDED: 'The room has ended.',
  BANNED: REMOVED,
  FULL: 'The room is full. A stream counts as a participant.',
};

export function createRoomGuests(deps: RoomDeps & { log: Logger }): BridgeParticipants {
  const { db, clock, log } = deps;
  return {
    lock: (tx, workspaceId, id) => repository.lockRoom(tx, workspaceId, id),
    async view(roomId) {
      const room = await repository.findOpenRoom(db, roomId);
      const isOver = room?.expires_at != null && room.expires_at <= clock.now();
      if (room === undefined || room.status === 'ENDED' || isOver) return null;
      const present = await participants.presentIn(db, roomId);
      const seen = present.filter((row) => row.state === 'ACTIVE' && row.can_publish);
      return {
        name: room.name,
        people: seen.map(({ identity, name }) => ({ identity, name: name ?? identity })),
      };
    },
    async seat(roomId, guest) {
      const stay = await bridges.findBridgeParticipant(db, roomId, guest.bridgeId);
      if (stay?.leave_reason === 'KICKED') return REMOVED;
      try {
        const room = await repository.findOpenRoom(db, roomId);
        if (room === undefined) throw new RoomJoinError('NO_ROOM');
        const row = stay?.state === 'ACTIVE' ? stay : await enter(deps, roomId, guest);
        return {
          identity: row.identity,
          maxParticipants: room.max_participants,
          muted: { audio: row.audio_muted, video: row.video_muted },
        };
      } catch (error) {
        if (error instanceof RoomJoinError) return WORDS[error.reason];
        throw error;
      }
    },
    async leaveEnded() {
      for (const { id, room_id: roomId } of await bridges.listOrphanedParticipants(db)) {
        try {
          await changeLocked(deps, { workspaceId: null, roomId }, (told, room) => leave(told, room, id));
        } catch (error) {
          log.error({ err: error, roomId }, 'a stream could not be removed from a room');
        }
      }
    },
  };
}

function enter(
  deps: RoomDeps,
  roomId: string,
  { bridgeId, name }: { bridgeId: string; name: string },
): Promise<ParticipantRow> {
  return changeLocked(deps, { workspaceId: null, roomId }, async (told, room) => {
    const { tx, now } = told;
    await assertRoomOpen(tx, room, now);
    if (await repository.isBanned(tx, roomId, bridgeId)) throw new RoomJoinError('BANNED');
    const there = await participants.findPresent(tx, roomId, bridgeId);
    if (there !== undefined) await removeParticipant(told, room, there, 'DUPLICATE_IDENTITY');
    if ((await countActive(tx, roomId)) >= (await capacityNow(tx, room, deps.engineMax())))
      throw new RoomJoinError('FULL');
    const row = await participants.insertParticipant(tx, {
      id: newId('rpt'),
      room_id: roomId,
      identity: bridgeId,
      name: [...name].slice(0, MAX_NAME).join(''),
      role: 'SPEAKER',
      bridge_id: bridgeId,
      ...{ can_publish: true, can_subscribe: false, can_publish_data: false, can_screen_share: false },
      ...{ state: 'ACTIVE', audio: true, video: true, created_at: now, joined_at: now },
    });
    await emitParticipant(told, participantJoined, room.workspace_id, row);
    return row;
  });
}

async function leave(told: RoomEventContext, room: RoomRow, id: string): Promise<void> {
  const row = await participants.findParticipant(told.tx, room.id, id);
  if (row === undefined || row.state === 'LEFT') return;
  await removeParticipant(told, room, row, 'CLIENT');
  await reconcilePresence(told, room);
}

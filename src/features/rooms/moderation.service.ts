import { AppError, notFound } from '../../kernel/errors.ts';
import { countActive } from './admission.service.ts';
import { emitParticipant, type RoomEventContext } from './emit.ts';
import { participantJoined } from './events.ts';
import { capacityNow, changeLocked, ROOM_TOPIC, type RoomDeps, type RoomRef } from './locked.ts';
import type { ParticipantRow } from './participants.repository.ts';
import * as participants from './participants.repository.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { reconcilePresence, removeParticipant } from './transitions.ts';

export type MuteKind = 'AUDIO' | 'VIDEO' | 'SCREEN';

/** Tracks that a participant claims to send. */
export interface PublishedTracks {
  audio: boolean;
  video: boolean;
  screen: boolean;
}

/** Moderation of the people in a room and of their tracks. An absent identity gets NOT_FOUND. */
export interface RoomModeration {
  /** Admits a waiting participant. @throws {AppError} CONFLICT when the room is full. */
  admit(place: RoomRef, identity: string): Promise<ParticipantRow>;
  deny(place: RoomRef, identity: string): Promise<void>;
  /** @param ban prevents the identity from returning until it is unbanned; also works after it has left. */
  kick(place: RoomRef, identity: string, ban: boolean): Promise<void>;
  unban(place: RoomRef, identity: string): Promise<void>;
  /** Mutes or unmutes a participant; only a host can lift a mute. */
  mute(place: RoomRef, identity: string, kind: MuteKind, muted: boolean): Promise<ParticipantRow>;
  /** Stores the sent tracks; tracks without permission are omitted. */
  setSending(row: ParticipantRow, sending: PublishedTracks): Promise<void>;
  setHand(row: ParticipantRow, raised: boolean): Promise<void>;
}

const COLUMN = { AUDIO: 'audio_muted', VIDEO: 'video_muted', SCREEN: 'screen_muted' } as const;

export function createRoomModeration(deps: RoomDeps): RoomModeration {
  const ofPresent = <T>(
    place: RoomRef,
    identity: string,
    work: (told: RoomEventContext, room: RoomRow, row: ParticipantRow) => Promise<T>,
  ) =>
    changeLocked(deps, place, async (told, room) => {
      const row = await participants.findPresent(told.tx, place.roomId, identity);
      if (row === undefined) throw notFound();
      return work(told, room, row);
    });
  const ofWaiting: typeof ofPresent = (place, identity, work) =>
    ofPresent(place, identity, (told, room, row) => {
      if (row.state !== 'JOINING') throw notFound();
      return work(told, room, row);
    });
  /** Works without a lock on the room: no count depends on it, and no event reports it. */
  const change = async (row: ParticipantRow, columns: participants.ParticipantChange) => {
    const changed = await participants.updateConnected(deps.db, row.id, row.connection_id, columns);
    if (changed) deps.bus.publish(ROOM_TOPIC, row.room_id);
  };
  return {
    admit: (place, identity) =>
      ofWaiting(place, identity, async (told, room, row) => {
        const { tx, now } = told;
        if ((await countActive(tx, room.id)) >= (await capacityNow(tx, room, deps.engineMax()))) {
          throw new AppError('CONFLICT', { message: 'The room is full.' });
        }
        const active = await participants.updateParticipant(tx, row.id, { state: 'ACTIVE', joined_at: now });
        await reconcilePresence(told, room);
        await emitParticipant(told, participantJoined, room.workspace_id, active);
        return active;
      }),
    deny: (place, identity) =>
      ofWaiting(place, identity, (told, room, row) => removeParticipant(told, room, row, 'DENIED')),
    kick: (place, identity, ban) =>
      changeLocked(deps, place, async (told, room) => {
        const { tx, now } = told;
        const row = await participants.findPresent(tx, room.id, identity);
        const isKnown = row !== undefined || (ban && (await participants.wasIn(tx, room.id, identity)));
        if (!isKnown) throw notFound();
        if (ban) await repository.insertBan(tx, room.id, identity, now);
        if (row === undefined) return;
        await removeParticipant(told, room, row, 'KICKED');
        await reconcilePresence(told, room);
      }),
    unban: (place, identity) =>
      changeLocked(deps, place, async ({ tx }, room) => {
        if (!(await repository.deleteBan(tx, room.id, identity))) throw notFound();
      }),
    mute: (place, identity, kind, muted) =>
      ofPresent(place, identity, async ({ tx }, _room, row) => {
        if (row.state !== 'ACTIVE') throw notFound();
        return participants.updateParticipant(tx, row.id, { [COLUMN[kind]]: muted });
      }),
    setSending: (row, { audio, video, screen }) =>
      change(row, {
        audio: audio && row.can_publish,
        video: video && row.can_publish,
        screen: screen && row.can_screen_share,
      }),
    setHand: (row, raised) => change(row, { hand_raised: raised }),
  };
}

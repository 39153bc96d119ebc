import type { AppendEvent, Events } from '../../events/index.ts';
import type { Clock } from '../../kernel/clock.ts';
import { notFound } from '../../kernel/errors.ts';
import { PLANS } from '../../kernel/plans.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Db, Tx } from '../../platform/db/index.ts';
import { getWorkspaceOwner } from '../../platform/db/workspace.ts';
import type { UsageEvents } from '../insight/usage-events/index.ts';
import type { RoomEventContext } from './emit.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { capacityOf } from './rules.ts';

/** Bus topic of changed rooms; the payload is the ID of the room. */
export const ROOM_TOPIC = 'rooms';

export interface RoomDeps {
  db: Db;
  events: Events;
  bus: Bus;
  clock: Clock;
  facts: Pick<UsageEvents, 'append'>;
  /** Returns the maximum participants that the engine supports in one room. */
  engineMax(): number;
}

/** Reference to a room; `workspaceId` is null for requests of its participants. */
export interface RoomRef {
  workspaceId: string | null;
  roomId: string;
}

/**
 * Locks the room, runs the work, commits, and notifies the nodes.
 *
 * @throws {AppError} NOT_FOUND.
 */
export async function changeLocked<T>(
  { events, bus, clock, facts }: Pick<RoomDeps, 'events' | 'bus' | 'clock' | 'facts'>,
  { workspaceId, roomId }: RoomRef,
  work: (told: RoomEventContext, room: RoomRow) => Promise<T>,
): Promise<T> {
  const result = await events.transaction(async (tx: Tx, append: AppendEvent) => {
    const room = await (workspaceId === null
      ? repository.lockAnyRoom(tx, roomId)
      : repository.lockRoom(tx, workspaceId, roomId));
    if (room === undefined) throw notFound();
    return work({ tx, append, facts, now: clock.now() }, room);
  });
  bus.publish(ROOM_TOPIC, roomId);
  return result;
}

/** Returns the current capacity of the room. */
export async function capacityNow(
  db: Db,
  room: Pick<RoomRow, 'workspace_id' | 'max_participants'>,
  engineMax: number,
): Promise<number> {
  const { plan } = await getWorkspaceOwner(db, room.workspace_id);
  return capacityOf(room.max_participants, PLANS[plan].roomParticipants, engineMax);
}

/** Room with its number of participants, and whether it can be recorded. */
export interface RoomDetails {
  row: RoomRow;
  count: number;
  canRecord: boolean;
  /** ID of the stream that the room is bridged to. */
  streamId: string | null;
  /** Booking of a ONE_TO_ONE session that owns the room. */
  bookingId: string | null;
}

/** Returns the default permissions of the room. */
export function defaultsOf(room: RoomRow) {
  return {
    canPublish: room.can_publish,
    canSubscribe: room.can_subscribe,
    canPublishData: room.can_publish_data,
    canScreenShare: room.can_screen_share,
  };
}

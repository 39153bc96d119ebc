import type { InferResult } from 'kysely';
import { dateFromMs } from '../../kernel/clock.ts';
import { PLANS } from '../../kernel/plans.ts';
import { hasAny } from '../../platform/db/has-any.ts';
import type { Logger } from '../../platform/logger.ts';
import type { RoomEventContext } from './emit.ts';
import { changeLocked, ROOM_TOPIC, type RoomDeps } from './locked.ts';
import * as participants from './participants.repository.ts';
import * as relay from './relay.repository.ts';
import type { RoomRow } from './repository.ts';
import * as repository from './repository.ts';
import { dueTransition, waitsUntil } from './rules.ts';
import { endRoom, markIdle, reconcilePresence, removeParticipant } from './transitions.ts';

/** Silence after which a node and its connections are lost. */
export const NODE_TIMEOUT_MS = 10_000;
const FORGET_NODE_MS = 3_600_000;
/** Retention of messages between nodes, which are read within seconds. */
const MESSAGE_MS = 60_000;

/** Periodic work on rooms. */
export interface RoomSweep {
  /** Deletes relayed messages and lost nodes. */
  forget(): Promise<void>;
  /** Releases the reserved seats that expired, and ends rooms that are due. */
  run(): Promise<void>;
}

type Candidate = InferResult<ReturnType<typeof repository.listRoomsToReconcile>>[number];

export function createRoomSweep(deps: RoomDeps & { log: Logger }): RoomSweep {
  const { db, bus, clock, log } = deps;
  const before = (ms: number) => dateFromMs(clock.ms() - ms);
  return {
    async forget() {
      await participants.removeDeadNodes(db, before(FORGET_NODE_MS));
      await relay.deleteMessages(db, before(MESSAGE_MS));
    },
    async run() {
      const now = clock.now();
      const since = before(NODE_TIMEOUT_MS);
      const toSettle = repository.listRoomsToReconcile(db, now);
      // Runs every second and usually finds nothing.
      if (!(await hasAny(db, [participants.listOnDeadNodes(db, since), toSettle]))) return;
      for (const id of await participants.markDisconnected(db, since, now)) bus.publish(ROOM_TOPIC, id);
      for (const room of await toSettle.execute()) {
        if (!isDue(room, now)) continue;
        try {
          await changeLocked(deps, { workspaceId: null, roomId: room.id }, (told, locked) =>
            settle(told, locked, room),
          );
        } catch (error) {
          log.error({ err: error, roomId: room.id }, 'a room could not be updated');
        }
      }
    },
  };
}

const followStateOf = ({ plan, suspended_at: suspendedAt }: Candidate) => ({
  planHours: PLANS[plan].roomHours,
  isSuspended: suspendedAt !== null,
});

function isDue(room: Candidate, now: Date): boolean {
  if (room.has_away || dueTransition(room, followStateOf(room), now) !== null) return true;
  const { waiting_since: since } = room;
  if (since === null || room.status === 'ACTIVE') return false;
  return room.suspended_at !== null || waitsUntil(room, since) <= now.getTime();
}

/** Settles the room under its lock. @param seen the plan and the account standing, read shortly before. */
async function settle(told: RoomEventContext, room: RoomRow, seen: Candidate): Promise<void> {
  const { tx, now } = told;
  const goneSince: number[] = [];
  for (const row of await participants.presentIn(tx, room.id)) {
    const awaySince = row.disconnected_since?.getTime() ?? Number.POSITIVE_INFINITY;
    const isGone = awaySince + room.departure_timeout_sec * 1000 <= now.getTime();
    const isForgotten =
      row.state === 'JOINING' &&
      room.status === 'CREATED' &&
      (seen.suspended_at !== null || waitsUntil(room, row.created_at) <= now.getTime());
    if (!isGone && !isForgotten) continue;
    if (isGone) goneSince.push(awaySince);
    await removeParticipant(told, room, row, 'TIMEOUT');
  }
  // The seat of the last participant was already reserved for the departure timeout, which does not restart.
  const emptySince = goneSince.length === 0 ? now : dateFromMs(Math.max(...goneSince));
  const settled = await reconcilePresence(told, room, emptySince);
  const due = dueTransition(settled, followStateOf(seen), now);
  if (due === 'IDLE') await markIdle(told, settled);
  else if (due !== null) await endRoom(told, settled, due);
}

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

/** A node that has not been heard of for so long is gone, and so are the connections to it. */
export const NODE_TIMEOUT_MS = 10_000;
const FORGET_NODE_MS = 3_600_000;
/** Messages between nodes are read within seconds. */
const MESSAGE_MS = 60_000;

/** What time does to rooms. */
export interface RoomSweep {
  /** Removes messages that were relayed, and nodes that are gone. */
  forget(): Promise<void>;
  /** Gives seats up that nobody came back to, and ends rooms that are over. */
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
      // Each second, and mostly for nothing.
      if (!(await hasAny(db, [participants.listOnDeadNodes(db, since), toSettle]))) return;
      for (const id of await participants.markDisconnected(db, since, now)) bus.publish(ROOM_TOPIC, id);
      for (const room of await toSettle.execute()) {
        if (!isDue(room, now)) continue;
        try {
          await changeLocked(deps, { workspaceId: null, roomId: room.id }, (told, locked) =>
            settle(told, locked, room),
          );
        } catch (error) {
          log.error({ err: error, roomId: room.id }, 'a room could not be brought up to date');
        }
      }
    },
  };
}

const standingOf = ({ plan, suspended_at: suspendedAt }: Candidate) => ({
  planHours: PLANS[plan].roomHours,
  isSuspended: suspendedAt !== null,
});

function isDue(room: Candidate, now: Date): boolean {
  if (room.has_away || dueTransition(room, standingOf(room), now) !== null) return true;
  const { waiting_since: since } = room;
  if (since === null || room.status === 'ACTIVE') return false;
  return room.suspended_at !== null || waitsUntil(room, since) <= now.getTime();
}

/** Under the lock of the room. @param seen the plan and the standing, as they were a moment ago. */
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
  // The seat of the last one was kept for the departure timeout already: it does not begin again.
  const emptySince = goneSince.length === 0 ? now : dateFromMs(Math.max(...goneSince));
  const settled = await reconcilePresence(told, room, emptySince);
  const due = dueTransition(settled, standingOf(seen), now);
  if (due === 'IDLE') await markIdle(told, settled);
  else if (due !== null) await endRoom(told, settled, due);
}

import { type Clock, dateFromMs } from '../../kernel/clock.ts';
import { newId } from '../../kernel/ids.ts';
import type { Signal } from '../../media/contract/index.ts';
import type { Bus } from '../../platform/bus.ts';
import type { Db } from '../../platform/db/index.ts';
import type { Logger } from '../../platform/logger.ts';
import * as repository from './relay.repository.ts';

/** Messages of a node to the participants on other nodes (docs/decisions/rooms.md#nodes). */
export interface RoomRelay {
  readonly nodeId: string;
  /** Signals of an engine whose browsers connect to each other. */
  readonly signals: {
    send(ref: string, to: string, signal: Signal): void;
    subscribe(listener: (ref: string, to: string, signal: Signal) => void): void;
  };
  /** Sends a message to all participants of the room on other nodes. */
  tell(roomId: string, message: object): void;
  /** Subscribes to messages of other nodes in the room. @returns the function that unsubscribes. */
  follow(roomId: string, follower: RelayFollower): () => void;
  /** Reads messages whose hint was lost. */
  poll(): void;
}

interface RelayFollower {
  /** Reports whether this identity, or any (null), is connected to another node. */
  isElsewhere(identity: string | null): boolean;
  take(message: object): void;
}

interface Deps {
  db: Db;
  bus: Bus;
  clock: Clock;
  log: Logger;
}

interface FollowedRoom extends RelayFollower {
  sinceMs: number;
  seen: Set<string>;
  reading: Promise<void> | null;
  isDirty: boolean;
}

const TOPIC = 'room-messages';
/** Maximum delay until a row becomes visible: transactions take time, and clocks differ. */
const LATE_MS = 15_000;
const MAX_SEEN = 5000;

export function createRoomRelay({ db, bus, clock, log }: Deps): RoomRelay {
  const nodeId = newId('nod');
  const followed = new Map<string, FollowedRoom>();
  const listeners: ((ref: string, to: string, signal: Signal) => void)[] = [];

  const post = (roomId: string, recipient: string | null, body: object) => {
    if (followed.get(roomId)?.isElsewhere(recipient) !== true) return;
    const row = { id: newId('rmm'), room_id: roomId, node_id: nodeId, recipient, created_at: clock.now() };
    repository.insertMessage(db, { ...row, body: JSON.stringify(body) }).then(
      () => bus.publish(TOPIC, roomId),
      (error: unknown) => log.warn({ err: error, roomId }, 'a message to another node was lost'),
    );
  };
  const take = (roomId: string, room: FollowedRoom, { id, recipient, body }: repository.MessageRow) => {
    if (room.seen.has(id)) return;
    if (room.seen.size >= MAX_SEEN) room.seen.clear();
    room.seen.add(id);
    const message: unknown = JSON.parse(body);
    if (typeof message !== 'object' || message === null) return;
    if (recipient === null) return room.take(message);
    for (const listener of listeners) listener(roomId, recipient, { ...message });
  };
  const read = async (roomId: string, room: FollowedRoom) => {
    room.isDirty = false;
    const since = dateFromMs(Math.max(room.sinceMs, clock.ms() - LATE_MS));
    for (const row of await repository.messagesSince(db, roomId, nodeId, since)) take(roomId, room, row);
  };
  const look = (roomId: string) => {
    const room = followed.get(roomId);
    if (room === undefined) return;
    room.isDirty = true;
    room.reading ??= read(roomId, room)
      .catch((error: unknown) =>
        log.warn({ err: error, roomId }, 'messages of other nodes could not be read'),
      )
      .finally(() => {
        room.reading = null;
        if (room.isDirty) look(roomId);
      });
  };
  bus.subscribe(TOPIC, look);

  return {
    nodeId,
    signals: {
      send: (ref, to, signal) => post(ref, to, signal),
      subscribe: (listener) => listeners.push(listener),
    },
    tell: (roomId, message) => post(roomId, null, message),
    follow(roomId, follower) {
      const room = {
        ...follower,
        sinceMs: clock.ms(),
        seen: new Set<string>(),
        reading: null,
        isDirty: false,
      };
      followed.set(roomId, room);
      return () => {
        if (followed.get(roomId) === room) followed.delete(roomId);
      };
    },
    poll() {
      for (const [roomId, room] of followed) if (room.isElsewhere(null)) look(roomId);
    },
  };
}

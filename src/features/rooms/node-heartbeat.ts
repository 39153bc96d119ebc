import { streamsOf } from './bridges.repository.ts';
import type { RoomGatewayDeps } from './gateway-deps.ts';
import type { LocalRoom } from './local-room.ts';
import { ROOM_TOPIC } from './locked.ts';
import * as participants from './participants.repository.ts';
import * as repository from './repository.ts';
import type { Connection } from './websocket-connection.ts';

const TICK_MS = 1000;
/** Intervals in ticks. */
const POLL = 2;
const HEARTBEAT = 3;
const PING = 10;
const RECONCILE_MS = 30_000;

interface NodeConnections {
  rooms: ReadonlyMap<string, LocalRoom>;
  open: ReadonlySet<Connection>;
}

/** Creates the periodic work of a node while people are connected to it (docs/decisions/rooms.md#nodes). */
export function createNodeHeartbeat(
  deps: Pick<RoomGatewayDeps, 'db' | 'bus' | 'clock' | 'log' | 'relay'>,
  { rooms, open }: NodeConnections,
): { begin(): Promise<void>; stop(): Promise<void> } {
  const { db, bus, clock, log, relay } = deps;
  let timer: NodeJS.Timeout | undefined;
  let ticks = 0;
  let reconciledMs = 0;
  let begun: Promise<void> | null = null;

  const heartbeat = async () => {
    await participants.heartbeatNode(db, relay.nodeId, clock.now());
    await participants.markReconnected(
      db,
      relay.nodeId,
      [...open].map(({ id }) => id),
    );
  };
  const poll = async () => {
    relay.poll();
    const taken = [...rooms.values()].map((room) => ({ id: room.id, take: room.beginReading() }));
    const ids = taken.map(({ id }) => id);
    const [read, present] = [await repository.findRooms(db, ids), await participants.presentInAll(db, ids)];
    const streams = await streamsOf(db, ids);
    for (const { id, take } of taken) {
      take({
        room: read.find((room) => room.id === id),
        present: present.filter((row) => row.room_id === id),
        isBroadcast: streams.has(id),
      });
    }
  };
  const reconcile = async () => {
    for (const room of rooms.values()) await room.reconcile();
  };
  const run = (work: () => Promise<void>, words: string) => {
    work().catch((error: unknown) => log.warn({ err: error }, words));
  };
  const tick = () => {
    ticks += 1;
    if (open.size === 0 && rooms.size === 0) return pause();
    if (ticks % HEARTBEAT === 0) run(heartbeat, 'the heartbeat of the node failed');
    if (ticks % POLL === 0) run(poll, 'rooms could not be read');
    if (ticks % PING === 0) for (const connection of open) connection.beat();
    if (clock.ms() - reconciledMs < RECONCILE_MS) return;
    reconciledMs = clock.ms();
    run(reconcile, 'the participants could not be read from the engine');
  };
  const pause = () => {
    clearInterval(timer);
    timer = undefined;
    begun = null;
  };

  return {
    /** Resolves when the other nodes know this one. */
    begin() {
      if (timer === undefined) reconciledMs = clock.ms();
      timer ??= setInterval(tick, TICK_MS).unref();
      begun ??= participants.heartbeatNode(db, relay.nodeId, clock.now()).catch((error: unknown) => {
        begun = null;
        throw error;
      });
      return begun;
    },
    async stop() {
      pause();
      try {
        for (const id of await participants.disconnectAllOnNode(db, relay.nodeId, clock.now()))
          bus.publish(ROOM_TOPIC, id);
        await participants.removeNode(db, relay.nodeId);
      } catch (error) {
        log.warn({ err: error }, 'the participants of this node remain until its heartbeat expires');
      }
    },
  };
}

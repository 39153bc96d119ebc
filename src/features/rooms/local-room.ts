import type { EngineParticipant, RoomEngine, RoomEngineEvent } from '../../media/contract/index.ts';
import type { Logger } from '../../platform/logger.ts';
import { attachEngine, detachEngine, permissionsIn } from './engine-connection.ts';
import { type CloseReason, closeOf, KINDS, mutesOf, viewOf } from './gateway-messages.ts';
import type { ParticipantRow } from './participants.repository.ts';
import type { RoomRelay } from './relay.ts';
import type { RoomRow } from './repository.ts';
import type { Connection } from './websocket-connection.ts';

/** Data read about a room; undefined when it is deleted. */
export interface RoomSnapshot {
  room: RoomRow | undefined;
  present: readonly ParticipantRow[];
  /** True when the room is bridged to a stream. */
  isBroadcast: boolean;
}

export interface LocalRoomPorts {
  engine: RoomEngine;
  relay: RoomRelay;
  log: Logger;
  /** Reads the room from the database. */
  read(roomId: string): Promise<RoomSnapshot>;
  /** Returns the rows of participants who have left. */
  readGone(roomId: string, ids: readonly string[]): Promise<ParticipantRow[]>;
  capacity(room: RoomRow): Promise<number>;
  iceServers(identity: string): readonly object[];
  resumeToken(row: ParticipantRow): string;
  /** Called with the tracks of a participant that the engine has lost. */
  onTracksGone(row: ParticipantRow, tracks: EngineParticipant['tracks']): void;
  /** Called when no participant remains, on this node or another. */
  onEmpty(roomId: string): void;
}

/** Room with connections on this node: its last snapshot, and the browsers that are notified of changes. */
export class LocalRoom {
  readonly id: string;
  readonly #ports: LocalRoomPorts;
  readonly #connections = new Map<string, Connection>();
  readonly #unfollow: () => void;
  #room: RoomRow | null = null;
  #isBroadcast = false;
  #present = new Map<string, ParticipantRow>();
  #ref: Promise<string> | null = null;
  /** Last reference of the room in the engine, which may be down now. */
  #lastRef: string | null = null;
  #reading: Promise<void> | null = null;
  #readings = 0;
  #isDirty = false;

  constructor(id: string, ports: LocalRoomPorts) {
    this.id = id;
    this.#ports = ports;
    this.#unfollow = ports.relay.follow(id, {
      isElsewhere: (identity) => this.#isElsewhere(identity),
      take: (message) => this.#tell(message),
    });
  }

  get connections(): Iterable<Connection> {
    return this.#connections.values();
  }

  /** @param row its stay; an existing connection of the same stay is replaced. */
  add(connection: Connection, row: ParticipantRow): void {
    connection.row = row;
    connection.sinceReading = this.#readings;
    const older = this.#connections.get(row.id);
    if (older !== undefined) void this.#drop(older, 'REPLACED');
    this.#connections.set(row.id, connection);
  }

  /** Removes a connection whose socket is closed. */
  remove(connection: Connection): void {
    const { row } = connection;
    if (row !== null && this.#connections.get(row.id) === connection) this.#connections.delete(row.id);
    void detachEngine(connection);
  }

  /** Reads the room immediately or after the read in progress, and broadcasts the changes. */
  refresh(): Promise<void> {
    this.#isDirty = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  /**
   * Begins a combined read of several rooms. @returns the function that applies it, unless this room was read
   * in between.
   */
  beginReading(): (reading: RoomSnapshot) => void {
    const reading = ++this.#readings;
    return (read) => {
      if (this.#reading !== null || reading !== this.#readings) return;
      this.#reading = this.#take(read, reading)
        .catch((error: unknown) => this.#ports.log.warn({ err: error, roomId: this.id }, NOT_READ))
        .finally(() => {
          this.#reading = null;
          if (this.#isDirty) void this.refresh();
        });
    };
  }

  async #take({ room, present, isBroadcast }: RoomSnapshot, reading: number): Promise<void> {
    if (room === undefined || room.status === 'ENDED') return this.#end(room?.end_reason ?? 'DELETED');
    const before = this.#present;
    const hadRecording = this.#room?.recording_since ?? null;
    const wasWaiting = waitingOf(before.values());
    const left = await this.#leftOf(before, present, reading);
    this.#room = room;
    this.#present = new Map(present.map((row) => [row.id, row]));
    this.#sendAway(left, reading);
    void this.#removeAll(left);
    this.#tellChanges(before, left);
    const isRecorded = room.recording_since !== null;
    if (isRecorded !== (hadRecording !== null)) this.#tell({ type: 'recording', on: isRecorded });
    if (isBroadcast !== this.#isBroadcast) this.#tell({ type: 'broadcast', on: isBroadcast });
    this.#isBroadcast = isBroadcast;
    await this.#letIn(room);
    this.#tellWaiting(wasWaiting);
    if (this.#connections.size === 0 && present.length === 0) await this.#dispose();
  }

  /** Sends a message of a participant on this node to all participants. */
  broadcast(message: object): void {
    this.#tell(message);
    this.#ports.relay.tell(this.id, message);
  }

  /** Handles an event of the engine about its room. */
  async heard(event: RoomEngineEvent): Promise<void> {
    if (event.type === 'down') {
      this.#ref = null;
      for (const connection of this.#connections.values()) connection.isEngineDown = true;
      return this.#tell({ type: 'engine', state: 'down' });
    }
    if (event.type === 'up') return this.#attachAll();
    if (event.type === 'joined') return;
    if ((await this.#ref?.catch(() => null)) !== event.ref) return;
    if (event.type === 'ended') return this.#attachAll();
    const connection = this.#of(event.identity);
    if (connection?.row == null) return;
    if (event.type === 'left') this.#attach(connection);
    else this.#ports.onTracksGone(connection.row, event.tracks);
  }

  /** Reconciles the engine with the rows after lost events. */
  async reconcile(): Promise<void> {
    const ref = await this.#ref?.catch(() => null);
    if (ref === null || ref === undefined) return;
    const known = await this.#ports.engine.listParticipants(ref);
    // Read after the list, so that a participant who has just joined is not removed.
    const { present } = await this.#ports.read(this.id);
    const active = new Set(
      present.flatMap((row) => (isActive(row) && row.disconnected_since === null ? row.identity : [])),
    );
    for (const { identity, tracks } of known) {
      const connection = this.#of(identity);
      if (!active.has(identity)) await this.#ports.engine.removeParticipant(ref, identity);
      else if (connection?.row != null) this.#ports.onTracksGone(connection.row, tracks);
    }
    for (const connection of this.#connections.values()) {
      const isLost = !known.some(({ identity }) => identity === connection.row?.identity);
      if (connection.shown === 'IN' && isLost) this.#attach(connection);
    }
  }

  async #readAll(): Promise<void> {
    while (this.#isDirty) {
      this.#isDirty = false;
      try {
        const reading = ++this.#readings;
        await this.#take(await this.#ports.read(this.id), reading);
      } catch (error) {
        this.#ports.log.warn({ err: error, roomId: this.id }, NOT_READ);
      }
    }
  }

  /** Returns the participants who were present, or have a connection here, and have left, with the reason. */
  async #leftOf(
    before: ReadonlyMap<string, ParticipantRow>,
    present: readonly ParticipantRow[],
    reading: number,
  ): Promise<ParticipantRow[]> {
    const here = new Set(present.map(({ id }) => id));
    const known = new Map(before);
    for (const { row, sinceReading } of this.#connections.values()) {
      if (row !== null && sinceReading < reading) known.set(row.id, row);
    }
    const gone = [...known.values()].filter(({ id }) => !here.has(id));
    if (gone.length === 0) return [];
    const ids = gone.map(({ id }) => id);
    const rows = await this.#ports.readGone(this.id, ids);
    return gone.map((row) => rows.find(({ id }) => id === row.id) ?? row);
  }

  /** Closes connections whose stay has ended or has a newer connection. */
  #sendAway(left: readonly ParticipantRow[], reading: number): void {
    for (const [id, connection] of [...this.#connections]) {
      const row = this.#present.get(id);
      if (connection.sinceReading >= reading) continue;
      if (row?.connection_id === connection.id) {
        connection.row = row;
      } else if (row !== undefined && row.connection_id === null) {
        void this.#drop(connection, 'SEAT_LOST');
      } else {
        void this.#drop(
          connection,
          row === undefined ? closeOf(left.find((one) => one.id === id)) : 'REPLACED',
        );
      }
    }
  }

  /**
   * Removes the participants from an engine shared by all nodes. Every node does so, because their own may be
   * lost.
   */
  async #removeAll(left: readonly ParticipantRow[]): Promise<void> {
    const { engine } = this.#ports;
    const ref = this.#lastRef;
    if (!engine.caps.multiNode || ref === null) return;
    for (const { identity } of left) {
      const isBack = [...this.#present.values()].some((row) => row.identity === identity);
      if (!isBack) await engine.removeParticipant(ref, identity).catch(() => {});
    }
  }

  #tellChanges(before: ReadonlyMap<string, ParticipantRow>, left: readonly ParticipantRow[]): void {
    for (const row of left) {
      const was = before.get(row.id);
      if (was !== undefined && isActive(was)) {
        this.#tell({ type: 'left', identity: row.identity, reason: row.leave_reason });
      }
    }
    for (const row of [...this.#present.values()].filter(isActive)) {
      const was = before.get(row.id);
      const participant = viewOf(row);
      if (was === undefined || !isActive(was)) this.#tell({ type: 'joined', participant });
      else if (JSON.stringify(viewOf(was)) !== JSON.stringify(participant)) {
        if (was.hand_raised !== row.hand_raised)
          this.#tell({ type: 'hand', identity: row.identity, raised: row.hand_raised });
        this.#tell({ type: 'updated', participant });
      }
      if (was !== undefined) this.#mute(was, row);
    }
  }

  /** Mutes at the engine of the node that has the connection, as far as the engine can. */
  #mute(before: ParticipantRow, row: ParticipantRow): void {
    const connection = this.#connections.get(row.id);
    if (connection === undefined) return;
    const { engine, log } = this.#ports;
    const [was, is] = [mutesOf(before), mutesOf(row)];
    for (const kind of KINDS) {
      if (was[kind] === is[kind]) continue;
      connection.send({ type: 'muted', kind, muted: is[kind] });
      connection.moderate(async () => {
        const ref = await this.#ref?.catch(() => null);
        if (typeof ref !== 'string' || !engine.caps.serverMute) return;
        await engine.setMuted(ref, row.identity, kind, is[kind]).catch((error: unknown) => {
          log.warn({ err: error, roomId: this.id }, 'a participant could not be muted');
        });
      });
    }
  }

  async #letIn(room: RoomRow): Promise<void> {
    for (const connection of this.#connections.values()) {
      const { row, shown } = connection;
      if (row === null || this.#present.get(row.id)?.connection_id !== connection.id) continue;
      if (row.state === 'JOINING' && shown === 'NOTHING') {
        connection.shown = 'WAITING';
        connection.send({ type: 'waiting' });
      }
      if (row.state !== 'ACTIVE' || shown === 'IN') continue;
      connection.shown = 'IN';
      connection.send(await this.#welcome(room, row));
      this.#attach(connection);
      if (row.role === 'HOST') connection.send(waitingMessage(this.#present.values()));
    }
  }

  async #welcome(room: RoomRow, row: ParticipantRow): Promise<object> {
    const { engine, capacity, iceServers, resumeToken } = this.#ports;
    return {
      type: 'welcome',
      self: { ...viewOf(row), permissions: permissionsIn(row) },
      room: { id: room.id, name: room.name, maxParticipants: await capacity(room) },
      participants: [...this.#present.values()].filter(isActive).map(viewOf),
      engine: engine.name,
      iceServers: iceServers(row.identity),
      recording: room.recording_since !== null,
      broadcast: this.#isBroadcast,
      canRecord: room.record_enabled && engine.caps.recording,
      muted: Object.entries(mutesOf(row)).flatMap(([kind, isMuted]) => (isMuted ? [kind] : [])),
      resumeToken: resumeToken(row),
    };
  }

  #attach(connection: Connection): void {
    const { engine, log } = this.#ports;
    connection.enqueue(async () => {
      const room = this.#room;
      if (room === null || connection.isOver) return;
      this.#ref ??= engine
        .createRoom({ roomId: room.id, maxParticipants: room.max_participants })
        .then(({ ref }) => {
          this.#lastRef = ref;
          return ref;
        });
      try {
        await attachEngine(engine, await this.#ref, connection);
      } catch (error) {
        this.#ref = null;
        connection.isEngineDown = true;
        log.warn({ err: error, roomId: this.id }, 'the engine rejected a participant');
        connection.send({ type: 'engine', state: 'down' });
      }
    });
  }

  #attachAll(): void {
    this.#ref = null;
    for (const connection of this.#connections.values())
      if (connection.shown === 'IN') this.#attach(connection);
  }

  #tellWaiting(before: string): void {
    const message = waitingMessage(this.#present.values());
    if (waitingOf(this.#present.values()) === before) return;
    for (const connection of this.#connections.values()) {
      if (connection.shown === 'IN' && connection.row?.role === 'HOST') connection.send(message);
    }
  }

  /** Sends a message to all participants on this node. */
  #tell(message: object): void {
    for (const connection of this.#connections.values())
      if (connection.shown === 'IN') connection.send(message);
  }

  async #drop(connection: Connection, reason: CloseReason): Promise<void> {
    this.remove(connection);
    connection.close(reason);
  }

  async #end(reason: string): Promise<void> {
    for (const connection of [...this.#connections.values()]) {
      connection.send({ type: 'ended', reason });
      void this.#drop(connection, 'ENDED');
    }
    await this.#dispose();
  }

  async #dispose(): Promise<void> {
    this.#present = new Map();
    this.#unfollow();
    this.#ports.onEmpty(this.id);
    await this.#ref?.catch(() => null);
    if (this.#lastRef !== null) await this.#ports.engine.endRoom(this.#lastRef).catch(() => {});
  }

  #of(identity: string): Connection | undefined {
    for (const connection of this.#connections.values()) {
      if (connection.row?.identity === identity) return connection;
    }
    return undefined;
  }

  #isElsewhere(identity: string | null): boolean {
    const { nodeId } = this.#ports.relay;
    for (const row of this.#present.values()) {
      const isThere = row.node_id !== null && row.node_id !== nodeId;
      if (isThere && isActive(row) && (identity === null || row.identity === identity)) return true;
    }
    return false;
  }
}

const NOT_READ = 'a room could not be read';

const isActive = ({ state }: ParticipantRow): boolean => state === 'ACTIVE';

function waitingMessage(rows: Iterable<ParticipantRow>): { type: 'waitingRoom'; people: object[] } {
  const people = [...rows].filter(({ state }) => state === 'JOINING');
  return { type: 'waitingRoom', people: people.map(({ identity, name }) => ({ identity, name })) };
}

function waitingOf(rows: Iterable<ParticipantRow>): string {
  return JSON.stringify(waitingMessage(rows));
}

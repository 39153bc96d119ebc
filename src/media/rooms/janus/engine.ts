import { randomUUID } from 'node:crypto';
import type { Logger } from '../../../platform/logger.ts';
import type {
  EngineConnection,
  EngineParticipant,
  RoomEngine,
  RoomEngineEvent,
  RoomPeer,
  RoomTrackKind,
  Signal,
} from '../engine.ts';
import { JanusClient, JanusError, type JanusHandle, listOf } from './client.ts';
import { JanusConnection } from './connection.ts';
import { type JanusLink, readLink } from './link-file.ts';
import { ROOM_EXISTS, roomRequest } from './room-request.ts';
import { isMuted, kindOf, readDescription } from './sources.ts';

type Json = Record<string, unknown>;

interface Options {
  /** File in which the media role publishes the connection data of Janus. */
  linkFile: string;
  log: Logger;
}

const MAX_PARTICIPANTS = 100;
const LOOK_MS = 200;
const NO_SUCH_ROOM = 426;
const NO_SUCH_FEED = 428;

/** Creates the engine for rooms on the local Janus (docs/decisions/room-engines.md#janus). */
export function createJanusEngine(options: Options): RoomEngine {
  return new JanusEngine(options);
}

/** State of one connection to Janus. */
interface Session {
  client: JanusClient;
  link: JanusLink;
  /** Handle for requests that concern no participant. */
  desk: JanusHandle;
}

class JanusEngine implements RoomEngine {
  readonly name = 'janus';
  readonly caps = {
    ...{ maxParticipants: MAX_PARTICIPANTS, recording: true, serverMute: true, multiNode: false },
    bridges: true,
  };
  readonly #options: Options;
  readonly #listeners: ((event: RoomEngineEvent) => void)[] = [];
  readonly #rooms = new Map<string, Room>();
  #session: Session | null = null;
  #isLooking = false;
  readonly #look: NodeJS.Timeout;

  constructor(options: Options) {
    this.#options = options;
    this.#look = setInterval(() => void this.#find(), LOOK_MS).unref();
    void this.#find();
  }

  async createRoom({ roomId, maxParticipants }: { roomId: string; maxParticipants: number }) {
    const { desk, link } = this.#reach();
    await accept(ROOM_EXISTS, () => desk.send(roomRequest(link, roomId, maxParticipants)));
    return { ref: roomId };
  }

  async endRoom(ref: string): Promise<void> {
    const room = this.#rooms.get(ref);
    this.#rooms.delete(ref);
    await Promise.all([...(room?.values() ?? [])].map(({ connection }) => connection.close()));
    if (this.#session === null) return;
    const { desk } = this.#session;
    await accept(NO_SUCH_ROOM, () => desk.send({ request: 'destroy', room: ref }));
  }

  async connect(ref: string, peer: RoomPeer, send: (signal: Signal) => void): Promise<EngineConnection> {
    const { client } = this.#reach();
    const room: Room = this.#rooms.get(ref) ?? new Map();
    this.#rooms.set(ref, room);
    const { identity } = peer;
    const former = room.get(identity);
    // The gateway applies the mutes to each new connection.
    const muted = new Set<RoomTrackKind>();
    const isMine = () => room.get(identity)?.connection === connection;
    const connection = new JanusConnection({
      client,
      room: ref,
      peer,
      send,
      muted,
      onTracks: (tracks) => {
        if (isMine()) this.#emit({ type: 'tracks', ref, identity, tracks });
      },
      onGone: (what) => {
        if (!isMine()) return;
        room.delete(identity);
        this.#emit(what === 'room' ? { type: 'ended', ref } : { type: 'left', ref, identity });
      },
      onError: (error) => this.#options.log.warn({ err: error, ref }, 'a room could not be received'),
    });
    room.set(identity, { connection, muted });
    await former?.connection.close();
    try {
      await connection.open();
    } catch (error) {
      if (isMine()) room.delete(identity);
      await connection.close();
      throw error;
    }
    return {
      signal: (message) => connection.signal(message),
      close: async () => {
        if (isMine()) room.delete(identity);
        await connection.close();
      },
    };
  }

  async listParticipants(ref: string): Promise<EngineParticipant[]> {
    const [people, streams] = await Promise.all([this.#people(ref), this.#streams(ref)]);
    const identities = new Set(people.map(({ identity }) => identity));
    return [...identities].map((identity) => ({
      identity,
      tracks: streams
        .filter((stream) => stream.identity === identity)
        .flatMap(({ source, muted }) => (source === null ? [] : { kind: kindOf(source), muted })),
    }));
  }

  async removeParticipant(ref: string, identity: string): Promise<void> {
    const room = this.#rooms.get(ref);
    const seat = room?.get(identity);
    room?.delete(identity);
    await seat?.connection.close();
    const { desk } = this.#reach();
    for (const person of await this.#people(ref)) {
      // Janus still lists a closed connection for a moment. Kicking it then makes Janus 1.1 skip the offers that
      // remove its streams from the other participants.
      if (person.identity !== identity || person.id === seat?.connection.feed) continue;
      await accept(NO_SUCH_FEED, () => desk.send({ request: 'kick', room: ref, id: person.id }));
    }
  }

  async setMuted(ref: string, identity: string, kind: RoomTrackKind, muted: boolean): Promise<void> {
    const { desk } = this.#reach();
    const seat = this.#rooms.get(ref)?.get(identity);
    if (seat !== undefined) {
      if (muted) seat.muted.add(kind);
      else seat.muted.delete(kind);
      return seat.connection.applyMutes();
    }
    // The participant is connected to another process.
    for (const { feed: id, mid, ...stream } of await this.#streams(ref)) {
      if (stream.identity !== identity || !isMuted(stream, new Set([kind]))) continue;
      await accept(NO_SUCH_FEED, () => desk.send({ request: 'moderate', room: ref, id, mid, mute: muted }));
    }
  }

  onEvent(listener: (event: RoomEngineEvent) => void): void {
    this.#listeners.push(listener);
  }

  async health() {
    const session = this.#session;
    const answers = session !== null && (await session.client.ping().then(yes, no));
    return { ok: answers, detail: answers ? null : 'The room engine Janus is not running.' };
  }

  async close(): Promise<void> {
    clearInterval(this.#look);
    await Promise.all(this.#seats().map(({ connection }) => connection.close()));
    this.#rooms.clear();
    this.#session?.client.close();
    this.#session = null;
  }

  #reach(): Session {
    if (this.#session === null) throw new JanusError(0, 'The room engine Janus is not running.');
    return this.#session;
  }

  #emit(event: RoomEngineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  /** Connects when Janus is available again. */
  async #find(): Promise<void> {
    if (this.#session !== null || this.#isLooking) return;
    this.#isLooking = true;
    try {
      const link = await readLink(this.#options.linkFile);
      if (link === null) return;
      const client = await JanusClient.connect(link);
      const desk = await client.attach(SILENT);
      this.#session = { client, link, desk };
      client.onClose(() => this.#lost());
      this.#emit({ type: 'up' });
    } catch (error) {
      this.#options.log.debug({ err: error }, 'Janus cannot be reached');
    } finally {
      this.#isLooking = false;
    }
  }

  #lost(): void {
    this.#session = null;
    const seats = this.#seats();
    for (const room of this.#rooms.values()) room.clear();
    for (const { connection } of seats) void connection.close();
    this.#options.log.warn({ connections: seats.length }, 'Janus has stopped');
    this.#emit({ type: 'down' });
  }

  #seats(): Seat[] {
    return [...this.#rooms.values()].flatMap((room) => [...room.values()]);
  }

  async #people(ref: string): Promise<{ id: string; identity: string }[]> {
    const { desk } = this.#reach();
    const answer = await accept(NO_SUCH_ROOM, () => desk.send({ request: 'listparticipants', room: ref }));
    return listOf(answer?.data.participants).flatMap(({ id, display }) =>
      typeof id === 'string' && typeof display === 'string' ? [{ id, identity: display }] : [],
    );
  }

  /** Lists all published streams of a room, which Janus reports only to participants that join. */
  async #streams(ref: string) {
    const { client } = this.#reach();
    const visitor = await client.attach(SILENT);
    try {
      const joined = await accept(NO_SUCH_ROOM, () =>
        visitor.send({ request: 'join', ptype: 'publisher', room: ref, id: randomUUID() }),
      );
      return listOf(joined?.data.publishers).flatMap(({ id, display, streams }) =>
        typeof id === 'string' ? listOf(streams).flatMap((stream) => streamOf(id, display, stream)) : [],
      );
    } finally {
      await visitor.detach();
    }
  }
}

/** Seats of this process by identity. */
type Room = Map<string, Seat>;

interface Seat {
  connection: JanusConnection;
  /** Tracks that a host has muted. */
  muted: Set<RoomTrackKind>;
}

const yes = () => true;
const no = () => false;
const SILENT = { onEvent() {}, onTrickle() {}, onPeer() {}, onDetached() {} };

/** @param display the publisher's identity. */
function streamOf(feed: string, display: unknown, { mid, type, description, disabled, moderated }: Json) {
  if (typeof mid !== 'string' || typeof display !== 'string') return [];
  const source = disabled === true ? null : (readDescription(description)?.source ?? null);
  return [{ feed, mid, identity: display, isAudio: type === 'audio', source, muted: moderated === true }];
}

/** Returns the response, or null when Janus rejects the request with this code, which counts as success. */
async function accept<T>(code: number, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof JanusError && error.code === code) return null;
    throw error;
  }
}

import type { ParticipantInfo } from 'livekit-server-sdk';
import type { Clock } from '../../../kernel/clock.ts';
import type { Logger } from '../../../platform/logger.ts';
import type {
  EngineConnection,
  EngineParticipant,
  EngineWebhook,
  RoomEngine,
  RoomEngineCaps,
  RoomEngineEvent,
  RoomPeer,
  RoomTrackKind,
  Signal,
} from '../engine.ts';
import { LivekitApi, type LivekitServer } from './api.ts';
import { LivekitConnection } from './connection.ts';
import {
  hasFalseTrack,
  identityOf,
  isHiddenParticipant,
  isUpToDate,
  type ParticipantConnection,
  tracksOf,
  visitOf,
} from './identities.ts';
import { createLivekitWebhook } from './webhook.ts';

/** Notifier that informs every node of a change in a room at the server. */
export interface RoomChangeNotifier {
  tell(ref: string): void;
  listen(listener: (ref: string) => void): void;
}

interface Options extends LivekitServer {
  hints: RoomChangeNotifier;
  /** Reports whether a recording media role is available. */
  isRecorded(): boolean;
  clock: Clock;
  log: Logger;
}

const MAX_PARTICIPANTS = 500;
const BEAT_MS = 1000;
/** Delay before a server that does not respond is tried a second time, before participants are notified. */
const DOUBT_MS = 250;
const DOUBTS = 1;
/** Time to wait for lost browsers, most of which reconnect by themselves. */
const PATIENCE_MS = 5000;

/**
 * Creates the engine for rooms on a LiveKit server (docs/decisions/room-engines.md#livekit). The ref of a
 * room is its ID.
 */
export function createLivekitEngine(options: Options): RoomEngine {
  return new LivekitEngine(options);
}

class LivekitEngine implements RoomEngine {
  readonly name = 'livekit';
  readonly caps: RoomEngineCaps;
  readonly webhook: EngineWebhook;
  readonly #options: Options;
  readonly #api: LivekitApi;
  readonly #listeners: ((event: RoomEngineEvent) => void)[] = [];
  /** Seats of this process, by room and identity. */
  readonly #rooms = new Map<string, Map<string, Seat>>();
  readonly #looks = new Map<string, Look>();
  /** Requests that failed while the server was down: they are retried when it responds again. */
  readonly #owed = new Map<string, () => Promise<void>>();
  readonly #begun: Promise<void>;
  #timer: NodeJS.Timeout | undefined;
  #lack: string | null = 'has not responded yet';
  #doubts = 0;
  #isClosed = false;

  constructor(options: Options) {
    this.#options = options;
    this.caps = {
      ...{ maxParticipants: MAX_PARTICIPANTS, serverMute: true, multiNode: true, bridges: false },
      get recording() {
        return options.isRecorded();
      },
    };
    this.#api = new LivekitApi(options);
    options.hints.listen((ref) => void this.#look(ref));
    this.webhook = createLivekitWebhook(options, (ref, joined) => {
      options.hints.tell(ref);
      if (joined !== null) this.#emit({ type: 'joined', roomId: ref, ref, identity: joined });
    });
    this.#begun = this.#beat();
  }

  async createRoom({ roomId }: { roomId: string }) {
    await this.#reach();
    this.#owed.delete(endOf(roomId));
    await this.#api.createRoom(roomId);
    return { ref: roomId };
  }

  async endRoom(ref: string): Promise<void> {
    for (const { connection } of this.#rooms.get(ref)?.values() ?? []) connection.end();
    this.#rooms.delete(ref);
    await this.#settle(endOf(ref), () => this.#api.deleteRoom(ref));
  }

  async connect(ref: string, peer: RoomPeer, send: (signal: Signal) => void): Promise<EngineConnection> {
    await this.#reach();
    const { identity, permissions } = peer;
    const room = this.#rooms.get(ref) ?? new Map<string, Seat>();
    const former = room.get(identity);
    const muted = new Set<RoomTrackKind>();
    const connection = new LivekitConnection({
      ...{ peer, muted, send },
      url: this.#options.url,
      mint: async (who) => {
        // LiveKit deletes a room that was empty for a while, and may allow only us to create one. If this
        // fails, the browser retries.
        await this.#api.createRoom(ref).catch(() => {});
        return this.#api.token(ref, who, permissions);
      },
      remove: (who) => this.#settle(`${ref} ${who.visit}`, () => this.#remove(ref, who)),
    });
    const seat = { connection, muted };
    this.#rooms.set(ref, room.set(identity, seat));
    await former?.connection.close();
    connection.open();
    return {
      signal: (message) => connection.signal(message),
      close: async () => {
        if (room.get(identity) === seat) this.#drop(ref, identity);
        await connection.close();
      },
    };
  }

  async listParticipants(ref: string): Promise<EngineParticipant[]> {
    await this.#reach();
    const people = await this.#api.list(ref);
    void this.#amend(ref, people);
    const guests = people.filter((info) => !isHiddenParticipant(info));
    return guests.map((info) => ({ identity: identityOf(info), tracks: tracksOf(info) }));
  }

  async removeParticipant(ref: string, identity: string): Promise<void> {
    this.#rooms.get(ref)?.get(identity)?.connection.end();
    this.#drop(ref, identity);
    const nowSec = Math.floor(this.#options.clock.ms() / 1000);
    await this.#settle(`${ref} ${identity}`, () => this.#api.remove(ref, identity, nowSec));
  }

  async setMuted(ref: string, identity: string, kind: RoomTrackKind, muted: boolean): Promise<void> {
    // Handled only by the node to which the participant is connected.
    const seat = this.#rooms.get(ref)?.get(identity);
    if (seat === undefined) return;
    if (muted) seat.muted.add(kind);
    else seat.muted.delete(kind);
    await this.#api.update(ref, seat.connection.who, seat.connection.permissions);
  }

  onEvent(listener: (event: RoomEngineEvent) => void): void {
    this.#listeners.push(listener);
  }

  async health() {
    await this.#begun;
    const lack = this.#lack;
    return { ok: lack === null, detail: lack === null ? null : wordsOf(lack) };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    for (const { timer } of this.#looks.values()) clearTimeout(timer);
    const seats = [...this.#rooms.values()].flatMap((room) => [...room.values()]);
    await Promise.all(seats.map(({ connection }) => connection.close()));
    this.#rooms.clear();
  }

  async #reach(): Promise<void> {
    await this.#begun;
    if (this.#lack !== null) throw new Error(wordsOf(this.#lack));
  }

  #emit(event: RoomEngineEvent): void {
    for (const listener of this.#listeners) listener(event);
  }

  #drop(ref: string, identity: string): void {
    const room = this.#rooms.get(ref);
    room?.delete(identity);
    if (room?.size === 0) this.#rooms.delete(ref);
  }

  /** Checks periodically whether the server responds. */
  async #beat(): Promise<void> {
    const lack = await this.#api.lack();
    if (this.#isClosed) return;
    const wasUp = this.#lack === null;
    this.#doubts = lack === null ? 0 : this.#doubts + 1;
    const isDoubted = wasUp && lack !== null && this.#doubts <= DOUBTS;
    this.#timer = setTimeout(() => void this.#beat(), isDoubted ? DOUBT_MS : BEAT_MS).unref();
    if (isDoubted) return;
    if (lack !== null && lack !== this.#lack)
      this.#options.log.warn({ reason: lack }, 'room engine LiveKit is unavailable');
    this.#lack = lack;
    if (wasUp && lack !== null) this.#emit({ type: 'down' });
    if (wasUp || lack !== null) return;
    this.#emit({ type: 'up' });
    for (const [key, work] of [...this.#owed]) await this.#settle(key, work);
  }

  /** Runs the work now, or when the server responds again. */
  async #settle(key: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
      this.#owed.delete(key);
    } catch (error) {
      this.#options.log.warn({ err: error }, 'cannot update LiveKit; will retry');
      this.#owed.set(key, work);
    }
  }

  /** A newer connection of the same identity stays. */
  async #remove(ref: string, who: ParticipantConnection): Promise<void> {
    const info = await this.#api.find(ref, who.identity);
    if (info === null || visitOf(info) !== who.visit) return;
    await this.#api.remove(ref, who.identity, null);
  }

  /**
   * Checks the participants connected through this node; one check runs at a time, followed by another when
   * due.
   */
  async #look(ref: string): Promise<void> {
    if (!this.#rooms.has(ref) || this.#lack !== null) return;
    const under = this.#looks.get(ref);
    clearTimeout(under?.timer);
    if (under?.isRunning === true) {
      under.isDue = true;
      return;
    }
    const look: Look = { isRunning: true, isDue: false, timer: undefined };
    this.#looks.set(ref, look);
    const isMissing = await this.#observe(ref).catch((error: unknown) => {
      this.#options.log.warn({ err: error, ref }, 'cannot list LiveKit participants');
      return false;
    });
    this.#looks.delete(ref);
    if (look.isDue) return this.#look(ref);
    if (!isMissing || this.#isClosed) return;
    look.isRunning = false;
    look.timer = setTimeout(() => void this.#look(ref), PATIENCE_MS).unref();
    this.#looks.set(ref, look);
  }

  /** @returns whether a participant is missing who may come back. */
  async #observe(ref: string): Promise<boolean> {
    const people = await this.#api.list(ref);
    const known = new Map(people.map((info) => [identityOf(info), info]));
    const nowMs = performance.now();
    let isMissing = false;
    for (const [identity, { connection }] of this.#rooms.get(ref) ?? []) {
      const seen = connection.observe(known.get(identity), nowMs);
      if (seen.missingMs >= PATIENCE_MS) {
        connection.forget();
        this.#emit({ type: 'left', ref, identity });
      } else if (seen.missingMs > 0) isMissing = true;
      if (seen.tracks !== null) this.#emit({ type: 'tracks', ref, identity, tracks: seen.tracks });
    }
    await this.#amend(ref, people);
    return isMissing;
  }

  /**
   * Updates participants that joined with an older token to the permissions of their seat, and removes those
   * with forged tracks.
   */
  async #amend(ref: string, people: readonly ParticipantInfo[]): Promise<void> {
    for (const info of people) {
      const seat = this.#rooms.get(ref)?.get(identityOf(info));
      if (seat === undefined) continue;
      const { who, permissions } = seat.connection;
      const isFalse = hasFalseTrack(info);
      if (!isFalse && isUpToDate(info, who, permissions)) continue;
      const change = isFalse
        ? this.#api.remove(ref, who.identity, null)
        : this.#api.update(ref, who, permissions);
      await change.catch((error: unknown) =>
        this.#options.log.warn({ err: error, ref }, 'a participant could not be muted'),
      );
    }
  }
}

interface Seat {
  connection: LivekitConnection;
  muted: Set<RoomTrackKind>;
}

interface Look {
  isRunning: boolean;
  isDue: boolean;
  timer: NodeJS.Timeout | undefined;
}

const endOf = (ref: string) => `end ${ref}`;
const wordsOf = (lack: string) => `The room engine LiveKit ${lack}.`;

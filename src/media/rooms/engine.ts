/**
 * Engine that transports the audio and video of rooms: Janus, LiveKit, or the browsers themselves (mesh). An
 * engine knows rooms, connected participants and their tracks; access, capacity and duration limits are
 * checked by the caller.
 *
 * Terminology: a *ref* is the engine's name of a room; a *signal* is a message between a browser and the
 * engine, opaque to everything between them.
 */
export interface RoomEngine {
  readonly name: RoomEngineName;
  readonly caps: RoomEngineCaps;
  /** Receiver of the engine's webhooks; absent when the engine sends none. */
  readonly webhook?: EngineWebhook;
  /** Creates a room. Idempotent by `roomId`: an existing room keeps its ref, a lost one is created again. */
  createRoom(spec: { roomId: string; maxParticipants: number }): Promise<{ ref: string }>;
  /**
   * Disconnects all participants and ends their tracks. Idempotent: succeeds when the room does not exist.
   */
  endRoom(ref: string): Promise<void>;
  /**
   * Connects a browser. An existing connection of the same identity is closed, without an event.
   *
   * @param send sends to this browser. Nothing is sent after the connection was closed by either side.
   * @throws {Error} when the engine is down or does not know the room.
   */
  connect(ref: string, who: RoomPeer, send: (signal: Signal) => void): Promise<EngineConnection>;
  /** Lists the connected participants and their tracks. Empty when the room does not exist. */
  listParticipants(ref: string): Promise<EngineParticipant[]>;
  /** Disconnects the participant with this identity. Idempotent. */
  removeParticipant(ref: string, identity: string): Promise<void>;
  /**
   * Mutes or unmutes a kind of track of an identity. Only with `caps.serverMute`; otherwise the gateway asks
   * the browser, and this resolves.
   */
  setMuted(ref: string, identity: string, kind: RoomTrackKind, muted: boolean): Promise<void>;
  /** Adds an event listener; several are possible. */
  onEvent(listener: (event: RoomEngineEvent) => void): void;
  /** Never throws. @returns `detail`, human-readable; null when healthy. */
  health(): Promise<{ ok: boolean; detail: string | null }>;
  /** Disconnects all participants and stops everything the engine has started. */
  close(): Promise<void>;
}

/** Connection of one browser to the engine. */
export interface EngineConnection {
  /** @throws {InvalidSignalError} for an invalid signal. */
  signal(message: Signal): Promise<void>;
  /** Closes only this connection: a later one of the same identity stays. Idempotent. */
  close(): Promise<void>;
}

export interface EngineWebhook {
  /**
   * @param body unmodified request body.
   * @throws {WebhookRejectedError} when it is not signed by the engine.
   */
  receive(body: string, authorization: string | undefined): Promise<void>;
}

/** The webhook message does not come from the engine; the error message is for its sender. */
export class WebhookRejectedError extends Error {}

/** Message between a browser and the engine: a JSON object. */
export type Signal = Record<string, unknown>;

/** The browser sent an invalid signal; the message is for the browser. */
export class InvalidSignalError extends Error {}

export type RoomEngineName = 'janus' | 'livekit' | 'mesh';

export interface RoomEngineCaps {
  /** Maximum participants in one room, including viewers. */
  maxParticipants: number;
  /** Whether a media role of the platform can currently record its rooms (`RoomRecordingPort`). */
  recording: boolean;
  /** The engine itself can mute a participant. */
  serverMute: boolean;
  /** Whether participants of one room may be connected to different nodes of the platform. */
  multiNode: boolean;
  /** Whether bridges between rooms and streams are supported. */
  bridges: boolean;
}

export type RoomRole = 'HOST' | 'SPEAKER' | 'VIEWER';

/** Permissions of a participant in a room. */
export interface RoomPermissions {
  canPublish: boolean;
  canSubscribe: boolean;
  canPublishData: boolean;
  canScreenShare: boolean;
}

/** Connecting participant. */
export interface RoomPeer {
  /** Identity of one person in one room, at most 128 characters of any script. */
  identity: string;
  name: string | null;
  role: RoomRole;
  permissions: RoomPermissions;
}

export type RoomTrackKind = 'AUDIO' | 'VIDEO' | 'SCREEN';

/** Track that a participant sends. */
export interface RoomTrack {
  kind: RoomTrackKind;
  muted: boolean;
}

/** Participant as known to the engine. */
export interface EngineParticipant {
  identity: string;
  tracks: RoomTrack[];
}

/**
 * `tracks` has all current tracks of the identity; `left` means that the engine has lost the participant,
 * `ended` the whole room.
 */
export type RoomEngineEvent =
  | { type: 'tracks'; ref: string; identity: string; tracks: RoomTrack[] }
  | { type: 'left'; ref: string; identity: string }
  /**
   * A participant has joined the engine's room directly, with credentials from the gateway, which checks
   * whether they are still valid.
   */
  | { type: 'joined'; ref: string; roomId: string; identity: string }
  | { type: 'ended'; ref: string }
  /** All rooms and connections are lost; after `up`, rooms are created again and participants reconnect. */
  | { type: 'down' }
  | { type: 'up' };

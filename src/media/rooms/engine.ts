/**
 * What carries the sound and the pictures of rooms: Janus, LiveKit, or the browsers among themselves (mesh). An engine
 * knows rooms, who is connected and what they send; who may enter, how many and for how long is decided before it is
 * asked.
 *
 * Terminology: a *ref* is the engine's name of a room; a *signal* is what a browser and the engine tell each other,
 * which nobody between them reads.
 */
export interface RoomEngine {
  readonly name: RoomEngineName;
  readonly caps: RoomEngineCaps;
  /** Where the engine tells by HTTP what happens; left out where it does not. */
  readonly webhook?: EngineWebhook;
  /** Idempotent by `roomId`: a room that is there keeps its ref, one that the engine has lost is made again. */
  createRoom(spec: { roomId: string; maxParticipants: number }): Promise<{ ref: string }>;
  /** Everybody in it is let go, and what they sent ends. Idempotent: a room that is not there is fine. */
  endRoom(ref: string): Promise<void>;
  /**
   * Takes in one connected browser. One of the same identity that is there already is let go, without an event.
   *
   * @param send to this browser. After `close`, and after the connection was let go, nothing more is sent.
   * @throws {Error} when the engine is down or does not know the room.
   */
  connect(ref: string, who: RoomPeer, send: (signal: Signal) => void): Promise<EngineConnection>;
  /** Those that the engine has, and what they send. Empty for a room that is not there. */
  listParticipants(ref: string): Promise<EngineParticipant[]>;
  /** Lets go whoever has the identity. Idempotent. */
  removeParticipant(ref: string, identity: string): Promise<void>;
  /**
   * Stops, or lets through again, what an identity sends of a kind. Only where `caps.serverMute`; elsewhere the browser
   * is asked by the gateway, and this resolves.
   */
  setMuted(ref: string, identity: string, kind: RoomTrackKind, muted: boolean): Promise<void>;
  /** More than one may listen. */
  onEvent(listener: (event: RoomEngineEvent) => void): void;
  /** Never throws. @returns `detail` for people, null where all is well. */
  health(): Promise<{ ok: boolean; detail: string | null }>;
  /** Lets everybody go and ends what the engine has started. */
  close(): Promise<void>;
}

/** One browser's connection to the engine. */
export interface EngineConnection {
  /** @throws {InvalidSignalError} for what the engine cannot take. */
  signal(message: Signal): Promise<void>;
  /** Lets go this connection alone: one of the same identity that came later stays. Idempotent. */
  close(): Promise<void>;
}

export interface EngineWebhook {
  /**
   * @param body as it came.
   * @throws {WebhookRejectedError} when it is not signed by the engine.
   */
  receive(body: string, authorization: string | undefined): Promise<void>;
}

/** A message that is not the engine's; the words are for whoever has sent it. */
export class WebhookRejectedError extends Error {}

/** What a browser and the engine tell each other: a JSON object. */
export type Signal = Record<string, unknown>;

/** A signal that the engine cannot take; the message goes to the browser. */
export class InvalidSignalError extends Error {}

export type RoomEngineName = 'janus' | 'livekit' | 'mesh';

export interface RoomEngineCaps {
  /** In one room, those who only watch included. */
  maxParticipants: number;
  /** A media role of the same platform can record its rooms (`RoomRecordingPort`), now. */
  recording: boolean;
  /** The engine itself can stop what somebody sends. */
  serverMute: boolean;
  /** People in one room may be connected to different nodes of the platform. */
  multiNode: boolean;
  /** A room can be sent to a stream, and a stream into a room. */
  bridges: boolean;
}

export type RoomRole = 'HOST' | 'SPEAKER' | 'VIEWER';

/** What somebody may do in a room. */
export interface RoomPermissions {
  canPublish: boolean;
  canSubscribe: boolean;
  canPublishData: boolean;
  canScreenShare: boolean;
}

/** Somebody who connects. */
export interface RoomPeer {
  /** Of one person in one room, at most 128 characters of any script. */
  identity: string;
  name: string | null;
  role: RoomRole;
  permissions: RoomPermissions;
}

export type RoomTrackKind = 'AUDIO' | 'VIDEO' | 'SCREEN';

/** Something that a participant sends. */
export interface RoomTrack {
  kind: RoomTrackKind;
  muted: boolean;
}

/** A participant as the engine knows it. */
export interface EngineParticipant {
  identity: string;
  tracks: RoomTrack[];
}

/** `tracks` has all that the identity sends now; `left` says that the engine has lost it, `ended` a whole room. */
export type RoomEngineEvent =
  | { type: 'tracks'; ref: string; identity: string; tracks: RoomTrack[] }
  | { type: 'left'; ref: string; identity: string }
  /** Somebody has joined the engine's room past the gateway, by what they were given: it looks whether they still may. */
  | { type: 'joined'; ref: string; roomId: string; identity: string }
  | { type: 'ended'; ref: string }
  /** All of its rooms and connections are gone; after `up`, rooms are made and connected to anew. */
  | { type: 'down' }
  | { type: 'up' };

/** Protocol between the room gateway (`/rtc/rooms/{id}`) and the browser, in JSON messages. */

export const PROTOCOL = 'marquee.room.v1';

export type EngineName = 'janus' | 'mesh' | 'livekit';
export type Role = 'HOST' | 'SPEAKER' | 'VIEWER';
export type MediaKind = 'AUDIO' | 'VIDEO' | 'SCREEN';
/** Message to or from the engine behind the gateway, which forwards it unread. */
export type Signal = Record<string, unknown>;

export interface Permissions {
  canPublish: boolean;
  canSubscribe: boolean;
  canPublishData: boolean;
  canScreenShare: boolean;
}

export interface Participant {
  identity: string;
  name: string | null;
  role: Role;
  /** Media that the participant sends. */
  audio: boolean;
  video: boolean;
  screen: boolean;
  hand: boolean;
  /** Set if the participant is a stream that plays in the room. */
  bridgeId?: string | null;
  joinedAt: string;
}

/** Person in the waiting room. */
export interface Waiting {
  identity: string;
  name: string | null;
}

export interface ChatLine {
  identity: string;
  name: string | null;
  text: string;
  at: string;
}

export interface Welcome {
  type: 'welcome';
  self: Participant & { permissions?: Permissions };
  room: { id: string; name: string; maxParticipants: number };
  participants: Participant[];
  engine: EngineName;
  iceServers: RTCIceServer[];
  recording: boolean;
  /** True when the room is bridged to a stream. */
  broadcast?: boolean;
  /** Whether the room can be recorded. */
  canRecord?: boolean;
  /** Media of this participant that a host has muted; only a host can unmute it. */
  muted: MediaKind[];
  resumeToken: string;
}

export type ServerMessage =
  | { type: 'waiting' }
  | Welcome
  | { type: 'joined' | 'updated'; participant: Participant }
  | { type: 'left'; identity: string; reason: string }
  | ({ type: 'chat' } & ChatLine)
  | { type: 'hand'; identity: string; raised: boolean }
  | { type: 'muted'; kind: MediaKind; muted: boolean }
  | { type: 'recording'; on: boolean }
  | { type: 'broadcast'; on: boolean }
  | { type: 'waitingRoom'; people: Waiting[] }
  | { type: 'signal'; data: Signal }
  | { type: 'engine'; state: 'down' | 'up' }
  | { type: 'ended'; reason: string }
  | { type: 'error'; code: string; message: string }
  | { type: 'pong' };

export interface Published {
  audio: boolean;
  video: boolean;
  screen: boolean;
}

/** Moderation by a host; `identity` if it applies to one person. */
export type Moderation =
  | { action: 'mute'; identity: string; kind: MediaKind; on: boolean }
  | { action: 'kick' | 'admit' | 'deny'; identity: string }
  | { action: 'end' }
  | { action: 'record'; on: boolean };

export type ClientMessage =
  | { type: 'signal'; data: Signal }
  | ({ type: 'state' } & Published)
  | { type: 'chat'; text: string }
  | { type: 'hand'; raised: boolean }
  | ({ type: 'moderate' } & Moderation)
  | { type: 'leave' }
  | { type: 'ping' };

/** Close codes of the gateway that are final; all other disconnects are retried. */
export const CLOSED = {
  badMessage: 4400,
  token: 4401,
  removed: 4403,
  notFound: 4404,
  full: 4409,
  ended: 4410,
  replaced: 4411,
} as const;

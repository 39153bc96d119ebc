/** What the gateway of rooms (`/rtc/rooms/{id}`) and the browser say to each other, in JSON texts. */

export const PROTOCOL = 'marquee.room.v1';

export type EngineName = 'janus' | 'mesh' | 'livekit';
export type Role = 'HOST' | 'SPEAKER' | 'VIEWER';
export type MediaKind = 'AUDIO' | 'VIDEO' | 'SCREEN';
/** To or from the engine behind the gateway, which does not look into it. */
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
  /** What the participant sends. */
  audio: boolean;
  video: boolean;
  screen: boolean;
  hand: boolean;
  /** It is a stream that plays in the room, and no person. */
  bridgeId?: string | null;
  joinedAt: string;
}

/** Somebody in the waiting room. */
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
  /** What of this participant a host has muted; they cannot lift it. */
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

/** What a host may do; `identity` where it concerns one person. */
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

/** Codes with which the gateway closes for good; every other end of the connection is tried again. */
export const CLOSED = {
  badMessage: 4400,
  token: 4401,
  removed: 4403,
  notFound: 4404,
  full: 4409,
  ended: 4410,
  replaced: 4411,
} as const;

import type { EngineLoaders, TrackSource } from './media-engine.ts';
import type { ChatLine, MediaKind, Participant, Waiting, Welcome } from './protocol.ts';

/** Why somebody is no longer in a room. */
export type Outcome =
  | 'LEFT'
  | 'REMOVED'
  | 'NOT_FOUND'
  | 'TOKEN'
  | 'FULL'
  | 'ENDED'
  | 'REPLACED'
  | 'BAD_MESSAGE'
  | 'NO_ENGINE';

export type Phase =
  | { name: 'connecting' }
  | { name: 'waiting' }
  | { name: 'in' }
  /** The connection is lost and tried again; the seat is kept for a while. */
  | { name: 'reconnecting'; attempt: number }
  /** `words` are the gateway's, for what the outcome leaves open. */
  | { name: 'over'; outcome: Outcome; words: string };

/** All that a page shows of a room. The client changes it and tells; nobody else writes to it. */
export interface RoomState {
  phase: Phase;
  welcome: Welcome | null;
  /** Everybody in the room, oneself included, by identity, in the order of joining. */
  participants: Map<string, Participant>;
  waitingRoom: Waiting[];
  /** By a host: the participant cannot lift it. */
  mutedByHost: Set<MediaKind>;
  recording: boolean;
  /** True when the room is bridged to a stream. */
  broadcast: boolean;
  /** False while the engine cannot carry sound and pictures. */
  hasMedia: boolean;
}

/** What a page listens for. `onChange` says that the state is another; the rest is what no state can say. */
export interface RoomListener {
  onChange(state: RoomState): void;
  onTrack(identity: string, source: TrackSource, track: MediaStreamTrack): void;
  onTrackGone(identity: string, source: TrackSource): void;
  onChat(line: ChatLine): void;
  /** A host has muted this participant, or lets them be heard and seen again. */
  onMuted(kind: MediaKind, muted: boolean): void;
  /** Somebody came, or went (`reason` of the gateway). */
  onPresence(participant: Participant, reason: string | null): void;
  /** A refusal of the gateway, in words. */
  onRefused(code: string, message: string): void;
}

export interface RoomOptions {
  /** `wss://…/rtc/rooms/{id}` */
  url: string;
  token: string;
  /** Of an earlier visit of this tab, so that a reload is the same participant. */
  resumeToken?: string;
  engines: EngineLoaders;
  listener: RoomListener;
  /** Asks for another token when this one is no longer good; null where there is none to be had. */
  renew?(): Promise<string | null>;
  /** Told of each new pair. */
  onTokens?(tokens: { token: string; resumeToken: string }): void;
}

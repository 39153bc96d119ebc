import type { EngineLoaders, TrackSource } from './media-engine.ts';
import type { ChatLine, MediaKind, Participant, Waiting, Welcome } from './protocol.ts';

/** Reason for leaving a room. */
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
  /** Connection is lost and retried; the seat is reserved for a while. */
  | { name: 'reconnecting'; attempt: number }
  /** `words` is the message of the gateway, for outcomes with several reasons. */
  | { name: 'over'; outcome: Outcome; words: string };

/** State of a room as shown by a page. Only the client changes it, and notifies the page. */
export interface RoomState {
  phase: Phase;
  welcome: Welcome | null;
  /** All participants including oneself, by identity, in the order of joining. */
  participants: Map<string, Participant>;
  waitingRoom: Waiting[];
  /** By a host: the participant cannot lift it. */
  mutedByHost: Set<MediaKind>;
  recording: boolean;
  /** True when the room is bridged to a stream. */
  broadcast: boolean;
  /** False while the engine cannot transmit audio and video. */
  hasMedia: boolean;
}

/**
 * Listener of a page. `onChange` reports a new state; the other callbacks report events that the state does
 * not contain.
 */
export interface RoomListener {
  onChange(state: RoomState): void;
  onTrack(identity: string, source: TrackSource, track: MediaStreamTrack): void;
  onTrackGone(identity: string, source: TrackSource): void;
  onChat(line: ChatLine): void;
  /** A host has muted or unmuted this participant. */
  onMuted(kind: MediaKind, muted: boolean): void;
  /** A participant joined, or left (`reason` of the gateway). */
  onPresence(participant: Participant, reason: string | null): void;
  /** The gateway rejected a request, with a message. */
  onRefused(code: string, message: string): void;
}

export interface RoomOptions {
  /** `wss://…/rtc/rooms/{id}` */
  url: string;
  token: string;
  /** Token of an earlier connection of this tab, so that a reload is the same participant. */
  resumeToken?: string;
  engines: EngineLoaders;
  listener: RoomListener;
  /** Requests another token when this one has expired; null if there is none. */
  renew?(): Promise<string | null>;
  /** Called with each new pair of tokens. */
  onTokens?(tokens: { token: string; resumeToken: string }): void;
}

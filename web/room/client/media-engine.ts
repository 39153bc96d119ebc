import type { EngineName, Signal } from './protocol.ts';

/** Where a track comes from. A screen may bring a picture and its sound: tracks of both kinds with one source. */
export type TrackSource = 'CAMERA' | 'MICROPHONE' | 'SCREEN';

export interface LocalTrack {
  source: TrackSource;
  track: MediaStreamTrack;
}

/** What the room gives to an engine, and what it wants to be told. */
export interface EngineHost {
  /** The participant's own identity. */
  self: string;
  iceServers: RTCIceServer[];
  /** Sends to the engine behind the gateway. Dropped while there is no connection: `restart` follows then. */
  send(data: Signal): void;
  /** A track of somebody else, to be shown or heard. A second one of a source and kind replaces the first. */
  onTrack(identity: string, source: TrackSource, track: MediaStreamTrack): void;
  /** Every track of this source is gone. */
  onTrackGone(identity: string, source: TrackSource): void;
  /** `down`: nothing arrives or leaves for now, and the engine tries again by itself. */
  onState(state: 'up' | 'down'): void;
}

/**
 * The browser's half of an engine. It is made when the gateway says welcome, lives through reconnections of the same
 * participant, and ends with `close`. None of the calls asks for a device.
 */
export interface MediaEngine {
  /** Puts tracks up. One of a source and kind that is up already is replaced. */
  publish(tracks: LocalTrack[]): Promise<void>;
  /** Takes every track of the source down. The tracks themselves are their owner's to stop. */
  unpublish(source: TrackSource): Promise<void>;
  /** Sends silence or black in place of the source, or the source again. */
  setMuted(source: TrackSource, muted: boolean): Promise<void>;
  /** What came from the engine behind the gateway. */
  signal(data: Signal): void;
  /** Who else is in the room now; called after every change. Engines with a server may ignore it. */
  setPeers(identities: readonly string[]): void;
  /** The connection to the gateway, or the engine behind it, is back: bring the media back if they are gone. */
  restart(): void;
  close(): void;
}

export type CreateEngine = (host: EngineHost) => MediaEngine;

/** How to load each engine, so that a page fetches only the one that its room has. */
export type EngineLoaders = Partial<Record<EngineName, () => Promise<CreateEngine>>>;

import type { EngineName, Signal } from './protocol.ts';

/** Source of a track. A screen may have video and audio: tracks of both kinds with one source. */
export type TrackSource = 'CAMERA' | 'MICROPHONE' | 'SCREEN';

export interface LocalTrack {
  source: TrackSource;
  track: MediaStreamTrack;
}

/** Callbacks and settings that the room passes to an engine. */
export interface EngineHost {
  /** Identity of this participant. */
  self: string;
  iceServers: RTCIceServer[];
  /** Sends to the engine behind the gateway. Dropped while there is no connection: `restart` follows then. */
  send(data: Signal): void;
  /**
   * A track of another participant to show or play. A second one of the same source and kind replaces the
   * first.
   */
  onTrack(identity: string, source: TrackSource, track: MediaStreamTrack): void;
  /** Every track of this source is gone. */
  onTrackGone(identity: string, source: TrackSource): void;
  /** `down`: nothing arrives or leaves for now, and the engine tries again by itself. */
  onState(state: 'up' | 'down'): void;
}

/**
 * Browser side of an engine. Created at the gateway's welcome message, it lives through reconnections of the
 * same participant and ends with `close`. None of the calls requests a device.
 */
export interface MediaEngine {
  /** Puts tracks up. One of a source and kind that is up already is replaced. */
  publish(tracks: LocalTrack[]): Promise<void>;
  /** Takes every track of the source down. The tracks themselves are their owner's to stop. */
  unpublish(source: TrackSource): Promise<void>;
  /** Replaces the source by silence or black, or restores it. */
  setMuted(source: TrackSource, muted: boolean): Promise<void>;
  /** Handles a message from the engine behind the gateway. */
  signal(data: Signal): void;
  /**
   * Sets the other participants of the room; called after every change. Engines with a server may ignore it.
   */
  setPeers(identities: readonly string[]): void;
  /** The connection to the gateway, or the engine behind it, is back: bring the media back if they are gone. */
  restart(): void;
  close(): void;
}

export type CreateEngine = (host: EngineHost) => MediaEngine;

/** Loader for each engine, so that a page fetches only the one of its room. */
export type EngineLoaders = Partial<Record<EngineName, () => Promise<CreateEngine>>>;

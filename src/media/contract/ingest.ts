import type { Writable } from 'node:stream';
import type { LiveIssue, RejectionIssue } from './live.ts';

/** `bridge` is a source that the platform fetches itself. */
export type IngestProtocol = 'rtmp' | 'rtmps' | 'srt' | 'whip' | 'bridge';

export interface PublishRequest {
  /** The stream key as the encoder sent it. Never log it. */
  key: string;
  app: string;
  ip: string;
  protocol: IngestProtocol;
}

/** What an accepted publisher may send; the plan's ceiling (docs/concepts/plans.md). */
export interface PublishGrant {
  streamId: string;
  /** Lines of the shorter side: 720, 1080, 1440 or 2160. */
  maxHeight: number;
  maxFps: number;
  /** What the encoder may send for long; no ceiling when absent. */
  maxBitrateKbps?: number;
  /** How far behind players stay (docs/decisions/live-packaging.md#parts); STANDARD when absent. */
  latencyMode?: LatencyMode;
  /** Of the stream key that it was given for, which may be another when the publish begins; absent for a bridge. */
  keyHash?: string;
}

export type LatencyMode = 'STANDARD' | 'LOW';

export interface VideoInfo {
  /** RFC 6381 codec string, such as `avc1.640028`. */
  codec: string;
  width: number;
  height: number;
  /** 0 while it is not known. */
  fps: number;
  /** Sent as enhanced RTMP, which not every ffmpeg reads. */
  isEnhanced?: true;
  /** What is called a keyframe is not one that a player can begin with (intra refresh). */
  lacksKeyframes?: true;
  /** It lacks keyframes because its groups of pictures are open: they begin with pictures that are not IDR. */
  hasOpenGop?: true;
  /** Frames may be two fields of different times. */
  isInterlaced?: true;
  /** What the header of H.264 says of colors, in numbers of ITU-T H.273; absent where it says nothing. */
  color?: { primaries: number; transfer: number; matrix: number };
}

export interface AudioInfo {
  /** RFC 6381 codec string, such as `mp4a.40.2`; other formats by their short name, such as `mp3`. */
  codec: string;
  sampleRate: number;
  channels: number;
  /** Sent as enhanced RTMP, which not every ffmpeg reads. */
  isEnhanced?: true;
}

export interface IngestSession {
  sessionId: string;
  streamId: string;
  nodeId: string;
  protocol: IngestProtocol;
  startedAt: Date;
  grant: PublishGrant;
  /** Known when the first sequence header has come; an encoder may send audio only. */
  video?: VideoInfo;
  audio?: AudioInfo;
}

/**
 * `unpublish` is a clean end by the encoder (FCUnpublish, deleteStream); `closed` a broken connection.
 * `replaced` is told before the start of the session that takes over, whose start may still fail.
 */
export type IngestEndReason =
  | 'unpublish'
  | 'closed'
  | 'idle'
  | 'replaced'
  | 'kicked'
  | 'node-lost'
  | 'shutdown';

/** A publish out of this process. */
export interface Publication {
  readonly sessionId: string;
  media(message: MediaMessage): void;
  end(reason: IngestEndReason): Promise<void>;
}

/** A message of RTMP (Adobe RTMP 1.0, section 7.1). */
export interface MediaMessage {
  /** 8 is sound, 9 is picture, 18 is properties of both. */
  type: number;
  streamId: number;
  /** Milliseconds, modulo 2^32. */
  timestamp: number;
  payload: Buffer;
}

export interface IngestEnd {
  sessionId: string;
  streamId: string;
  reason: IngestEndReason;
  bytes: number;
}

export interface IngestStats {
  sessionId: string;
  bytes: number;
  /** Over the last whole seconds. */
  bitrateKbps: number;
  fps: number;
  /** Largest distance between two keyframes seen lately, in milliseconds; null before the second one. */
  keyframeIntervalMs: number | null;
  /** Milliseconds since the Unix epoch of the last media message. */
  lastMediaAtMs: number;
  /** Frames missing by their timestamps, and frames that came more than a second late, since the publish began. */
  droppedFrames: number;
  lateFrames: number;
  /** How far the sound is ahead of the picture, in milliseconds; null without both. */
  avDriftMs: number | null;
  /** Media received so far, by the encoder's timestamps, in milliseconds. */
  mediaMs: number;
  /** What the times of its frames tell. */
  issues: LiveIssue[];
}

/** Filled by the composition root; the media plane knows no feature. */
export interface IngestHooks {
  /** Answers within 2 s; null refuses the publish (`NetStream.Publish.BadName`). */
  authorise(request: PublishRequest): Promise<PublishGrant | null>;
  /**
   * At least once per `sessionId`, so it must be idempotent. Awaited before the publisher is told to start:
   * a rejection refuses the publish.
   */
  onStart(session: IngestSession): Promise<void>;
  /** The first sequence headers have come, or new ones have replaced them. */
  onMedia(session: IngestSession): void;
  /** The publish is about to be ended by us, for what it sends. */
  onRefused(session: IngestSession, issue: RejectionIssue): Promise<void>;
  onEnd(end: IngestEnd): Promise<void>;
}

/**
 * One narrow interface for every ingest engine: ours, MediaMTX, nginx-rtmp
 * (docs/decisions/ingest.md#a-narrow-interface).
 */
export interface IngestEngine {
  start(hooks: IngestHooks): Promise<void>;
  /** Ends every publish (`shutdown`) and closes the listeners. */
  stop(): Promise<void>;
  /**
   * Writes the publish to `reader` as FLV, from its last keyframe on, and ends it with the publish; at once where there
   * is no such publish. A reader that is slow loses frames. Mostly it is the standard input of an ffmpeg, which so
   * needs no network.
   *
   * @param gatherMs frames between keyframes are handed over together, at most so much late: 50 unless told.
   */
  feed(session: IngestSession, reader: Writable, gatherMs?: number): void;
  /**
   * Begins a publish whose media come from this process. It lives as that of an encoder does, but for one thing: a
   * bridge replaces nobody.
   *
   * @param onEnded when it is ended by somebody else than its publisher.
   * @returns null when a bridge finds that somebody publishes already, or the start hook refuses.
   */
  publish(
    grant: PublishGrant,
    protocol: IngestProtocol,
    onEnded: (reason: IngestEndReason) => void,
  ): Promise<Publication | null>;
  kick(sessionId: string, reason: IngestEndReason): Promise<void>;
  /** Ends a publish for what it sends: calls `onRefused` and then ends it as `kicked`. */
  refuse(sessionId: string, issue: RejectionIssue): void;
  /** Sessions that are publishing now; for reconciliation after a restart. */
  list(): IngestSession[];
  stats(sessionId: string): IngestStats | null;
}

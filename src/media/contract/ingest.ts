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

/** Limits for an accepted publisher, from its plan (docs/concepts/plans.md). */
export interface PublishGrant {
  streamId: string;
  /** Lines of the shorter side: 720, 1080, 1440 or 2160. */
  maxHeight: number;
  maxFps: number;
  /** Maximum sustained bitrate of the encoder; unlimited when absent. */
  maxBitrateKbps?: number;
  /** Target latency of players (docs/decisions/live-packaging.md#parts); STANDARD when absent. */
  latencyMode?: LatencyMode;
  /**
   * Hash of the stream key at the time of the grant; the key may have changed when the publish begins. Absent
   * for a bridge.
   */
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
  /** Frames marked as keyframes are not random access points (intra refresh). */
  lacksKeyframes?: true;
  /** It lacks keyframes because its GOPs are open: they do not begin with an IDR frame. */
  hasOpenGop?: true;
  /** Frames may be two fields of different times. */
  isInterlaced?: true;
  /** Color description of the H.264 header, in numbers of ITU-T H.273; absent when the header has none. */
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
 * `replaced` is reported before the start of the session that takes over, whose start may still fail.
 */
export type IngestEndReason =
  | 'unpublish'
  | 'closed'
  | 'idle'
  | 'replaced'
  | 'kicked'
  | 'node-lost'
  | 'shutdown';

/** Publish whose media come from this process. */
export interface Publication {
  readonly sessionId: string;
  media(message: MediaMessage): void;
  end(reason: IngestEndReason): Promise<void>;
}

/** A message of RTMP (Adobe RTMP 1.0, section 7.1). */
export interface MediaMessage {
  /** 8 is audio, 9 is video, 18 is metadata. */
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
  /** Largest recent distance between two keyframes, in milliseconds; null before the second one. */
  keyframeIntervalMs: number | null;
  /** Milliseconds since the Unix epoch of the last media message. */
  lastMediaAtMs: number;
  /** Frames missing by their timestamps, and frames that came more than a second late, since the publish began. */
  droppedFrames: number;
  lateFrames: number;
  /** Lead of the audio over the video in milliseconds; null unless both are present. */
  avDriftMs: number | null;
  /** Duration of the media received, by the encoder's timestamps, in milliseconds. */
  mediaMs: number;
  /** Issues found in the timestamps of its frames. */
  issues: LiveIssue[];
}

/** Hooks filled by the composition root; the media plane knows no feature. */
export interface IngestHooks {
  /**
   * Responds within 5 s; null rejects the publish (`NetStream.Publish.BadName`). A failure is retried until
   * then, and rejects the publish with `NetStream.Publish.Failed`.
   */
  authorise(request: PublishRequest): Promise<PublishGrant | null>;
  /**
   * Called at least once per `sessionId`, so it must be idempotent. Awaited before the publisher gets the
   * start response: a rejection rejects the publish.
   */
  onStart(session: IngestSession): Promise<void>;
  /** Called when the first sequence headers have arrived, or new ones have replaced them. */
  onMedia(session: IngestSession): void;
  /** Called before the server ends a publish because of its media. */
  onRefused(session: IngestSession, issue: RejectionIssue): Promise<void>;
  onEnd(end: IngestEnd): Promise<void>;
}

/**
 * Interface for every ingest engine: ours, MediaMTX, nginx-rtmp
 * (docs/decisions/ingest.md#a-narrow-interface).
 */
export interface IngestEngine {
  start(hooks: IngestHooks): Promise<void>;
  /** Ends every publish (`shutdown`) and closes the listeners. */
  stop(): Promise<void>;
  /**
   * Writes the publish to `reader` as FLV, starting at its last keyframe, and ends `reader` with the publish,
   * or immediately when there is no such publish. A slow reader loses frames. Usually the reader is the
   * standard input of an ffmpeg, which therefore needs no network.
   *
   * @param gatherMs frames between keyframes are batched for at most this time; 50 by default.
   */
  feed(session: IngestSession, reader: Writable, gatherMs?: number): void;
  /**
   * Starts a publish whose media come from this process. It behaves like that of an encoder, except that a
   * bridge never replaces another publisher.
   *
   * @param onEnded called when anything but its publisher ends it.
   * @returns null when a bridge finds another publisher, or the start hook rejects the publish.
   */
  publish(
    grant: PublishGrant,
    protocol: IngestProtocol,
    onEnded: (reason: IngestEndReason) => void,
  ): Promise<Publication | null>;
  kick(sessionId: string, reason: IngestEndReason): Promise<void>;
  /** Ends a publish because of its media: calls `onRefused` and then ends it as `kicked`. */
  refuse(sessionId: string, issue: RejectionIssue): void;
  /** Lists the current publish sessions, for reconciliation after a restart. */
  list(): IngestSession[];
  stats(sessionId: string): IngestStats | null;
}

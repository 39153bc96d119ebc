/**
 * All that the product's features may see of the media plane, and the ports that the media plane asks.
 *
 * Terminology: a *publish* is one encoder connection; the engine gives it a `sessionId`. An *epoch* is one
 * packager run: a new directory, a new init segment, a discontinuity in the public playlist.
 */

export type IngestProtocol = 'rtmp' | 'rtmps' | 'srt' | 'whip';

export interface PublishRequest {
  /** The stream key as the encoder sent it. Never log it. */
  key: string;
  app: string;
  ip: string;
  protocol: IngestProtocol;
}

/** What an accepted publisher may send; the plan's ceiling (contract 8.3). */
export interface PublishGrant {
  streamId: string;
  /** Lines of the shorter side: 720, 1080, 1440 or 2160. */
  maxHeight: number;
  maxFps: number;
  /** LOW cuts 1 s segments instead of 2 s (`media.md` 2.3); STANDARD when absent. */
  latencyMode?: LatencyMode;
}

export type LatencyMode = 'STANDARD' | 'LOW';

export interface VideoInfo {
  /** RFC 6381 codec string, such as `avc1.640028`. */
  codec: string;
  width: number;
  height: number;
  /** 0 while it is not known. */
  fps: number;
}

export interface AudioInfo {
  /** RFC 6381 codec string, such as `mp4a.40.2`; other formats by their short name, such as `mp3`. */
  codec: string;
  sampleRate: number;
  channels: number;
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
  onEnd(end: IngestEnd): Promise<void>;
}

/** One narrow interface for every ingest engine: ours, MediaMTX, nginx-rtmp (`media.md` 1.5). */
export interface IngestEngine {
  start(hooks: IngestHooks): Promise<void>;
  /** Ends every publish (`shutdown`) and closes the listeners. */
  stop(): Promise<void>;
  /** What ffmpeg opens to read the live media: HTTP-FLV on loopback for the embedded engine. */
  readUrl(session: IngestSession): string;
  kick(sessionId: string, reason: IngestEndReason): Promise<void>;
  /** Sessions that are publishing now; for reconciliation after a restart. */
  list(): IngestSession[];
  stats(sessionId: string): IngestStats | null;
}

/**
 * What is wrong or was changed on the way, for the dashboard and `stream.health.issues`:
 * - `RESOLUTION_CAPPED`, `FRAME_RATE_CAPPED`: above the plan's ceiling, so the top rung is a transcode.
 * - `CODEC_TRANSCODED`: not 8-bit 4:2:0 H.264, so the top rung is a transcode.
 * - `KEYFRAME_INTERVAL`: more than 4 s between keyframes; viewers are further behind.
 * - `NO_TRANSCODE_CAPACITY`, `UNSUPPORTED_CODEC`: the publish was ended, it cannot be shown.
 * - `PACKAGER_FAILED`: the packager was given up; the signal is kept, the preview is off.
 * - `RECORDING_FAILED`: the broadcast is to be recorded and is not; the recorder is tried again and again.
 */
export type LiveIssue =
  | 'RESOLUTION_CAPPED'
  | 'FRAME_RATE_CAPPED'
  | 'CODEC_TRANSCODED'
  | 'KEYFRAME_INTERVAL'
  | 'NO_TRANSCODE_CAPACITY'
  | 'UNSUPPORTED_CODEC'
  | 'PACKAGER_FAILED'
  | 'RECORDING_FAILED';

export interface StreamHealth {
  bitrateKbps: number;
  fps: number;
  /** 0 for an audio-only publish. */
  width: number;
  height: number;
  /** RFC 6381 codec string of the video, or of the audio when there is no video. */
  codec: string;
  issues: LiveIssue[];
}

/** A publish that is to be recorded now. */
export interface WantedRecording {
  /** The publish: `IngestSession.sessionId`. */
  publishId: string;
  /** What its file is a part of. A safe name for a folder. */
  recordingId: string;
}

/** One run of a recorder: one file. */
export interface RecordingPart {
  /** Ids sort by time. */
  id: string;
  recordingId: string;
}

/** What the recorders ask and tell; filled by the composition root. All but `wanted` are idempotent. */
export interface RecordingPort {
  /** The publishes of this node that are to be recorded now; keeps the node's open parts from being given up. */
  wanted(nodeId: string): Promise<WantedRecording[]>;
  /**
   * Makes the part known.
   *
   * @param hasMedia it has got pictures: something was recorded.
   * @returns the key that its file is to be stored under; null when the recording takes no parts any more.
   */
  opened(nodeId: string, part: RecordingPart, hasMedia: boolean): Promise<string | null>;
  /** Nothing more is written. @param stored null when there was nothing to keep. */
  closed(partId: string, stored: BlobInfo | null): Promise<void>;
  /** The parts that this node has not closed. */
  openParts(nodeId: string): Promise<RecordingPart[]>;
}

/** Makes one file of the parts of a recording (`media.md` 2.5). */
export interface RecordingJoiner {
  /**
   * Parts with the same codecs and settings are copied; where they differ, all are made like the first one.
   *
   * @param run.parts local files in their order; at least one.
   * @param run.dir for files on the way; it exists and belongs to this run alone.
   * @returns the path of the joined file, in `dir`, at most `maxSec` long.
   * @throws {MediaFileError} when no part can be read.
   */
  join(run: { parts: string[]; dir: string; maxSec: number; signal: AbortSignal }): Promise<string>;
}

/** Part of a file; `end` is inclusive. */
export interface ByteSpan {
  start: number;
  end: number;
}

export interface BlobInfo {
  key: string;
  sizeBytes: number;
  /** Changes when the content does; without quotes. */
  etag: string;
}

/**
 * Where media files are kept: a disk or an S3-compatible service (`media.md` 4.2). Keys are made of
 * `[A-Za-z0-9._-]` and single slashes, and no part of one begins with a dot; the drivers refuse others.
 * What a writing function has returned from survives a crash; a key is never seen half-written.
 */
export interface BlobStore {
  put(
    key: string,
    content: NodeJS.ReadableStream | Uint8Array | string,
    contentType: string,
  ): Promise<BlobInfo>;
  /** Stores a local file and removes it: on the same disk it is moved, never copied. */
  putFile(key: string, path: string, contentType: string): Promise<BlobInfo>;
  /** null when there is none. The stream holds resources: read or destroy it. */
  open(key: string, span?: ByteSpan): Promise<(BlobInfo & { body: NodeJS.ReadableStream }) | null>;
  /** The whole of a small file; null when there is none. */
  read(key: string): Promise<Buffer | null>;
  head(key: string): Promise<BlobInfo | null>;
  list(prefix: string): AsyncIterable<BlobInfo>;
  /** Missing ones are no error. */
  delete(key: string): Promise<void>;
  /** Everything whose key begins with `prefix`, which ends in a slash; open partial files below it too. */
  deletePrefix(prefix: string): Promise<void>;
  /** Where the file is on this machine's disk, for programs that read files; null on S3. */
  localPath(key: string): string | null;
  /** Makes the file readable under a local path in `dir` (the stored one itself on a disk). */
  toLocalFile(key: string, dir: string, signal?: AbortSignal): Promise<string>;
  /** An address of the store that a client may GET for `ttlSec`; null when it must come through us. */
  signedUrl(key: string, ttlSec: number): Promise<string | null>;
  /** Files that arrive in pieces, over days and crashes. */
  readonly partials: PartialFiles;
}

/**
 * A file that is being received. `state` belongs to the driver: the caller stores what the functions return and
 * hands it in again. `sizeBytes` is what is durable; after any crash it is exact.
 */
export interface PartialFiles {
  create(key: string, contentType: string): Promise<PartialState>;
  /** What is there, asked of the storage itself. */
  inspect(key: string, state: PartialState): Promise<PartialState>;
  /**
   * Appends `content` at `offset`, which must be the size, without holding it in memory. When the source breaks
   * off, what came is kept and the function returns; `onDurable` reports progress on the way. With a `digest` it
   * is all or nothing, and nothing ends in a `DigestMismatch`. The source may use the memory of a chunk again once
   * the next one is asked for.
   */
  append(
    key: string,
    state: PartialState,
    offset: number,
    content: AsyncIterable<Uint8Array | string>,
    options?: { onDurable?: (state: PartialState) => void; digest?: ContentDigest },
  ): Promise<PartialState>;
  /** Makes the file whole under its key; idempotent. */
  complete(key: string, state: PartialState): Promise<BlobInfo>;
  abort(key: string, state: PartialState): Promise<void>;
}

/** What the bytes of one `append` must hash to. */
export interface ContentDigest {
  algorithm: 'md5' | 'sha1' | 'sha256';
  value: Buffer;
}

/** The content of an `append` was other than its digest promised, or broke off; none of it was kept. */
export class DigestMismatch extends Error {}

export interface PartialState {
  sizeBytes: number;
  /** The driver's own: a multipart id, part numbers. JSON. */
  driver: Record<string, unknown>;
}

/** Why a file cannot become a video; all but the last are the file's own fault and final (`api.md` C3.1). */
export type VideoErrorCode =
  | 'UNSUPPORTED_FORMAT'
  | 'DURATION_EXCEEDED'
  | 'SIZE_EXCEEDED'
  | 'CORRUPT_INPUT'
  | 'NO_VIDEO_TRACK'
  | 'SOURCE_UNREACHABLE'
  | 'UPLOAD_EXPIRED'
  | 'CHECKSUM_MISMATCH'
  | 'INTERNAL';

/** What the probe found; sizes and rates are as shown, with the rotation applied. */
export interface SourceInfo {
  durationSec: number;
  sizeBytes: number;
  /** Bits per second of the whole file. */
  bitrate: number;
  /** What counts as 0, in seconds after the file's own start: its first frame, unless sound begins well before. */
  zeroSec: number;
  video: {
    streamIndex: number;
    codec: string;
    /** RFC 6381; null when it was not worked out. */
    codecs: string | null;
    profile: string | null;
    pixelFormat: string;
    width: number;
    height: number;
    /** Clockwise degrees that the player must turn it by: 0, 90, 180 or 270. */
    rotation: number;
    frameRate: number;
    isVariableFrameRate: boolean;
    isHdr: boolean;
    isInterlaced: boolean;
    bitrate: number | null;
  };
  audio: {
    streamIndex: number;
    codec: string;
    profile: string | null;
    channels: number;
    sampleRate: number;
    bitrate: number | null;
    /** AAC-LC, mono or stereo, that begins with the pictures. */
    canCopy: boolean;
  } | null;
  /** Why the top rung cannot be copied, or null when it can (`media.md` 4.4). */
  copyRefusal: string | null;
  /** It can be cut at its keyframes and joined again, frame for frame. */
  canSplit: boolean;
}

/** One video rung to make. */
export interface RungPlan {
  /** `1080p`: the lines of the shorter side. */
  name: string;
  width: number;
  height: number;
  frameRate: number;
  /** Target, bits per second. */
  bitrate: number;
  /** Taken from the source as it is. */
  isCopy: boolean;
}

/** What is made of one source: highest rung first. */
export interface LadderPlan {
  rungs: RungPlan[];
  audio: { isCopy: boolean; channels: number; bitrate: number } | null;
}

/** A rung, or the shared audio (`audio`), whose files are complete in `<outDir>/<name>/`. */
export interface RenditionFiles {
  name: string;
  kind: 'VIDEO' | 'AUDIO';
  width: number | null;
  height: number | null;
  frameRate: number | null;
  codecs: string;
  averageBitrate: number;
  peakBitrate: number;
  sizeBytes: number;
  /** `init.mp4`, `index.m3u8` and the segments. */
  files: string[];
}

export interface TranscodeRun {
  /** Absolute path of the original. */
  input: string;
  source: SourceInfo;
  /** Exists, is empty, and belongs to this run alone. */
  outDir: string;
  signal: AbortSignal;
  /** 0 to 1 of this run. */
  onProgress?: (fraction: number) => void;
}

/** A piece of a long source, cut at a keyframe (`media.md` 4.5). */
export interface SourceChunk {
  index: number;
  file: string;
  startSec: number;
  durationSec: number;
}

/**
 * ffmpeg on users' files, under the guard of `media.md` 5. Every function rejects with a `MediaFileError` when
 * the file itself is at fault, and with the signal's reason when it was aborted; it never leaves a program running.
 */
export interface Transcoder {
  probe(input: string, signal: AbortSignal): Promise<SourceInfo>;
  /** Pure. Never upscales. @param maxHeight of the plan: lines of the shorter side. */
  plan(source: SourceInfo, maxHeight: number): LadderPlan;
  /** The copied top rung and the audio: fractions of a second of work. */
  copyTop(run: TranscodeRun & { rung: RungPlan; audio: LadderPlan['audio'] }): Promise<RenditionFiles[]>;
  /** All given rungs, and the audio when given, in one process. `alignToSource` when a copied rung exists. */
  encode(
    run: TranscodeRun & { rungs: RungPlan[]; audio: LadderPlan['audio']; alignToSource: boolean },
  ): Promise<RenditionFiles[]>;
  /** null when the source cannot be cut exactly: encode the whole. */
  split(run: TranscodeRun & { chunkSec: number }): Promise<SourceChunk[] | null>;
  /**
   * Encodes one chunk (`input`) of a source into `<outDir>/<rung>.mkv`; video only. `source` is that of the whole
   * file. Keyframes are the source's: rungs that are made of the whole file need `alignToSource`.
   */
  encodeChunk(run: TranscodeRun & { chunk: SourceChunk; rungs: RungPlan[] }): Promise<void>;
  /** Joins the rung's encoded chunks, frame for frame. */
  stitch(
    run: Omit<TranscodeRun, 'input'> & { rung: RungPlan; chunks: SourceChunk[] },
  ): Promise<RenditionFiles>;
  /**
   * `poster.jpg` at `posterAtSec`, or at a good place when null; with `storyboard` also `storyboard.vtt` with its
   * `sb_001.jpg`…, and `preview.webp`, an animation of a few seconds, where this ffmpeg can write one.
   */
  images(run: TranscodeRun & { posterAtSec: number | null; storyboard: boolean }): Promise<string[]>;
}

/** The file is at fault: trying again cannot help. The message may be shown to its owner. */
export class MediaFileError extends Error {
  readonly code: VideoErrorCode;

  constructor(code: VideoErrorCode, message: string) {
    super(message);
    this.name = 'MediaFileError';
    this.code = code;
  }
}
